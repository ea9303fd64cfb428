/* SPDX-License-Identifier: GPL-2.0-only */
/* session_programs: the applications that record into a session, and their registered points. */
#include "cmd.h"

static void session_programs_show(const char *name, void *data)
{
	const struct msg_announced item = { name };

	item_announced(data, &item);
}

enum cmd_now cmd_session_programs(struct command *cmd, struct req_session_programs *req,
				  struct rep_session_programs *rep)
{
	struct domain_programs programs;

	(void)req;
	domains_programs(&cmd->sd->domains, cmd->session, &programs, session_programs_show, cmd);
	rep->recording = programs.recording;
	rep->apps = programs.apps;
	rep->matched = programs.matched;
	rep->more = programs.more;
	return CMD_DONE;
}
