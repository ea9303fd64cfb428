/* SPDX-License-Identifier: GPL-2.0-only */
/* track.c - lttctl track: record events only of these processes, users, groups. */
#include "ctl/session/tracking.h"

static enum status track_run(struct ctl *ctl)
{
	return tracking_run(ctl, true);
}

const struct verb verb_track = {
	.name = "track",
	.operands = "(-u | -k) (--pid | --vpid | --uid | ...)[=ID[,ID]...]... [--all]",
	.help = "Record events of these processes, users or groups",
	.options = tracking_options,
	.daemon = DAEMON_NEEDED,
	.option = tracking_option,
	.check = tracking_check,
	.run = track_run,
	.text = tracking_text,
};
