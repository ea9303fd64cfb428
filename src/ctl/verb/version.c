/* SPDX-License-Identifier: GPL-2.0-only */
/* version.c - lttctl version: display the version of this program, and of the daemon if one
 * runs. */
#include <inttypes.h>

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

static void version_text(FILE *out, struct json_object *record)
{
	struct json_object *daemon = json_get(record, "daemon");

	fprintf(out, "lttctl version %s\n", json_str(record, "version"));
	if (daemon)
		fprintf(out, "ltt-sessiond version %s (pid %" PRIu64 ", %s)\n",
			json_str(daemon, "version"), json_num(daemon, "pid"),
			json_str(daemon, "rundir"));
	else if (!json_get(record, "unreached"))
		fputs("no session daemon runs\n", out);
}

const struct verb verb_version = {
	.name = "version",
	.operands = "",
	.help = "Print the versions of lttctl and of the session daemon",
	.daemon = DAEMON_WELCOME,
	.run = version_run,
	.text = version_text,
};
