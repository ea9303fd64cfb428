/* SPDX-License-Identifier: GPL-2.0-only */
/* destroy.c - lttctl destroy [SESSION]...: end a session; its trace stays. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "ctl/home.h"
#include "ctl/connect.h"
#include "ctl/record/loss.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/print/text.h"
#include "ctl/session/target.h"
#include "ctl/record/totals.h"
#include "ctl/trace/viewing.h"

static int no_wait;

static const struct poptOption options[] = {
	OPTION_FLAG("no-wait", 'n', &no_wait, "don't wait until all data is written"),
	OPTIONS_TARGET,
	POPT_TABLEEND,
};

/* State of the session before it ends; an empty record if it cannot be read. */
static struct json_object *find_session_of(struct ctl *ctl, const char *session)
{
	struct json_object *found = NULL;
	struct err ignored = { 0 };

	if (target_find_session(ctl, session, &found, &ignored) != 0 || !found)
		return json_object_new_object();
	return found;
}

/* Losses of a session that was stopped, `stop` has reported, but for later ones; an unknown
 * number of lost events is reported again. */
static enum status destroy_report_losses(struct ctl *ctl, const char *session,
					 struct json_object *before, struct json_object *totals,
					 const char *problem)
{
	if (strcmp(json_str(before, "state"), "stopped") == 0 &&
	    json_num(json_get(before, "totals"), "lost") == json_num(totals, "lost") &&
	    json_num(totals, "lost_buffers") == 0 && json_num(totals, "unrecorded") == 0)
		return loss_conclude(ctl, session, NULL, problem);
	return loss_conclude(ctl, session, totals, problem);
}

/* Where its trace is; empty where there is none, as it was never started. */
static const char *destroy_trace_of(struct json_object *before)
{
	return strcmp(json_str(before, "state"), "new") == 0 ? "" : json_str(before, "output");
}

/* Remembered in the end, once for all of them. */
static struct {
	char *session, *output;
	bool current; /* the current session is among them */
} ended;

static void note_end(const char *session, const char *output)
{
	char *current AUTO_FREE = home_get(HOME_SESSION);

	ended.current |= current && strcmp(current, session) == 0;
	free(ended.session);
	free(ended.output);
	ended.session = xstrdup(session);
	ended.output = xstrdup(output);
}

static void remember_end(struct ctl *ctl)
{
	struct err err = { 0 };

	if (!ended.current)
		viewing_remember(ctl, ended.session, ended.output);
	else if (viewing_remember_current(ended.session, ended.output, NULL, &err) != 0)
		print_warning(ctl, "the current session is still remembered: %s", err.text);
}

static enum status destroy_session(struct ctl *ctl, const char *session)
{
	struct ltt_ctl_totals *counts;
	struct json_object *o, *totals;
	struct json_object *before AUTO_RECORD = find_session_of(ctl, session);
	const char *output = destroy_trace_of(before), *spool = json_str(before, "spool");
	const char *problem;
	int code;

	if (!no_wait)
		print_doing("Waiting until the data of session '%s' is written", session);
	code = ltt_ctl_destroy(ctl->library, session, no_wait ? LTT_CTL_NO_WAIT : 0, &counts);

	if (ctl_done(ctl, code, &ctl->err) != 0) {
		target_suggest(ctl, session, NULL, NULL);
		return STATUS_ERROR;
	}
	o = target_record(ctl, session);
	totals = json_totals(counts);
	ltt_ctl_totals_free(counts);
	problem = ltt_ctl_last_outcome(ctl->library)->problem;
	json_set_str(o, "output", output);
	json_set(o, "totals", totals);
	if (*problem)
		json_set_str(o, "problem", problem);
	if (totals)
		totals_add_state_dump(totals, json_num(before, "snapshots") ? NULL : output);
	note_end(session, output);
	/* unless there is something in it that the relay has not got */
	if (*spool && rmdir(spool) < 0 && errno == ENOTEMPTY)
		json_set_str(o, "spool", spool);
	return destroy_report_losses(ctl, session, before, totals, problem);
}

static enum status destroy_run(struct ctl *ctl)
{
	enum status status = target_each(ctl, destroy_session);

	if (ended.session)
		remember_end(ctl);
	free(TAKE(ended.session));
	free(TAKE(ended.output));
	return status;
}

static void destroy_text(FILE *out, struct json_object *record)
{
	for (size_t i = 0; i < json_len(record, "sessions"); i++) {
		struct json_object *o = json_at(record, "sessions", i);

		text_form(out, o, "Session {session} destroyed");
		totals_end(out, json_get(o, "totals"));
		text_form(out, o,
			  "[The relay {output} does not have all of the trace; the rest is in "
			  "{spool?} (lttctl spool send)\n|"
			  "[{?problem}What was written of the trace is|The trace is] "
			  "[{output^/}in|at the relay] {output?}\n]");
	}
}

const struct verb verb_destroy = {
	.name = "destroy",
	.operands = TARGET_OPERANDS,
	.help = "End a session; its trace stays",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.max_operands = TARGET_MOST,
	.check = target_check,
	.run = destroy_run,
	.text = destroy_text,
};
