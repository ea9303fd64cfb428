/* SPDX-License-Identifier: GPL-2.0-only */
/* untrack.c - lttctl untrack: record no events of these processes, users, groups any more. */
#include "ctl/session/tracking.h"

static enum status untrack_run(struct ctl *ctl)
{
	return tracking_run(ctl, false);
}

const struct verb verb_untrack = {
	.name = "untrack",
	.operands = "(-u | -k) (--pid | --vpid | --uid | ...)[=ID[,ID]...]... [--all]",
	.help = "Record no more events of these processes, users or groups",
	.options = tracking_options,
	.daemon = DAEMON_NEEDED,
	.option = tracking_option,
	.check = tracking_check,
	.run = untrack_run,
	.text = tracking_text,
};
