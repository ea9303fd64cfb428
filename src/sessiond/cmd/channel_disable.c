/* SPDX-License-Identifier: GPL-2.0-only */
/* channel_disable: disable a channel: no event is recorded into it until it is enabled again. */
#include "cmd.h"

static void channel_disable_in_force(void *data, uint32_t apps, uint32_t late,
				     const struct err *problem)
{
	struct rep_channel_disable rep;

	(void)apps, (void)late, (void)problem;
	reply_channel_disable(data, &rep);
}

int cmd_channel_disable(struct command *cmd, struct req_channel_disable *req,
			struct rep_channel_disable *rep)
{
	struct domain_tracer *tracer;
	struct channel *channel;

	(void)rep;
	if (command_domain(cmd, req->domain) != CMD_DONE)
		return CMD_FAILED;
	channel = command_channel(cmd, req->domain, req->name, false);
	if (!channel)
		return CMD_FAILED;
	if (!channel->enabled)
		return CMD_DONE;
	channel->enabled = false;
	tracer = command_tracer(cmd, req->domain);
	tracer->ops->refresh(tracer, cmd->session, channel_disable_in_force, cmd);
	return CMD_WAIT;
}
