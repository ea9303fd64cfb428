/* SPDX-License-Identifier: GPL-2.0-only */
/* set_session.c - lttctl set-session SESSION: make a session the current one. */
#include "base/mem.h"
#include "ctl/home.h"
#include "ctl/print/json.h"
#include "ctl/session/target.h"
#include "ctl/ctl.h"
#include "ctl/trace/viewing.h"

static enum status set_session_check(struct ctl *ctl)
{
	if (operand(ctl, 0))
		return STATUS_OK;
	err_set(&ctl->err, ERR_INVALID, "missing session: use lttctl set-session SESSION");
	return STATUS_ERROR;
}

static enum status set_session_run(struct ctl *ctl)
{
	struct json_object *found AUTO_RECORD = NULL;
	const char *name = operand(ctl, 0);

	if (target_find_session(ctl, name, &found, &ctl->err) != 0)
		return STATUS_ERROR;
	if (!found) {
		err_set(&ctl->err, ERR_NO_SESSION, "there is no session '%s'", name);
		target_suggest(ctl, name, NULL, NULL);
		return STATUS_ERROR;
	}
	if (viewing_remember_current(name, json_str(found, "output"), name, &ctl->err) != 0)
		return STATUS_ERROR;
	ctl->record = json_object_new_object();
	json_set_str(ctl->record, "session", name);
	return STATUS_OK;
}

const struct verb verb_set_session = {
	.name = "set-session",
	.operands = "SESSION",
	.help = "Make a session the current one",
	.daemon = DAEMON_NEEDED,
	.max_operands = 1,
	.check = set_session_check,
	.run = set_session_run,
	.form = "Current session is {session}.\n",
};
