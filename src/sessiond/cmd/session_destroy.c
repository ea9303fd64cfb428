/* SPDX-License-Identifier: GPL-2.0-only */
/* session_destroy: stop it if necessary, write the remaining data, free it. The trace remains. */
#include "cmd.h"

static void session_destroy_on_destroyed(void *data, const struct run_result *result)
{
	struct command *cmd = data;
	struct rep_session_destroy rep = { 0 };
	uint8_t buf[TOTALS_BYTES];

	rep.problem = command_figures(cmd, result, buf, &rep.totals);
	if (rep.problem)
		reply_session_destroy(cmd, &rep);
}

int cmd_session_destroy(struct command *cmd, struct req_session_destroy *req,
			struct rep_session_destroy *rep)
{
	run_done done = req->no_wait ? NULL : session_destroy_on_destroyed;

	(void)rep;
	return command_begun(cmd, run_destroy(cmd->session->run, done, cmd), req->no_wait,
			     "being destroyed");
}
