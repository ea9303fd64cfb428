/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * actions.h - the actions of triggers. Those on sessions are commands of the trigger's owner, with
 * the same rights and checks as a client's. One that still runs is joined, not queued. Owned by
 * the daemon; runs on its loop.
 */
#ifndef SESSIOND_TRIGGER_ACTIONS_H
#define SESSIOND_TRIGGER_ACTIONS_H

#include "sessiond/core/trigger.h"
#include "sessiond/sessiond.h"

/** Run the trigger's action number @index for @nr firings, of which @firing is the last. */
void action_run(struct sessiond *sd, struct trigger *trigger, uint32_t index,
		const struct firing *firing, uint64_t nr);

#endif
