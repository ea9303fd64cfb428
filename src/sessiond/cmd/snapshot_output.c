/* SPDX-License-Identifier: GPL-2.0-only */
/* snapshot_output: sets or removes the directory of the snapshots whose request names none. Without
 * one that was set it is the session's own, until that is removed, too. */
#include "cmd.h"

#include <limits.h>
#include <string.h>

#include "base/str.h"
#include "io/relayurl.h"
#include "sessiond/core/attribute.h"

static enum cmd_now snapshot_output_check(struct command *cmd,
					  const struct req_snapshot_output *req)
{
	const struct session *session = cmd->session;

	if (!*req->path && !*session->snapshot_path &&
	    (session->snapshot_elsewhere || !*session->path || *session->relay))
		return command_error(cmd, ERR_STATE, "session '%s' has no output for snapshots",
				     session->name);
	if (*req->path && *session->snapshot_path)
		return command_error(cmd, ERR_STATE,
				     "session '%s' has an output for snapshots already, %s; "
				     "'lttctl snapshot del-output 1' removes it",
				     session->name, session->snapshot_path);
	if (*req->path && ((*req->path != '/' && !relayurl_is_one(req->path)) ||
			   strlen(req->path) >= PATH_MAX))
		return command_error(cmd, ERR_INVALID,
				     "the path of snapshots must be absolute, or the URL of a "
				     "relay, and shorter than %d bytes",
				     PATH_MAX);
	if (*req->name && (name_check(req->name) || strlen(req->name) > SESSION_SNAPSHOT_NAME_MOST))
		return command_error(cmd, ERR_INVALID, "the snapshots' name '%.210s' %s", req->name,
				     name_check(req->name) ? name_check(req->name) :
							     "is longer than 200 bytes");
	return CMD_DONE;
}

enum cmd_now cmd_snapshot_output(struct command *cmd, struct req_snapshot_output *req,
				 struct rep_snapshot_output *rep)
{
	struct session *session = cmd->session;

	(void)rep;
	if (snapshot_output_check(cmd, req) != CMD_DONE)
		return CMD_FAILED;
	if (!*req->path && !*session->snapshot_path)
		session->snapshot_elsewhere = true;
	ATTRIBUTE_SET(text, session->snapshot_path, req->path);
	ATTRIBUTE_SET(text, session->snapshot_name, *req->path ? req->name : "");
	ATTRIBUTE_SET(u64, session->snapshot_max_size, *req->path ? req->max_size : 0);
	return CMD_DONE;
}
