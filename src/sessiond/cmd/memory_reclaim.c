/* SPDX-License-Identifier: GPL-2.0-only */
/* memory_reclaim: give the memory of buffers back whose events are written. It is answered when the
 * consumer has done so. */
#include "cmd.h"

static enum cmd_now memory_reclaim_check_channel(struct command *cmd, const struct channel *channel)
{
	const struct session *session = cmd->session;

	if (session->snapshots || channel->remember)
		return command_error(cmd, ERR_UNSUPPORTED,
				     "the buffers of channel '%s' keep their events for snapshots: "
				     "use smaller ones, `lttctl enable-channel --subbuf-size=SIZE`",
				     channel->name);
	if (channel->overwrite)
		return command_error(cmd, ERR_UNSUPPORTED,
				     "programs overwrite the buffers of channel '%s' at any time, so "
				     "that they have no free memory: use `lttctl enable-channel "
				     "--discard`",
				     channel->name);
	return CMD_DONE;
}

/* @ret: NULL: all. */
static enum cmd_now memory_reclaim_check(struct command *cmd, const char *name,
					 const struct channel **ret)
{
	const struct channel *channel, *last = NULL;
	bool any = false;

	*ret = NULL;
	if (*name) {
		*ret = session_find_channel(cmd->session, DOMAIN_USER, name);
		if (*ret)
			return memory_reclaim_check_channel(cmd, *ret);
		return command_error(cmd, ERR_NO_CHANNEL,
				     "session '%s' has no channel '%s' of applications; `lttctl list "
				     "%s` shows its channels",
				     cmd->session->name, name, cmd->session->name);
	}
	list_for_each(channel, &cmd->session->channels, node)
		if (channel->domain == DOMAIN_USER) {
			last = channel;
			any |= !channel->overwrite && !channel->remember;
		}
	if (!last)
		return command_error(cmd, ERR_STATE,
				     "session '%s' has no channel of applications; buffers of the "
				     "kernel keep their memory",
				     cmd->session->name);
	return any && !cmd->session->snapshots ? CMD_DONE : memory_reclaim_check_channel(cmd, last);
}

static void memory_reclaim_done(void *data, const struct con_answer *answer)
{
	struct command *cmd = data;
	struct rep_con_reclaim result = { 0 };
	struct rep_memory_reclaim rep;

	if (answer->code || rep_con_reclaim_decode(answer->dec, &result) < 0) {
		(void)!command_error(cmd, answer->code ? (enum err_code)answer->code : ERR_CONSUMER,
				     "%s", answer->code ? answer->text : "invalid reply");
		command_fail(cmd);
		return;
	}
	rep = (struct rep_memory_reclaim){ .bytes = result.bytes, .left = result.left };
	reply_memory_reclaim(cmd, &rep);
}

int cmd_memory_reclaim(struct command *cmd, struct req_memory_reclaim *req,
		       struct rep_memory_reclaim *rep)
{
	const struct session *session = cmd->session;
	const struct channel *channel;
	struct req_con_reclaim request;

	(void)rep;
	if (run_is_busy(session->run))
		return CMD_BUSY;
	if (memory_reclaim_check(cmd, req->channel, &channel) != CMD_DONE)
		return CMD_FAILED;
	if (!run_output_open(session->run)) /* there is no buffer yet */
		return CMD_DONE;
	request = (struct req_con_reclaim){
		.output = session->id,
		.all = !channel,
		.stream_class = channel ? channel->number : 0,
		.age_ns = MIN(req->age_us, UINT64_MAX / 1000) * 1000,
	};
	CONSUMER_CALL(run_consumer(session->run, DOMAIN_USER), con_reclaim, &request, NULL,
		      req->no_wait ? NULL : memory_reclaim_done, req->no_wait ? NULL : cmd);
	return req->no_wait ? CMD_DONE : CMD_WAIT;
}
