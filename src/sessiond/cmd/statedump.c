/* SPDX-License-Identifier: GPL-2.0-only */
/* statedump: have the state of the system recorded again. */
#include "cmd.h"

#include "sessiond/domain/kernel/kernel.h"
#include "sessiond/domain/user/user.h"

enum cmd_result cmd_statedump(struct command *cmd, struct req_statedump *req,
			      struct rep_statedump *rep)
{
	(void)req;
	if (cmd->session->state != SESSION_RECORDING)
		return command_error(
			cmd, ERR_INVALID,
			"session '%s' does not record; the state is told at each start",
			cmd->session->name);
	rep->channels = kernel_dump(cmd->sd->kernel, cmd->session);
	rep->applications = user_dump(cmd->sd->user, cmd->session);
	if (rep->channels || rep->applications)
		return CMD_DONE;
	return command_error(
		cmd, ERR_NO_EVENT,
		"session '%s' records no state: no application records into it, and no "
		"channel of the kernel has such events; enable them with `lttctl "
		"enable-event -k 'lttng_statedump_*'`",
		cmd->session->name);
}
