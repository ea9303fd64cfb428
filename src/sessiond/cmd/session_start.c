/* SPDX-License-Identifier: GPL-2.0-only */
/* session_start: record; answered when the applications that answer have armed. */
#include "cmd.h"


static void session_start_on_started(void *data, const struct run_result *result)
{
	struct command *cmd = data;
	struct session *session = command_session(cmd);
	struct rep_session_start rep = { result->apps, result->late, "" };

	if (result->err->code) {
		cmd->err = *result->err;
		command_fail(cmd);
		return;
	}
	if (session) {
		rep.problem = session_write_problem(session);
		if (!*rep.problem)
			rep.problem = session->troubles[TROUBLE_LATE];
		if (!*rep.problem)
			rep.problem = session->troubles[TROUBLE_STATE];
		items_of_all_conflicts(cmd, session);
		items_of_refusals(cmd, session, NULL, NULL);
	}
	reply_session_start(cmd, &rep);
}

int cmd_session_start(struct command *cmd, struct req_session_start *req,
		      struct rep_session_start *rep)
{
	(void)req, (void)rep;
	if (list_empty(&cmd->session->channels))
		return command_error(cmd, ERR_NO_CHANNEL,
				     "session '%s' has no channel to record; enable an event first",
				     cmd->session->name);
	switch (run_start(cmd->session->run, session_start_on_started, cmd)) {
	case SESSION_DONE:
		return CMD_WAIT;
	case SESSION_LATER:
		return CMD_BUSY;
	default:
		return command_error(cmd, ERR_STATE, "session '%s' is recording already",
				     cmd->session->name);
	}
}
