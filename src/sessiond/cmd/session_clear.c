/* SPDX-License-Identifier: GPL-2.0-only */
/* session_clear: remove the events that were recorded since the start or the last rotation, and set
 * the values of map channels to 0. */
#include "cmd.h"

#include "sessiond/run/rotation.h"

static void clear_done(void *data, const struct run_result *result)
{
	const struct rep_session_clear rep = { .cleared = result->turned->cleared };
	struct command *cmd = data;

	if (!result->err->code) {
		reply_session_clear(cmd, &rep);
		return;
	}
	cmd->err = *result->err;
	command_fail(cmd);
}

static int session_clear_maps(struct command *cmd)
{
	struct domain_tracer *tracer;

	domains_each(tracer, &cmd->sd->domains)
		if (tracer->ops->maps && !list_empty(&cmd->session->maps) &&
		    tracer->ops->maps->clear(tracer, cmd->session, &cmd->err))
			return cmd->err.code;
	return 0;
}

int cmd_session_clear(struct command *cmd, struct req_session_clear *req,
		      struct rep_session_clear *rep)
{
	struct run *run = cmd->session->run;

	(void)rep;
	if (run_is_busy(run))
		return CMD_BUSY;
	if (session_clear_maps(cmd))
		return CMD_FAILED;
	if (!run_output_open(run)) /* there is nothing yet */
		return CMD_DONE;
	(void)run_turn(run, true, req->no_wait ? rotation_finished : clear_done,
		       req->no_wait ? (void *)run : cmd);
	return req->no_wait ? CMD_DONE : CMD_WAIT;
}
