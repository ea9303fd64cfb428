/* SPDX-License-Identifier: GPL-2.0-only */
/* session_stop: record no more; answered when all data is written. */
#include "cmd.h"

/* Why programs record nothing, and which, or not into each channel. */
static const char *unrecorded_problem(const struct session *session)
{
	const char *programs = session->troubles[TROUBLE_PROGRAMS];
	const char *buffers = session->troubles[TROUBLE_BUFFERS];

	return *programs ? programs : *buffers ? buffers : session->troubles[TROUBLE_DAMAGE];
}

static void session_stop_on_stopped(void *data, const struct run_result *result)
{
	struct command *cmd = data;
	struct session *session = command_session(cmd);
	struct rep_session_stop rep = { 0 };
	uint8_t buf[TOTALS_BYTES];
	char with_programs[PROBLEM_BYTES], with_adoption[PROBLEM_BYTES], with_names[PROBLEM_BYTES];

	rep.problem = command_figures(cmd, result, buf, &rep.totals);
	if (!rep.problem)
		return;
	if (session) {
		rep.problem =
			join_problems(with_programs, unrecorded_problem(session), rep.problem);
		rep.problem = join_problems(with_adoption, session->troubles[TROUBLE_ADOPTION],
					    rep.problem);
		rep.problem =
			join_problems(with_names, rep.problem, session->troubles[TROUBLE_NAMES]);
		items_of_all_conflicts(cmd, session);
	}
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
