/* SPDX-License-Identifier: GPL-2.0-only */
/* watch.c - lttctl watch [TRIGGER]: notifications of triggers, as they fire. */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "ctl/connect.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/print/text.h"
#include "ctl/session/trigger.h"

static char *limit;
static uint64_t most = UINT64_MAX;

static const struct poptOption options[] = {
	OPTION_TEXT("limit", 0, &limit, "end after N firings", "N"),
	POPT_TABLEEND,
};

static enum status watch_check(struct ctl *ctl)
{
	if (limit && (parse_u64(limit, &most) != 0 || !most)) {
		err_set(&ctl->err, ERR_INVALID, "--limit=%s: this is not a number from 1", limit);
		return STATUS_ERROR;
	}
	return STATUS_OK;
}

static void watch_print_time(uint64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000u);
	struct tm tm;
	char buf[16];

	strftime(buf, sizeof(buf), "%H:%M:%S", localtime_r(&seconds, &tm));
	printf("%s.%06u ", buf, (unsigned int)(ns % 1000000000u / 1000));
}

static void watch_print_captures(struct json_object *captures)
{
	json_object_object_foreach(captures, name, value)
		printf(" %s=%s", name, value ? json_object_get_string(value) : "-");
}

static void watch_print_text(struct json_object *notification)
{
	static const char form[] =
		"[{notification=missed}{count:n} notifications were missed, as they were not "
		"read in time|"
		"{notification=failed}{trigger}: {action}[ {session?}|] failed: {text}|"
		"{notification=done}{trigger}: {action}[ {session?}|] done[: {text?}|]|"
		"{trigger}: [{event?}|{condition}][ took {duration_ns:T?}|][ of session "
		"{session?}|][, {process?} ({pid})|]]";
	struct json_object *printable AUTO_RECORD = text_printable(notification);
	uint64_t count = json_num(notification, "count");

	if (json_num(notification, "ns"))
		watch_print_time(json_num(notification, "ns"));
	text_form(stdout, printable, form);
	if (json_get(printable, "captured"))
		watch_print_captures(json_get(printable, "captured"));
	if (count > 1 && json_get(notification, "number"))
		text_form(stdout, printable, " ({count:n} times)");
	putchar('\n');
}

static void watch_print(struct ctl *ctl, const struct ltt_ctl_notification *n)
{
	struct json_object *o AUTO_RECORD = json_notification(n);

	if (!o)
		return;
	ctl->printed = true;
	if (ctl->json)
		text_json_line(stdout, o);
	else
		watch_print_text(o);
	fflush(stdout);
}

/* Whole lines have been written: nothing is left to be done. */
static void watch_on_signal(int signo)
{
	(void)signo;
	_exit(STATUS_OK);
}

/* Return: 0: the limit is reached; or the code in ctl->err. */
static int watch_until_end(struct ctl *ctl)
{
	const struct ltt_ctl_notification *n;

	ltt_ctl_on_waiting(ctl->library, NULL, NULL);
	if (ctl_done(ctl, ltt_ctl_watch(ctl->library, operand(ctl, 0), LTT_CTL_ANY_USER),
		     &ctl->err) != 0)
		return ctl->err.code;
	while (ctl_done(ctl, ltt_ctl_await_notification(ctl->library, &n), &ctl->err) == 0) {
		watch_print(ctl, n);
		if (n->kind == LTT_CTL_FIRED)
			most -= most > n->count ? n->count : most;
		if (!most)
			return 0;
	}
	return ctl->err.code;
}

static enum status watch_run(struct ctl *ctl)
{
	int code;

	signal(SIGINT, watch_on_signal);
	signal(SIGTERM, watch_on_signal);
	signal(SIGPIPE, watch_on_signal);
	while ((code = watch_until_end(ctl)) == ERR_NO_DAEMON) {
		print_warning(ctl, "the session daemon is gone; connecting to its successor");
		ctl->err = (struct err){ 0 };
		if (ctl_connect(ctl, DAEMON_NEEDED) != 0)
			return STATUS_ERROR;
	}
	return code ? STATUS_ERROR : STATUS_OK;
}

const struct verb verb_watch = {
	.name = "watch",
	.operands = "[TRIGGER]",
	.help = "Print notifications of triggers as they fire",
	.options = options,
	.daemon = DAEMON_STARTED,
	.max_operands = 1,
	.prints_itself = true,
	.check = watch_check,
	.run = watch_run,
};
