/* SPDX-License-Identifier: GPL-2.0-only */
/* session_stop: record no more; answered when all data is written. */
#include "cmd.h"

#include <stdio.h>

static void session_stop_on_stopped(void *data, const struct run_result *result)
{
	struct command *cmd = data;
	struct session *session = command_session(cmd);
	const char *unrecorded = session ? session->troubles[TROUBLE_PROGRAMS] : "";
	struct rep_session_stop rep = { 0 };
	uint8_t buf[TOTALS_BYTES];
	char both[sizeof(session->troubles[0]) + sizeof(cmd->err.text) + 4];

	rep.problem = command_figures(cmd, result, buf, &rep.totals);
	if (!rep.problem)
		return;
	if (*unrecorded) {
		snprintf(both, sizeof(both), "%s%s%s", unrecorded, *rep.problem ? "; " : "",
			 rep.problem);
		rep.problem = both;
	}
	if (session)
		items_of_all_conflicts(cmd, session);
	reply_session_stop(cmd, &rep);
}

int cmd_session_stop(struct command *cmd, struct req_session_stop *req,
		     struct rep_session_stop *rep)
{
	run_done done = req->no_wait ? NULL : session_stop_on_stopped;
	int result;

	(void)rep;
	result = command_begun(cmd, run_stop(cmd->session->run, done, cmd), req->no_wait,
			       "not recording");
	if (result == CMD_DONE) /* else session_stop_on_stopped() replies */
		items_of_all_conflicts(cmd, cmd->session);
	return result;
}
