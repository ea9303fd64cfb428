/* SPDX-License-Identifier: GPL-2.0-only */
/* stop.c - lttctl stop [SESSION]...: stop recording, and wait until all data is written. */
#include "base/mem.h"
#include "ctl/connect.h"
#include "ctl/record/loss.h"
#include "ctl/record/nothing.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/session/target.h"
#include "ctl/record/totals.h"
#include "ctl/trace/viewing.h"

static int no_wait;

static const struct poptOption options[] = {
	OPTION_FLAG("no-wait", 'n', &no_wait, "don't wait until all data is written"),
	OPTIONS_TARGET,
	POPT_TABLEEND,
};

/* The trace is whole there and at the relay, together. */
static void note_spooled(struct ctl *ctl, const char *session, struct json_object *o)
{
	struct json_object *found AUTO_RECORD = NULL;
	uint64_t bytes;

	if (target_find_session(ctl, session, &found, &ctl->unreached) != 0 || !found)
		return;
	bytes = json_num(found, "spooled");
	if (!bytes)
		return;
	json_set_num(o, "spooled", bytes);
	print_note(ctl,
		   "session '%s': %llu bytes of its trace wait in its spool until the relay receives "
		   "them ('lttctl status %s')",
		   session, (unsigned long long)bytes, session);
}

static enum status stop(struct ctl *ctl, const char *session)
{
	struct ltt_ctl_totals *counts;
	struct json_object *o, *totals;
	char *path AUTO_FREE = NULL;
	const char *problem;
	enum status status;
	int code = ltt_ctl_stop(ctl->library, session, no_wait ? LTT_CTL_NO_WAIT : 0, &counts);

	if (ctl_done(ctl, code, &ctl->err) != 0)
		return target_failed(ctl, session);
	o = json_object_new_object();
	loss_take_outcome(ctl, o);
	json_set_str(o, "session", session);
	json_append(ctl->record, "sessions", o);
	totals = json_totals(counts);
	ltt_ctl_totals_free(counts);
	json_set(o, "totals", totals);
	problem = ltt_ctl_last_outcome(ctl->library)->problem;
	if (*problem)
		json_set_str(o, "problem", problem);
	status = loss_conclude(ctl, session, totals, problem); /* before another call */
	loss_conflicts(ctl, o);
	if (!*json_str(o, "problem") && !target_has_several(ctl))
		nothing_note(ctl, session, totals);
	path = viewing_remember_session(ctl, session);
	if (totals)
		totals_add_state_dump(totals, path);
	if (!path || *path != '/')
		note_spooled(ctl, session, o);
	return status;
}

static enum status stop_verb_run(struct ctl *ctl)
{
	return target_each(ctl, stop);
}

static void stop_verb_text(FILE *out, struct json_object *record)
{
	for (size_t i = 0; i < json_len(record, "sessions"); i++) {
		struct json_object *o = json_at(record, "sessions", i);

		fprintf(out, "Tracing stopped for session %s", json_str(o, "session"));
		totals_end(out, json_get(o, "totals"));
	}
}

const struct verb verb_stop = {
	.name = "stop",
	.operands = TARGET_OPERANDS,
	.help = "Record no more",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.max_operands = TARGET_MOST,
	.check = target_check,
	.run = stop_verb_run,
	.text = stop_verb_text,
};
