/* SPDX-License-Identifier: GPL-2.0-only */
/* help.c - lttctl help [VERB]: display the manual page, or the usage if there is none. */
#include "ctl/help.h"

static enum status help_run(struct ctl *ctl)
{
	const struct verb *verb = operand(ctl, 0) ? verb_find(operand(ctl, 0)) : NULL;
	const char *near, *later;

	if (verb || !operand(ctl, 0))
		return help_open(verb);
	later = verb_later(operand(ctl, 0));
	if (later) {
		err_set(&ctl->err, ERR_UNSUPPORTED, "%s: %s", operand(ctl, 0), later);
		return STATUS_UNSUPPORTED;
	}
	later = verb_elsewhere(operand(ctl, 0));
	if (later) {
		err_set(&ctl->err, ERR_UNKNOWN_COMMAND, "there is no verb '%s': %s",
			operand(ctl, 0), later);
		return STATUS_UNDEFINED;
	}
	near = verb_near(operand(ctl, 0));
	err_set(&ctl->err, ERR_UNKNOWN_COMMAND,
		near ? "there is no verb '%s'; did you mean '%s'?" : "there is no verb '%s'",
		operand(ctl, 0), near);
	return STATUS_UNDEFINED;
}

const struct verb verb_help = {
	.name = "help",
	.operands = "[VERB]",
	.help = "Open the manual page of lttctl or of a verb",
	.daemon = DAEMON_UNUSED,
	.max_operands = 1,
	.prints_itself = true,
	.run = help_run,
};
