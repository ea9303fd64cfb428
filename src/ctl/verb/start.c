/* SPDX-License-Identifier: GPL-2.0-only */
/* start.c - lttctl start [SESSION]...: start recording. */
#include "ctl/connect.h"
#include "ctl/record/loss.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/session/target.h"

static const struct poptOption options[] = {
	OPTIONS_TARGET,
	POPT_TABLEEND,
};

static enum status start_verb_start(struct ctl *ctl, const char *session)
{
	const struct ltt_ctl_outcome *outcome;
	struct json_object *o;
	uint32_t applications;
	int code = ltt_ctl_start(ctl->library, session, &applications);

	if (ctl_done(ctl, code, &ctl->err) != 0)
		return target_failed(ctl, session);
	outcome = ltt_ctl_last_outcome(ctl->library);
	o = json_object_new_object();
	loss_take_outcome(ctl, o);
	json_set_str(o, "session", session);
	json_append(ctl->record, "sessions", o);
	json_set_num(o, "applications", applications);
	JSON_COPY(o, outcome, late);
	if (outcome->late)
		print_note(ctl,
			   "session '%s': %u of %u applications had not answered within a "
			   "second; they record as soon as they do",
			   session, outcome->late, applications);
	if (*outcome->problem)
		print_warning(ctl, "session '%s': %s", session, outcome->problem);
	loss_conflicts(ctl, o);
	return target_worse(*outcome->problem ? STATUS_WARNING : STATUS_OK, loss_refusals(ctl, o));
}

static enum status start_verb_run(struct ctl *ctl)
{
	return target_each(ctl, start_verb_start);
}

const struct verb verb_start = {
	.name = "start",
	.operands = TARGET_OPERANDS,
	.help = "Record from now on",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.max_operands = TARGET_MOST,
	.check = target_check,
	.run = start_verb_run,
	.form = "Tracing started for session {session}"
		"[ ({applications?} application{applications:s})]\n",
};
