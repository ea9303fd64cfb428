/* SPDX-License-Identifier: GPL-2.0-only */
/* flush: write the events that the buffers of a session have now, while it records. It is answered
 * when they are in the files, or when the relay has acknowledged them. */
#include "cmd.h"

static void flush_written(void *data, const struct run_result *result)
{
	struct command *cmd = data;
	const struct session *session = command_session(cmd);
	const struct rep_flush rep = {
		.spooled = result->stats->known ? result->stats->spooled : 0,
	};

	if (!session || session->state == SESSION_DESTROYING)
		(void)!command_error(cmd, ERR_NO_SESSION,
				     "the session was destroyed; `destroy` has written its data");
	else if (result->err->code)
		(void)!command_error(cmd, result->err->code, "%s", result->err->text);
	else {
		reply_flush(cmd, &rep);
		return;
	}
	command_fail(cmd);
}

static enum cmd_now flush_check(struct command *cmd)
{
	const struct session *session = cmd->session;

	if (session->snapshots)
		return command_error(cmd, ERR_UNSUPPORTED,
				     "session '%s' writes only snapshots; take one by `lttctl "
				     "snapshot record -s %s`",
				     session->name, session->name);
	if (!*session->path)
		return command_error(cmd, ERR_INVALID,
				     "session '%s' has no output to write to (--no-output)",
				     session->name);
	if (!run_output_open(session->run))
		return command_error(cmd, ERR_STATE,
				     "session '%s' has no events yet: it was never started",
				     session->name);
	return CMD_DONE;
}

int cmd_flush(struct command *cmd, struct req_flush *req, struct rep_flush *rep)
{
	const struct session *session = cmd->session;

	(void)req, (void)rep;
	if (session->state == SESSION_STARTING || session->state == SESSION_STOPPING)
		return CMD_BUSY;
	if (flush_check(cmd) != CMD_DONE)
		return CMD_FAILED;
	run_flush(session->run, flush_written, cmd);
	return CMD_WAIT;
}
