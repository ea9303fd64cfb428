// SPDX-License-Identifier: GPL-2.0-only
#include "claim.h"

#include <linux/rcupdate.h>
#include <linux/sched/signal.h>

void claim_init(struct claim *claim)
{
	*claim = (struct claim){};
	spin_lock_init(&claim->lock);
}

static bool is_ending(struct pid *process)
{
	const struct task_struct *task;
	bool ends;

	rcu_read_lock();
	task = pid_task(process, PIDTYPE_TGID);
	ends = !task || READ_ONCE(task->signal->flags) & SIGNAL_GROUP_EXIT;
	rcu_read_unlock();
	return ends;
}

static void claim_clear(struct claim *claim)
{
	put_pid(claim->process);
	claim->process = NULL;
	claim->by = NULL;
	claim->nr = 0;
}

int claim_take(struct claim *claim, const void *by, struct pid *process)
{
	int ret = 0;

	spin_lock(&claim->lock);
	if (claim->by != by && claim->process && is_ending(claim->process))
		claim_clear(claim);
	if (!claim->by) {
		claim->by = by;
		claim->process = get_pid(process);
	}
	if (claim->by == by)
		claim->nr++;
	else
		ret = -EBUSY;
	spin_unlock(&claim->lock);
	return ret;
}

void claim_drop(struct claim *claim, const void *by)
{
	spin_lock(&claim->lock);
	if (claim->by == by && !--claim->nr)
		claim_clear(claim);
	spin_unlock(&claim->lock);
}
