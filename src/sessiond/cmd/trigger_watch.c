/* SPDX-License-Identifier: GPL-2.0-only */
/* trigger_watch: sends notifications of triggers as they fire; answered when the daemon ends. */
#include "cmd.h"
#include "sessiond/trigger/watchers.h"

int cmd_trigger_watch(struct command *cmd, struct req_trigger_watch *req,
		      struct rep_trigger_watch *rep)
{
	(void)rep;
	if (watchers_have(cmd->sd, cmd->client))
		return command_error(cmd, ERR_BUSY,
				     "this connection watches triggers already; use another one");
	watchers_begin(cmd, req->name, req->uid);
	return CMD_WAIT;
}
