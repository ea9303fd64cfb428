/* SPDX-License-Identifier: GPL-2.0-only */
/* version.c - lttctl version: display the version of this program, and of the daemon if one
 * runs. */

#include "ctl/connect.h"
#include "ctl/print/json.h"
#include "ctl/ctl.h"

static enum status version_run(struct ctl *ctl)
{
	ctl->record = json_object_new_object();
	json_set_str(ctl->record, "version", LTT_VERSION);
	if (ctl_is_connected(ctl)) {
		const struct ltt_ctl_daemon_info *d = ltt_ctl_daemon(ctl->library);
		struct json_object *daemon = json_object_new_object();

		JSON_COPY(daemon, d, version, pid, rundir, clock_hz, clock_why);
		json_set(ctl->record, "daemon", daemon);
	}
	if (!ctl_is_unreached(ctl))
		return STATUS_OK;
	json_set_str(ctl->record, "unreached", ctl->err.text);
	return STATUS_ERROR;
}

const struct verb verb_version = {
	.name = "version",
	.operands = "",
	.help = "Print the versions of lttctl and of the session daemon",
	.daemon = DAEMON_WELCOME,
	.run = version_run,
	.form = "lttctl version {version}\n"
		"[{?daemon}ltt-sessiond version {daemon.version} (pid {daemon.pid}, "
		"{daemon.rundir})\n|{!unreached}no session daemon runs\n]",
};
