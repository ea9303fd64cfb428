/* SPDX-License-Identifier: GPL-2.0-only */
#include "firing.h"


#include "actions.h"
#include "base/realtime.h"
#include "sessiond/state/triggers.h"
#include "watchers.h"

/* Whether an action is due for one of the last @nr firings. */
static bool firing_is_due(const struct trigger *trigger, const struct trigger_action *action,
			  uint64_t nr)
{
	uint64_t last = trigger->fired, first = last - nr + 1;

	if (action->once_after)
		return action->once_after >= first && action->once_after <= last;
	return !action->every || last / action->every > (first - 1) / action->every;
}

static bool firing_run_actions(struct sessiond *sd, struct trigger *trigger,
			       const struct firing *firing, uint64_t nr)
{
	bool any = false;

	for (uint32_t i = 0; i < trigger->nr_actions; i++)
		if (firing_is_due(trigger, &trigger->actions[i], nr)) {
			action_run(sd, trigger, i, firing, nr);
			any = true;
		}
	return any;
}

void firing_happened(struct sessiond *sd, struct trigger *trigger, const struct firing *firing,
		     uint64_t nr)
{
	struct firing nothing = { .at_ns = realtime_ns() };
	uint64_t now_real = firing ? firing->at_ns : nothing.at_ns;
	uint64_t let = trigger_admit(trigger, nr, loop_now_ns(), now_real);

	if (!firing)
		trigger->unrecorded += nr;
	if (let && !firing_run_actions(sd, trigger, firing ? firing : &nothing, let))
		let = 0;
	trigger->delivered += let;
	trigger->suppressed += nr - let;
	state_save_triggers_later(sd);
}

void firing_decided(struct sessiond *sd, struct trigger *trigger, const struct firing *firing)
{
	trigger->fired++;
	trigger->suppressed++;
	(void)!state_save_triggers(sd); /* it is saved again */
	trigger->fired--;
	trigger->suppressed--;
	firing_happened(sd, trigger, firing, 1);
}

void firing_interrupted(struct sessiond *sd, struct trigger *trigger, uint64_t nr)
{
	trigger->fired += nr;
	trigger->suppressed += nr;
	state_save_triggers_later(sd);
}
