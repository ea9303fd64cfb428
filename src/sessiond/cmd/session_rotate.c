/* SPDX-License-Identifier: GPL-2.0-only */
/* session_rotate: make an archive of the recorded events; answered when it is complete. */
#include "cmd.h"

#include "base/mem.h"
#include "sessiond/run/rotation.h"

/* The path of an archive. */
static char *rotate_path(const struct session *session, const char *name)
{
	if (*session->relay)
		return run_place_at_relay(session, session->path, name);
	return xasprintf("%s/%s", session->path, name);
}

static void rotate_done(void *data, const struct run_result *result)
{
	struct command *cmd = data;
	const struct session *session = command_session(cmd);
	AUTO_FREE char *path = NULL;
	struct rep_session_rotate rep = {
		.number = result->turned->number,
		.bytes = result->turned->bytes,
		.waits = result->turned->waits,
	};

	if (result->err->code || !session) {
		(void)!command_error(cmd, result->err->code ? result->err->code : ERR_NO_SESSION,
				     "%s",
				     result->err->code ? result->err->text :
							 "the session has just been destroyed");
		command_fail(cmd);
		return;
	}
	rep.path = path = rotate_path(session, result->turned->name);
	reply_session_rotate(cmd, &rep);
}

static enum cmd_now rotate_check(struct command *cmd)
{
	const struct session *session = cmd->session;

	if (rotation_check(session, &cmd->err))
		return CMD_FAILED;
	if (!run_output_open(session->run))
		return command_error(cmd, ERR_STATE,
				     "session '%s' has no events yet: it was never started",
				     session->name);
	if (session->chunk.content == CHUNK_ROTATED)
		return command_error(cmd, ERR_STATE,
				     "session '%s' was rotated after it was stopped; nothing was "
				     "recorded since",
				     session->name);
	if (session->chunk.content == CHUNK_CLEARED)
		return command_error(cmd, ERR_STATE,
				     "session '%s' was cleared after it was stopped; nothing was "
				     "recorded since",
				     session->name);
	return CMD_DONE;
}

/* An unfinished turn comes before, so that the name is not known yet. */
static bool rotate_waits(const struct command *cmd, bool no_wait)
{
	return !no_wait || *cmd->session->chunk.turning;
}

int cmd_session_rotate(struct command *cmd, struct req_session_rotate *req,
		       struct rep_session_rotate *rep)
{
	const struct session_chunk *chunk = &cmd->session->chunk;
	struct run *run = cmd->session->run;
	AUTO_FREE char *path = NULL;

	if (run_is_busy(run))
		return CMD_BUSY;
	if (rotate_check(cmd) != CMD_DONE)
		return CMD_FAILED;
	if (rotate_waits(cmd, req->no_wait)) {
		(void)run_turn(run, false, rotate_done, cmd);
		return CMD_WAIT;
	}
	(void)run_turn(run, false, rotation_finished, run);
	rep->number = chunk->number;
	rep->path = path = rotate_path(cmd->session, chunk->turning);
	reply_session_rotate(cmd, rep);
	return CMD_WAIT;
}
