/* SPDX-License-Identifier: GPL-2.0-only */
/* track: choose the tasks whose events a session records, also while it records. */
#include "cmd.h"

#include <string.h>

#include "sessiond/domain/kernel/kernel.h"

static enum cmd_now track_check(struct command *cmd, const struct req_track *req)
{
	if (command_domain(cmd, req->domain) != CMD_DONE)
		return CMD_FAILED;
	if (req->domain != DOMAIN_KERNEL)
		return command_error(cmd, ERR_UNSUPPORTED,
				     "tracking is for the kernel (-k) only; for programs see "
				     "`lttctl record -- COMMAND`");
	if (req->kind >= TRACK_NR_KINDS || req->op >= TRACK_NR_OPS)
		return command_error(cmd, ERR_INVALID, "unknown kind %u or operation %u", req->kind,
				     req->op);
	if (req->op == TRACK_REMOVE && !cmd->session->trackers[req->kind].limited)
		return command_error(
			cmd, ERR_INVALID,
			"session '%s' tracks all ids, and none can be excluded: first select the "
			"ids to record, with `lttctl track -k`",
			cmd->session->name);
	return CMD_DONE;
}

static enum cmd_now track_apply(struct command *cmd, const struct kernel_track *track)
{
	int err = kernel_track(cmd->sd->kernel, cmd->session, track);

	if (err == 0)
		return CMD_DONE;
	err_errno(&cmd->err, ERR_NO_MEMORY, -err, "can't send the tracked ids to the kernel");
	return CMD_FAILED;
}

/* The kind as a whole. */
static enum cmd_now change_kind(struct command *cmd, const struct req_track *req)
{
	const struct kernel_track track = { (enum track_kind)req->kind, (enum track_op)req->op, 0 };
	struct tracker *tracker = &cmd->session->trackers[req->kind];

	if (track_apply(cmd, &track) != CMD_DONE)
		return CMD_FAILED;
	tracker_clear(tracker);
	tracker->limited = req->op == TRACK_NONE;
	return CMD_DONE;
}

static enum cmd_now change_id(struct command *cmd, const struct req_track *req, uint32_t id,
			      uint32_t *ret_changed)
{
	const struct kernel_track track = { (enum track_kind)req->kind, (enum track_op)req->op,
					    id };
	struct tracker *tracker = &cmd->session->trackers[req->kind];
	bool had = tracker_has(tracker, id);

	if (req->op == TRACK_ADD && !had && tracker->nr >= TRACKER_MAX)
		return command_error(cmd, ERR_LIMIT, "a session tracks at most %u ids of a kind",
				     TRACKER_MAX);
	if (track_apply(cmd, &track) != CMD_DONE)
		return CMD_FAILED;
	if (req->op == TRACK_ADD)
		*ret_changed += !had && tracker_add(tracker, id);
	else
		*ret_changed += tracker_remove(tracker, id);
	return CMD_DONE;
}

enum cmd_now cmd_track(struct command *cmd, struct req_track *req, struct rep_track *rep)
{
	struct msg_track_id item;

	if (track_check(cmd, req) != CMD_DONE)
		return CMD_FAILED;
	if (req->op == TRACK_ALL || req->op == TRACK_NONE)
		return change_kind(cmd, req);
	while (msg_track_id_next(&req->ids, &item))
		if (change_id(cmd, req, item.id, &rep->changed) != CMD_DONE)
			return CMD_FAILED;
	return CMD_DONE;
}
