/* SPDX-License-Identifier: GPL-2.0-only */
/* list_triggers.c - lttctl list-triggers: the triggers, and how often they fired. */
#include "base/mem.h"
#include "ctl/session/condition.h"
#include "ctl/print/json.h"
#include "ctl/print/text.h"
#include "ctl/session/trigger.h"

static enum status list_triggers_run(struct ctl *ctl)
{
	struct json_object *triggers = NULL;

	if (trigger_fetch(ctl, &triggers, &ctl->err) != 0)
		return STATUS_ERROR;
	ctl->record = json_object_new_object();
	json_set(ctl->record, "triggers", triggers);
	return STATUS_OK;
}

static void list_triggers_text(FILE *out, struct json_object *record)
{
	static const char action[] =
		"    [{action=incr-map-value}{action}: key {map_key} of {session}, {map_channel}; 'lttctl "
		"show-maps -s {session}' shows the values\n|"
		"[{action=exec}exec: {shell_command}|{action}[ {session?}|]]"
		"[ to {output?}|][, the last {last_us:u?}|][, each {every?}th|][, only the {once_after?}th|]: "
		"{ran:n} done[, {failed:n?} failed|][, {joined:n?} joined|]"
		"[; the last one failed: {problem?}|]\n]";

	if (!json_len(record, "triggers"))
		fputs("There are no triggers; 'lttctl on CONDITION' adds one.\n", out);
	for (size_t i = 0; i < json_len(record, "triggers"); i++) {
		struct json_object *trigger = json_at(record, "triggers", i);
		char *condition AUTO_FREE = condition_text(trigger);

		text_form(out, trigger, "{trigger}[ (uid {uid?})|]: ");
		fputs(condition, out);
		text_form(out, trigger,
			  "\n    fired {fired:n} time{fired:s}[, the last one {last_ns:d?}|]: {delivered:n} "
			  "delivered, {suppressed:n} suppressed[, {unrecorded:n?} without "
			  "captures|][, {evicted:n?} begins dropped|][, {unread:n?} without a key|]"
			  "[; at most {at_most_nr:n?} in {period_us:u}|]\n[    {problem?}\n|]");
		text_forms(out, trigger, "actions", action);
	}
}

const struct verb verb_list_triggers = {
	.name = "list-triggers",
	.operands = "",
	.help = "Show triggers and how often they fired",
	.daemon = DAEMON_NEEDED,
	.run = list_triggers_run,
	.text = list_triggers_text,
};
