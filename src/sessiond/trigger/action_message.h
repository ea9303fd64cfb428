/* SPDX-License-Identifier: GPL-2.0-only */
/* action_message.h - an action of a trigger as a message: of clients, and of the saved state. */
#ifndef SESSIOND_TRIGGER_ACTION_MESSAGE_H
#define SESSIOND_TRIGGER_ACTION_MESSAGE_H

#include "proto/client.h"
#include "sessiond/core/trigger.h"

/** Texts are borrowed. */
static inline struct msg_trigger_action action_to_message(const struct trigger_action *action)
{
	return (struct msg_trigger_action){
		.ran = action->ran,
		.failed = action->failed,
		.joined = action->joined,
		.problem = action->problem,
#define SAVED(type, name, init, doc) .name = (MODEL_WIRE_TYPE(type))action->name,
#include "model/action.def"
	};
}

/** Decode a list; the texts are borrowed. Return: its length; above TRIGGER_MAX_ACTIONS, the others
 *  are skipped. */
static inline uint32_t actions_from_list(struct list list, struct msg_trigger_action *messages,
					 struct action_spec *ret)
{
	struct msg_trigger_action m;
	uint32_t nr = 0;

	while (msg_trigger_action_next(&list, &m)) {
		if (nr < TRIGGER_MAX_ACTIONS) {
			messages[nr] = m;
			ret[nr] = (struct action_spec){
#define ASKED(type, name, init, doc) .name = (MODEL_TYPE_##type)m.name,
#include "model/action.def"
			};
		}
		nr++;
	}
	return nr;
}

#endif
