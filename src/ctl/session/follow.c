/* SPDX-License-Identifier: GPL-2.0-only */
#include "follow.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "ctl/connect.h"
#include "ctl/record/loss.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "target.h"
#include "ctl/print/text.h"

/* News that a new daemon sends again after it has taken over is printed once. */
struct follow {
	struct ctl *ctl;
	const char *session;
	struct json_object *known; /* by subject: its last text */
	bool senseless;		   /* an item was, which has been reported */
};

/* --- one line ---------------------------------------------------------------------- */

static void stamp(char buf[16], uint64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000u);
	struct tm tm;

	strftime(buf, 16, "%H:%M:%S", localtime_r(&seconds, &tm));
}

/* The part after the time and the name of the session. */
static void print_news(struct json_object *news)
{
	char *loss AUTO_FREE = loss_sentence("enable-channel", json_str(news, "cause"),
					     json_num(news, "count"));

	text_form(stdout, news,
		  "[{news=state}{state}|{news=problem}problem: {text}|"
		  "{news=solved}the problem is solved{text}|{news=consumer-died}ltt-consumerd {text}|"
		  "{news=consumer-replaced}another ltt-consumerd has taken over{text}|"
		  "{news=daemon-gone}the session daemon is gone{text}|"
		  "{news=daemon-replaced}another session daemon has taken over{text}|"
		  "{news=loss}channel {channel}: ]");
	puts(strcmp(json_str(news, "news"), "loss") != 0 ? "" : loss ? loss : "events were lost");
}

static void print(struct follow *follow, struct json_object *news)
{
	struct json_object *printable AUTO_RECORD = NULL;
	char time[16];

	follow->ctl->printed = true;
	JSON_COPY(news, follow, session);
	if (follow->ctl->json) {
		text_json_line(stdout, news);
	} else if (!follow->ctl->quiet) {
		printable = text_printable(news);
		stamp(time, json_num(news, "ns"));
		printf("%s %s: ", time, json_str(printable, "session"));
		print_news(printable);
	}
	fflush(stdout);
}

/* --- news ----------------------------------------------------------------------------- */

#define PROBLEM "problem"

/* A problem and its end have one subject, so are states, and each cause of
 * losses in each channel. */
static bool ctl_follow_is_known(struct follow *follow, struct json_object *news)
{
	const char *kind = json_str(news, "news");
	bool loss = strcmp(kind, "loss") == 0, state = strcmp(kind, "state") == 0;
	bool problem = strcmp(kind, "problem") == 0 || strcmp(kind, "solved") == 0;
	const char *text = state ? json_str(news, "state") : json_str(news, "text");
	char *about AUTO_FREE = problem ? xstrdup(PROBLEM) :
					  xasprintf("%s %s %s", kind, json_str(news, "cause"),
						    json_str(news, "channel"));

	if (!loss && !state && !problem)
		return false;
	if (json_object_object_get_ex(follow->known, about, NULL) &&
	    strcmp(json_str(follow->known, about), text) == 0)
		return true;
	json_set_str(follow->known, about, text);
	return false;
}

static void follow_show(struct follow *follow, const struct ltt_ctl_news *item)
{
	struct json_object *news AUTO_RECORD = json_news(item);

	if (news && !ctl_follow_is_known(follow, news))
		print(follow, news);
}

/* News of lttctl itself. */
static struct json_object *own_news(const char *kind)
{
	struct json_object *news = json_object_new_object();
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	json_set_time(news, "ns", ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec);
	json_set_str(news, "news", kind);
	return news;
}

static void print_own(struct follow *follow, const char *kind)
{
	struct json_object *news AUTO_RECORD = own_news(kind);

	print(follow, news);
}

/* --- until it is destroyed ------------------------------------------------------------- */

static enum status ctl_follow_conclude(struct follow *follow, const struct ltt_ctl_news *end)
{
	struct json_object *totals AUTO_RECORD = json_totals(end->totals);
	struct json_object *news AUTO_RECORD = own_news("state");

	json_set_str(news, "state", "destroyed");
	if (totals)
		json_set(news, "totals", json_object_get(totals));
	if (*end->text)
		json_set_str(news, "text", end->text);
	print(follow, news);
	return loss_conclude(follow->ctl, follow->session, totals, end->text);
}

/* Return: 0 or the code in ctl->err. */
static int ctl_follow_reconnect(struct follow *follow)
{
	struct ctl *ctl = follow->ctl;

	print_own(follow, "daemon-gone");
	ctl->err = (struct err){ 0 };
	if (ctl_connect(ctl, DAEMON_NEEDED) != 0)
		return ctl->err.code;
	print_own(follow, "daemon-replaced");
	return 0;
}

/* News without a meaning is skipped, which is reported once: other news follows, unless the end has
 * none. Return: 0 or the code in ctl->err. */
static int follow_await(struct follow *follow, const struct ltt_ctl_news **ret)
{
	struct ltt_ctl *lib = follow->ctl->library;
	struct err bad = { 0 };
	int code = ltt_ctl_await_news(lib, ret);

	while (code == LTT_CTL_BAD_MESSAGE) {
		ctl_done(follow->ctl, code, &bad);
		*ret = NULL;
		code = ltt_ctl_next_news(lib, ret);
		if (code == LTT_CTL_INVALID) /* it follows no longer */
			return err_set(&follow->ctl->err, bad.code, "%s", bad.text);
		if (!follow->senseless)
			print_warning(follow->ctl, "malformed message from the session daemon");
		follow->senseless = true;
		if (code == 0 && !*ret)
			code = ltt_ctl_await_news(lib, ret);
	}
	return ctl_done(follow->ctl, code, &follow->ctl->err);
}

/* Return: 0: @ret is the last news; or the code in ctl->err. */
static int follow_until_end(struct follow *follow, const struct ltt_ctl_news **ret)
{
	struct ctl *ctl = follow->ctl;

	if (ctl_done(ctl, ltt_ctl_follow(ctl->library, follow->session), &ctl->err) != 0)
		return ctl->err.code;
	while (follow_await(follow, ret) == 0) {
		if ((*ret)->kind == LTT_CTL_NEWS_DESTROYED)
			return 0;
		follow_show(follow, *ret);
	}
	return ctl->err.code;
}

static enum status follow_on(struct follow *follow)
{
	const struct ltt_ctl_news *end;
	struct ctl *ctl = follow->ctl;

	do {
		ltt_ctl_on_waiting(ctl->library, NULL,
				   NULL); /* the requested end of the operation */
		if (follow_until_end(follow, &end) == 0)
			return ctl_follow_conclude(follow, end);
	} while (ctl->err.code == ERR_NO_DAEMON && ctl_follow_reconnect(follow) == 0);
	if (ctl->err.code == ERR_NO_SESSION)
		target_suggest(ctl, follow->session, NULL, NULL);
	return STATUS_ERROR;
}

/* Whole lines have been written: nothing is left to be done. */
static void ctl_follow_on_signal(int signo)
{
	(void)signo;
	_exit(STATUS_OK);
}

enum status follow_session(struct ctl *ctl, const char *session)
{
	struct follow follow = { .ctl = ctl, .session = session };
	enum status status;

	follow.known = json_object_new_object();
	json_set_str(follow.known, PROBLEM, ""); /* that there is none is no news */
	signal(SIGINT, ctl_follow_on_signal);
	signal(SIGPIPE, ctl_follow_on_signal);
	status = follow_on(&follow);
	signal(SIGPIPE, SIG_IGN);
	json_object_put(follow.known);
	return status;
}
