/* SPDX-License-Identifier: GPL-2.0-only */
/* stop.c - lttctl stop [SESSION]: record no more, and wait until all is written. */
#include "libctl/calls.h"
#include "ctl/loss.h"
#include "ctl/options.h"
#include "ctl/record.h"
#include "ctl/print.h"
#include "ctl/target.h"
#include "ctl/totals.h"
#include "ctl/viewing.h"

static int no_wait;

static const struct poptOption options[] = {
	OPTION_FLAG("no-wait", 'n', &no_wait, "don't wait until all data is written"),
	OPTIONS_TARGET,
	POPT_TABLEEND,
};

static enum status stop(struct ctl *ctl, const char *session)
{
	struct req_session_stop req = { .session = session, .no_wait = !!no_wait };
	struct rep_session_stop rep;
	struct json_object *o, *totals;
	enum status status;

	o = json_object_new_object();
	if (call_session_stop(ctl->client, &req, loss_take_item, o, &rep, &ctl->err) != 0) {
		json_object_put(o);
		return target_failed(ctl, session);
	}
	record_set_str(o, "session", session);
	record_append(ctl->record, "sessions", o);
	totals = record_totals(rep.totals);
	record_set(o, "totals", totals);
	if (*rep.problem)
		record_set_str(o, "problem", rep.problem);
	status = loss_conclude(ctl, session, totals, rep.problem); /* before another answer */
	loss_conflicts(ctl, o);
	viewing_remember_session(ctl, session);
	return status;
}

static enum status stop_verb_run(struct ctl *ctl)
{
	return target_each(ctl, stop);
}

static void stop_verb_text(FILE *out, struct json_object *record)
{
	for (size_t i = 0; i < record_len(record, "sessions"); i++) {
		struct json_object *o = record_at(record, "sessions", i);

		fprintf(out, "Tracing stopped for session %s", record_str(o, "session"));
		totals_end(out, record_get(o, "totals"));
	}
}

const struct verb verb_stop = {
	.name = "stop",
	.operands = "[SESSION]",
	.help = "Record no more",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.max_operands = 1,
	.check = target_check,
	.run = stop_verb_run,
	.text = stop_verb_text,
};
