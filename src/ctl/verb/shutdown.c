/* SPDX-License-Identifier: GPL-2.0-only */
/* shutdown.c - lttctl shutdown: end the session daemon. */
#include "ctl/connect.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/ctl.h"

static struct {
	int force;
} opt;

static const struct poptOption options[] = {
	OPTION_FLAG("force", 'f', &opt.force, "destroy its sessions, too"),
	POPT_TABLEEND,
};

static enum status shutdown_run(struct ctl *ctl)
{
	struct ltt_ctl *lib = ctl->library;
	uint32_t pid, sessions;
	int code;

	if (ctl_is_unreached(ctl))
		return STATUS_ERROR;
	if (!ctl_is_connected(ctl)) {
		err_set(&ctl->err, ERR_NO_DAEMON, "no session daemon runs");
		return STATUS_WARNING;
	}
	pid = ltt_ctl_daemon(lib)->pid;
	code = ltt_ctl_shutdown(lib, opt.force ? LTT_CTL_FORCE : 0, &sessions);
	if (ctl_done(ctl, code, &ctl->err) != 0)
		return STATUS_ERROR;
	ctl->record = json_object_new_object();
	json_set_num(ctl->record, "pid", pid);
	json_set_num(ctl->record, "nr_sessions", sessions);
	return STATUS_OK;
}

const struct verb verb_shutdown = {
	.name = "shutdown",
	.operands = "",
	.help = "End the session daemon",
	.options = options,
	.daemon = DAEMON_WELCOME,
	.run = shutdown_run,
	.form = "Session daemon (pid {pid}) ended"
		"[, and {nr_sessions?} session{nr_sessions:s} with it]\n",
};
