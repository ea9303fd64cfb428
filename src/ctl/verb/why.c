/* SPDX-License-Identifier: GPL-2.0-only */
/* why.c - lttctl why [NAME | BEGIN END] [SESSION | DIR]: the slowest spans of a trace, and the
 * causes of their durations along the critical path. */
#include <string.h>

#include "ctl/print/why_text.h"
#include "latency.h"

static enum status why_check(struct ctl *ctl)
{
	const char *word = operand(ctl, 0);

	if (word && (strcmp(word, "run-queue") == 0 || strcmp(word, "disk") == 0)) {
		err_set(&ctl->err, ERR_INVALID,
			"'%s' is no work of a thread: a cause is found for spans of threads", word);
		return STATUS_ERROR;
	}
	return latency_verb_check(ctl);
}

const struct verb verb_why = {
	.name = "why",
	.operands = "[NAME | BEGIN END] [SESSION | DIR]",
	.help = "Explain the slowest: which threads, calls and devices took the time",
	.options = latency_options,
	.paged = true,
	.daemon = DAEMON_WELCOME,
	.max_operands = 3,
	.check = why_check,
	.run = latency_verb_explain,
	.text = why_text,
};
