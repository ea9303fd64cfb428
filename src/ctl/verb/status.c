/* SPDX-License-Identifier: GPL-2.0-only */
/* status.c - lttctl status [SESSION]: display the state of a session. */
#include "base/mem.h"
#include "ctl/follow.h"
#include "ctl/leftover.h"
#include "ctl/nothing.h"
#include "ctl/options.h"
#include "ctl/print.h"
#include "ctl/record.h"
#include "ctl/show.h"
#include "ctl/target.h"

static int follow;

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

static enum status status_run(struct ctl *ctl)
{
	char *session AUTO_FREE = target_session(ctl, operand(ctl, 0));

	leftover_each(ctl, warn_of_spool, ctl);
	if (!session)
		return STATUS_ERROR;
	if (follow)
		return follow_session(ctl, session);
	if (show_fetch(ctl, session, &ctl->record, &ctl->err) != 0) {
		target_suggest(ctl, session, NULL, NULL);
		return STATUS_ERROR;
	}
	nothing_note(ctl, session, record_get(ctl->record, "totals"));
	return show_warnings(ctl, ctl->record);
}

const struct verb verb_status = {
	.name = "status",
	.operands = "[SESSION]",
	.help = "Show how recording goes: buffers, events, losses",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.max_operands = 1,
	.run = status_run,
	.text = show_status,
};
