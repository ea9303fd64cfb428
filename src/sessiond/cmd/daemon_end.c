/* SPDX-License-Identifier: GPL-2.0-only */
/* daemon_end: end the daemon, for its own user and root. */
#include "cmd.h"

#include "sessiond/core/session.h"

enum cmd_now cmd_daemon_end(struct command *cmd, struct req_daemon_end *req,
			    struct rep_daemon_end *rep)
{
	uint32_t nr = cmd->sd->sessions.nr;

	if (cmd->caller.uid != 0 && cmd->caller.uid != geteuid())
		return command_error(cmd, ERR_DENIED,
				     "the session daemon belongs to user %u: only that user and "
				     "root can end it",
				     (unsigned int)geteuid());
	if (nr && !req->force)
		return command_error(cmd, ERR_BUSY,
				     "the session daemon has %u session%s; destroy them first "
				     "('lttctl destroy --all'), or end them with it (--force)",
				     nr, nr == 1 ? "" : "s");
	rep->sessions = nr;
	if (cmd->sd->quit)
		cmd->sd->quit(cmd->sd); /* once this is answered */
	return CMD_DONE;
}
