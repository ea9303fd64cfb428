/* SPDX-License-Identifier: GPL-2.0-only */
/* session_start: record; answered when the applications that answer have armed. At the first start
 * of a session that writes, the events that other sessions of its owner remember are copied beside
 * its trace. */
#include "remembered.h"

#include <stdio.h>

#include "base/mem.h"

struct start_request {
	struct command *cmd;
	struct rep_session_start rep;
	bool first;
	unsigned int left; /* consumers that have not answered yet, or 1 while they are requested */
	char problem[700]; /* of copying; empty: none */
};

static const char *session_start_problem(const struct session *session)
{
	const char *problem = session_write_problem(session);

	if (!*problem)
		problem = session->troubles[TROUBLE_LATE];
	return *problem ? problem : session->troubles[TROUBLE_STATE];
}

/* Both may be of one full disk: the sentence of the session's own trace does not include that
 * another one is missing. */
static void session_start_add_problem(struct start_request *request, const char *problem)
{
	AUTO_FREE char *copying = xstrdup(request->problem);

	snprintf(request->problem, sizeof(request->problem), "%s%s%s", problem,
		 *problem && *copying ? "; " : "", copying);
	request->rep.problem = request->problem;
}

static void session_start_answer(struct start_request *request)
{
	struct command *cmd = request->cmd;
	struct session *session = command_session(cmd);

	session_start_add_problem(request, session ? session_start_problem(session) : "");
	if (session) {
		items_of_all_conflicts(cmd, session);
		items_of_refusals(cmd, session, NULL, NULL);
	}
	reply_session_start(cmd, &request->rep);
	free(request);
}

/* --- remembered events ----------------------------------------------------------- */

static void remembered_copied(void *data, const struct con_answer *answer)
{
	struct start_request *request = data;

	if (answer->code && answer->code != ERR_NO_EVENT)
		snprintf(request->problem, sizeof(request->problem),
			 "the remembered events of another session could not be copied: %.200s",
			 answer->text);
	if (--request->left == 0)
		session_start_answer(request);
}

static bool session_start_wants(const struct start_request *request, const struct session *session)
{
	return request->first && session_has_files(session) &&
	       (*session->relay || run_outdir(session->run) >= 0);
}

static void copy_remembered(struct start_request *request, const struct session *to)
{
	const struct sessions *sessions = &request->cmd->sd->sessions;
	const struct session *from = NULL;

	while ((from = remembered_next(sessions, to, from ? from->id : 0))) {
		struct req_con_snapshot req = remembered_request(from, to);
		char name[REMEMBERED_NAME_BYTES];

		remembered_name(from, name);
		req.name = name;
		if (*to->relay) {
			req.to = to->id;
			req.relay_id = (struct blob){ to->relay_id, sizeof(to->relay_id) };
		} else {
			req.dir = run_outdir(to->run);
		}
		request->left++;
		CONSUMER_CALL(run_consumer(from->run, DOMAIN_USER), con_snapshot, &req, NULL,
			      remembered_copied, request);
	}
}

static void session_start_on_started(void *data, const struct run_result *result)
{
	struct start_request *request = data;
	struct command *cmd = request->cmd;
	const struct session *session = command_session(cmd);

	if (result->err->code) {
		cmd->err = *result->err;
		command_fail(cmd);
		free(request);
		return;
	}
	request->rep = (struct rep_session_start){ result->apps, result->late, "" };
	request->left = 1;
	if (session && session_start_wants(request, session))
		copy_remembered(request, session);
	if (--request->left == 0)
		session_start_answer(request);
}

/* --- the request ------------------------------------------------------------------ */

int cmd_session_start(struct command *cmd, struct req_session_start *req,
		      struct rep_session_start *rep)
{
	struct start_request *request;
	enum session_outcome outcome;

	(void)req, (void)rep;
	if (list_empty(&cmd->session->channels) && list_empty(&cmd->session->maps))
		return command_error(cmd, ERR_NO_CHANNEL,
				     "session '%s' has no channel to record; enable an event first",
				     cmd->session->name);
	request = xalloc(sizeof(*request));
	request->cmd = cmd;
	request->first = !run_clock(cmd->session->run);
	outcome = run_start(cmd->session->run, session_start_on_started, request);
	if (outcome == SESSION_DONE)
		return CMD_WAIT;
	free(request);
	if (outcome == SESSION_LATER)
		return CMD_BUSY;
	return command_error(cmd, ERR_STATE, "session '%s' is recording already",
			     cmd->session->name);
}
