/* SPDX-License-Identifier: GPL-2.0-only */
/* remove_trigger.c - lttctl remove-trigger NAME... */
#include <unistd.h>

#include "base/str.h"
#include "ctl/connect.h"
#include "ctl/options.h"
#include "ctl/print/json.h"
#include "ctl/print/text.h"
#include "ctl/session/target.h"

static char *owner;
static uint32_t owner_uid;

static const struct poptOption options[] = {
	OPTION_TEXT("owner-uid", 0, &owner, "of this user", "UID"),
	POPT_TABLEEND,
};

static enum status remove_trigger_check(struct ctl *ctl)
{
	uint64_t uid = getuid();

	if (!operand(ctl, 0))
		err_set(&ctl->err, ERR_INVALID, "missing name of a trigger");
	else if (owner && (parse_u64(owner, &uid) != 0 || uid >= UINT32_MAX))
		err_set(&ctl->err, ERR_INVALID, "--owner-uid=%s: this is not a user id", owner);
	owner_uid = (uint32_t)uid;
	return ctl->err.code ? STATUS_ERROR : STATUS_OK;
}

static enum status remove_trigger_run(struct ctl *ctl)
{
	struct json_object *removed;

	ctl->record = json_object_new_object();
	for (unsigned int i = 0; i < ctl->nr_operands; i++) {
		if (ctl_done(ctl,
			     ltt_ctl_remove_trigger(ctl->library, operand(ctl, i), owner_uid),
			     &ctl->err) != 0)
			return STATUS_ERROR;
		removed = json_object_new_object();
		json_set_str(removed, "trigger", operand(ctl, i));
		json_append(ctl->record, "triggers", removed);
	}
	return STATUS_OK;
}

static void remove_trigger_text(FILE *out, struct json_object *record)
{
	text_forms(out, record, "triggers", "Trigger {trigger} removed\n");
}

const struct verb verb_remove_trigger = {
	.name = "remove-trigger",
	.operands = "NAME...",
	.help = "Remove triggers",
	.options = options,
	.daemon = DAEMON_NEEDED,
	.max_operands = TARGET_MOST,
	.check = remove_trigger_check,
	.run = remove_trigger_run,
	.text = remove_trigger_text,
};
