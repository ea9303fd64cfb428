/* SPDX-License-Identifier: GPL-2.0-only */
/* flush.c - lttctl flush [SESSION]...: write the events that the buffers have, while recording. */
#include "ctl/connect.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/print.h"
#include "ctl/session/target.h"

static const struct poptOption options[] = {
	OPTIONS_TARGET,
	POPT_TABLEEND,
};

static enum status flush_verb_flush(struct ctl *ctl, const char *session)
{
	struct json_object *o;
	uint64_t spooled;

	if (ctl_done(ctl, ltt_ctl_flush(ctl->library, session, &spooled), &ctl->err) != 0)
		return target_failed(ctl, session);
	o = target_record(ctl, session);
	json_set_num(o, "spooled", spooled);
	if (!spooled)
		return STATUS_OK;
	print_warning(ctl, "%s", ltt_ctl_warning(ctl->library));
	return STATUS_WARNING;
}

static enum status flush_verb_run(struct ctl *ctl)
{
	return target_each(ctl, flush_verb_flush);
}

const struct verb verb_flush = {
	.name = "flush",
	.operands = TARGET_OPERANDS,
	.help = "Write now the events that the buffers have",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.max_operands = TARGET_MOST,
	.check = target_check,
	.run = flush_verb_run,
	.form = "Buffers written for session {session}\n",
};
