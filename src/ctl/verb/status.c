/* SPDX-License-Identifier: GPL-2.0-only */
/* status.c - lttctl status [SESSION]...: display the state of sessions. */
#include "base/mem.h"
#include "ctl/expiry.h"
#include "ctl/session/follow.h"
#include "ctl/home.h"
#include "ctl/session/leftover.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/print/show.h"
#include "ctl/record/nothing.h"
#include "ctl/session/target.h"

extern const struct verb verb_list;

static int follow;
static bool told_of_expiry; /* once for all sessions */

static const struct poptOption options[] = {
	OPTION_FLAG("follow", 'f', &follow,
		    "report changes as they happen, until the session is destroyed"),
	POPT_TABLEEND,
};

static void warn_of_spool(void *data, const char *spool, const char *sentence)
{
	(void)spool;
	print_warning(data, "%s; 'lttctl spool' lists, sends and removes such data", sentence);
}

static void warn_of_expiry(void *data, const char *sentence)
{
	print_warning(data, "%s", sentence);
}

/* Whether the session's output is a relay that may want keys. */
static bool has_relay(struct json_object *session)
{
	const char *output = json_str(session, "output");

	return *output && *output != '/';
}

static enum status status_check(struct ctl *ctl)
{
	if (!follow || ctl->nr_operands < 2)
		return STATUS_OK;
	err_set(&ctl->err, ERR_INVALID, "--follow: name one session");
	return STATUS_ERROR;
}

static enum status status_of(struct ctl *ctl, const char *session, struct json_object **ret)
{
	if (show_fetch(ctl, session, ret, &ctl->err) != 0) {
		target_suggest(ctl, session, NULL, NULL);
		return STATUS_ERROR;
	}
	if (has_relay(*ret) && !told_of_expiry)
		expiry_check(warn_of_expiry, ctl);
	told_of_expiry |= has_relay(*ret);
	nothing_note(ctl, session, json_get(*ret, "totals"));
	return show_warnings(ctl, *ret);
}

static enum status status_each(struct ctl *ctl, const char *session)
{
	struct json_object *shown = NULL;
	enum status status = status_of(ctl, session, &shown);

	if (shown)
		json_append(ctl->record, "sessions", shown);
	return status;
}

/* Without a session: the current one, else a list of them. */
static enum status status_run(struct ctl *ctl)
{
	char *current AUTO_FREE = home_get(HOME_SESSION);
	char *session AUTO_FREE = NULL;

	leftover_each(ctl, warn_of_spool, ctl);
	if (ctl->nr_operands > 1)
		return target_each(ctl, status_each);
	if (!operand(ctl, 0) && !current && !follow)
		return verb_list.run(ctl);
	session = target_session(ctl, operand(ctl, 0));
	if (!session)
		return STATUS_ERROR;
	return follow ? follow_session(ctl, session) : status_of(ctl, session, &ctl->record);
}

static void status_text(FILE *out, struct json_object *record)
{
	if (json_get(record, "loading"))
		verb_list.text(out, record);
	else if (!json_get(record, "sessions"))
		show_status(out, record);
	else
		for (size_t i = 0; i < json_len(record, "sessions"); i++) {
			fputs(i ? "\n" : "", out);
			show_status(out, json_at(record, "sessions", i));
		}
}

const struct verb verb_status = {
	.name = "status",
	.operands = TARGET_OPERANDS,
	.help = "Show how recording goes: buffers, events, losses",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.max_operands = TARGET_MOST,
	.check = status_check,
	.run = status_run,
	.text = status_text,
};
