/* SPDX-License-Identifier: GPL-2.0-only */
/* session_follow: sends the changes of a session as they happen; answered at its end. */
#include "cmd.h"
#include "sessiond/peers/follow.h"

int cmd_session_follow(struct command *cmd, struct req_session_follow *req,
		       struct rep_session_follow *rep)
{
	(void)req, (void)rep;
	if (follows(cmd->sd, cmd->client))
		return command_error(cmd, ERR_BUSY,
				     "this connection follows a session already; use another one");
	follow_begin(cmd);
	return CMD_WAIT;
}
