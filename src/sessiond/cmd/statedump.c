/* SPDX-License-Identifier: GPL-2.0-only */
/* statedump: have the state of the system recorded again. It is answered when the applications have
 * done so. */
#include "cmd.h"

#include "base/mem.h"
#include "sessiond/domain/kernel/kernel.h"
#include "sessiond/domain/user/user.h"

struct pending {
	struct command *cmd;
	uint32_t channels, applications;
};

static void dumped(void *data, uint32_t apps, uint32_t late, const struct err *problem)
{
	struct pending *pending = data;
	struct rep_statedump rep = {
		.channels = pending->channels,
		.applications = pending->applications,
		.late = late,
	};

	(void)apps, (void)problem;
	reply_statedump(pending->cmd, &rep);
	free(pending);
}

int cmd_statedump(struct command *cmd, struct req_statedump *req, struct rep_statedump *rep)
{
	struct pending *pending;

	(void)req;
	if (cmd->session->state != SESSION_RECORDING)
		return command_error(
			cmd, ERR_INVALID,
			"session '%s' is not recording; the state is dumped at each start",
			cmd->session->name);
	rep->channels = kernel_dump(cmd->sd->kernel, cmd->session);
	pending = xalloc(sizeof(*pending));
	*pending = (struct pending){ .cmd = cmd, .channels = rep->channels };
	pending->applications = user_dump(cmd->sd->user, cmd->session, dumped, pending);
	if (pending->applications)
		return CMD_WAIT;
	free(pending);
	if (rep->channels)
		return CMD_DONE;
	return command_error(
		cmd, ERR_NO_EVENT,
		"session '%s' records no state: no application records into it, and no "
		"channel of the kernel has such events; enable them with `lttctl "
		"enable-event -k 'lttng_statedump_*'`",
		cmd->session->name);
}
