/* SPDX-License-Identifier: GPL-2.0-only */
/* statedump: have the state of the system recorded again. It is answered when the applications have
 * done so. */
#include "cmd.h"

#include "base/mem.h"

struct pending {
	struct command *cmd;
	struct domain_dumps dumps;
};

static void dumped(void *data, uint32_t apps, uint32_t late, const struct err *problem)
{
	struct pending *pending = data;
	struct command *cmd = pending->cmd;
	struct session *session = command_session(cmd);
	struct rep_statedump rep = {
		.channels = pending->dumps.channels,
		.applications = pending->dumps.applications,
		.late = late,
	};

	(void)apps, (void)problem;
	free(pending);
	if (rep.channels || rep.applications) {
		reply_statedump(cmd, &rep);
		return;
	}
	command_error(cmd, ERR_NO_EVENT,
		      "session '%s' records no state: no application records into it, and no "
		      "channel of the kernel has such events; enable them with `lttctl "
		      "enable-event -k 'lttng_statedump_*'`",
		      session ? session->name : "");
	command_fail(cmd);
}

int cmd_statedump(struct command *cmd, struct req_statedump *req, struct rep_statedump *rep)
{
	struct pending *pending;

	(void)req, (void)rep;
	if (cmd->session->state != SESSION_RECORDING)
		return command_error(
			cmd, ERR_INVALID,
			"session '%s' is not recording; the state is dumped at each start",
			cmd->session->name);
	pending = xalloc(sizeof(*pending));
	pending->cmd = cmd;
	domains_dump(&cmd->sd->domains, cmd->session, &pending->dumps, dumped, pending);
	return CMD_WAIT;
}
