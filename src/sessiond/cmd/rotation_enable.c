/* SPDX-License-Identifier: GPL-2.0-only */
/* rotation_enable: rotate a session after a time or at a size, and limit its archives. */
#include "cmd.h"

#include <inttypes.h>

#include "sessiond/run/rotation.h"

static enum cmd_now rotation_enable_check(struct command *cmd,
					  const struct req_rotation_enable *req)
{
	const struct session *session = cmd->session;

	if (rotation_check(session, &cmd->err))
		return CMD_FAILED;
	if (*session->relay && (req->keep_archives || req->keep_us || req->keep_size))
		return command_error(cmd, ERR_UNSUPPORTED,
				     "session '%s' records to a relay, which removes archives by its "
				     "own limits (ltt-relayd --keep-...): omit these",
				     session->name);
	if (!req->rotate_us && !req->rotate_size && !session->rotate_us && !session->rotate_size)
		return command_error(cmd, ERR_INVALID,
				     "session '%s' has no schedule of rotations whose archives "
				     "could be limited; add --timer or --size",
				     session->name);
	if (req->rotate_us && req->rotate_us < ROTATION_LEAST_US)
		return command_error(cmd, ERR_INVALID,
				     "a period of %" PRIu64 " us is too short; %u us is the least",
				     req->rotate_us, ROTATION_LEAST_US);
	if (MAX(req->rotate_us, req->keep_us) > ROTATION_MOST_US)
		return command_error(cmd, ERR_INVALID,
				     "a period is longer than 100 years; choose a shorter one");
	return CMD_DONE;
}

enum cmd_now cmd_rotation_enable(struct command *cmd, struct req_rotation_enable *req,
				 struct rep_rotation_enable *rep)
{
	struct session *session = cmd->session;

	(void)rep;
	if (rotation_enable_check(cmd, req) != CMD_DONE)
		return CMD_FAILED;
	if (req->rotate_us) { /* the first period begins now */
		session->rotate_us = req->rotate_us;
		session->chunk.turned_ns = loop_now_ns();
	}
	if (req->rotate_size)
		session->rotate_size = req->rotate_size;
	if (req->keep_archives)
		session->keep_archives = req->keep_archives;
	if (req->keep_us)
		session->keep_us = req->keep_us;
	if (req->keep_size)
		session->keep_size = req->keep_size;
	rotation_arm(session->run);
	return CMD_DONE;
}
