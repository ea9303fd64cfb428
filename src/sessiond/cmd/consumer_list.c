/* SPDX-License-Identifier: GPL-2.0-only */
/* consumer_list: the consumer daemons and their state. */
#include "cmd.h"

enum cmd_now cmd_consumer_list(struct command *cmd, struct req_consumer_list *req,
			       struct rep_consumer_list *rep)
{
	const struct consumer_slot *slot;

	(void)req, (void)rep;
	list_for_each(slot, &cmd->sd->consumers.slots, node) {
		const struct msg_consumer item = {
			.uid = slot->kind == CONSUMER_USER ? slot->user.uid : geteuid(),
			.pid = slot->gone ? 0 : (uint32_t)MAX(consumer_pid(&slot->consumer), 0),
			.silent_ms = consumer_silence(&slot->consumer),
			.sessions = slot->nr_sessions,
			.kernel = slot->kind == CONSUMER_KERNEL,
		};

		if (slot->kind != CONSUMER_OWN && !slot->nr_sessions)
			continue;
		if (slot->kind != CONSUMER_USER || cmd->caller.uid == 0 ||
		    cmd->caller.uid == slot->user.uid)
			item_consumer(cmd, &item);
	}
	return CMD_DONE;
}
