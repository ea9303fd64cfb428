/* SPDX-License-Identifier: GPL-2.0-only */
/* trigger_remove: remove a trigger of the caller, or for root of any user. */
#include "cmd.h"

#include "sessiond/state/triggers.h"
#include "sessiond/trigger/increments.h"

enum cmd_now cmd_trigger_remove(struct command *cmd, struct req_trigger_remove *req,
				struct rep_trigger_remove *rep)
{
	struct trigger *trigger = trigger_find(&cmd->sd->triggers, req->uid, req->name);

	(void)rep;
	if (cmd->caller.uid != 0 && cmd->caller.uid != req->uid)
		return command_error(cmd, ERR_DENIED, "triggers of other users are root's to remove");
	if (!trigger)
		return command_error(cmd, ERR_NO_EVENT,
				     "there is no trigger '%.255s'; 'lttctl list-triggers' shows "
				     "those that exist",
				     req->name);
	conditions_end(&cmd->sd->conditions, trigger);
	trigger_free(trigger);
	(void)increments_refresh(cmd->sd, NULL, NULL);
	ends_refresh(&cmd->sd->conditions.ends);
	(void)!state_save_triggers(cmd->sd); /* it is tried again */
	return CMD_DONE;
}
