/* SPDX-License-Identifier: GPL-2.0-only */
/* clear.c - lttctl clear [SESSION]...: remove the recorded events, and go on. */

#include "ctl/connect.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/session/target.h"

static int no_wait;

static const struct poptOption options[] = {
	OPTION_FLAG("no-wait", 'n', &no_wait, "don't wait until it is done"),
	OPTIONS_TARGET,
	POPT_TABLEEND,
};

static enum status clear_session(struct ctl *ctl, const char *session)
{
	unsigned int flags = no_wait ? LTT_CTL_NO_WAIT : 0;
	struct json_object *o;
	uint64_t cleared;

	if (ctl_done(ctl, ltt_ctl_clear(ctl->library, session, flags, &cleared), &ctl->err) != 0)
		return target_failed(ctl, session);
	o = target_record(ctl, session);
	json_set(o, "cleared", no_wait ? NULL : json_object_new_uint64(cleared));
	return STATUS_OK;
}

static enum status clear_run(struct ctl *ctl)
{
	return target_each(ctl, clear_session);
}

const struct verb verb_clear = {
	.name = "clear",
	.operands = TARGET_OPERANDS,
	.help = "Remove what is recorded, and go on",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.max_operands = TARGET_MOST,
	.check = target_check,
	.run = clear_run,
	.form = "[{cleared=}Session {session} is being cleared|"
		"Session {session} cleared: {cleared} event{cleared:s} removed]\n",
};
