/* SPDX-License-Identifier: GPL-2.0-only */
/* trigger_list: the caller's triggers and their counts; for root, all. */
#include "cmd.h"

#include "sessiond/trigger/action_message.h"

static void trigger_list_actions(struct command *cmd, const struct trigger *trigger)
{
	for (uint32_t i = 0; i < trigger->nr_actions; i++) {
		const struct msg_trigger_action item = action_to_message(&trigger->actions[i]);

		item_trigger_action(cmd, &item);
	}
}

static void trigger_list_one(struct command *cmd, const struct trigger *trigger)
{
	char problem[300];
	struct msg_trigger item = {
		.name = trigger->name,
		.uid = trigger->uid,
		.created_ns = trigger->created_ns,
		.fired = trigger->fired,
		.delivered = trigger->delivered,
		.suppressed = trigger->suppressed,
		.unrecorded = trigger->unrecorded,
		.last_ns = trigger->last_ns,
		.problem = problem,
#define SHOWN(type, name, init, doc) .name = (MODEL_WIRE_TYPE(type))trigger->name,
#include "model/trigger.def"
	};

	conditions_lost(&cmd->sd->conditions, trigger, &item.evicted, &item.unread);
	conditions_problem(&cmd->sd->conditions, trigger, &item.points, problem, sizeof(problem));
	item_trigger(cmd, &item);
	trigger_list_actions(cmd, trigger);
}

enum cmd_now cmd_trigger_list(struct command *cmd, struct req_trigger_list *req,
			      struct rep_trigger_list *rep)
{
	const struct trigger *trigger;

	(void)req, (void)rep;
	list_for_each(trigger, &cmd->sd->triggers.list, node)
		if (cmd->caller.uid == 0 || cmd->caller.uid == trigger->uid)
			trigger_list_one(cmd, trigger);
	return CMD_DONE;
}
