/* SPDX-License-Identifier: GPL-2.0-only */
/* rotation_disable: rotate a session no more by itself. */
#include "cmd.h"

#include "sessiond/run/rotation.h"

enum cmd_now cmd_rotation_disable(struct command *cmd, struct req_rotation_disable *req,
				  struct rep_rotation_disable *rep)
{
	struct session *session = cmd->session;

	(void)rep;
	if ((req->timer && !session->rotate_us) || (req->size && !session->rotate_size))
		return command_error(cmd, ERR_STATE, "session '%s' is not rotated %s",
				     session->name,
				     req->timer && !session->rotate_us ? "after a time" :
									 "at a size");
	if (req->timer)
		session->rotate_us = 0;
	if (req->size)
		session->rotate_size = 0;
	if (!session->rotate_us && !session->rotate_size)
		session->keep_us = session->keep_size = session->keep_archives = 0;
	session_trouble(session, TROUBLE_TURN, "");
	rotation_arm(session->run);
	return CMD_DONE;
}
