/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wait.c - waits until a change is in force. The kernel answers at once; the consumer takes
 * time, as it creates buffers and writes metadata, and so does the transfer of many events. A
 * wait ends after one second without progress.
 */
#include "wait.h"

#include "base/mem.h"
#include "session.h"

#define LATE_AFTER_US 1000000u

static void kernel_wait_finish(struct kernel_wait *wait)
{
	struct kernel_session *ks = wait->ks;
	domain_done done = wait->done;
	void *data = wait->data;

	loop_timer_cancel(&wait->late);
	list_remove(&wait->node);
	free(wait);
	done(data, 0, 0, ks->rec.problem.code ? &ks->rec.problem : NULL);
}

static void kernel_wait_on_timeout(struct loop_timer *timer)
{
	kernel_wait_finish(container_of(timer, struct kernel_wait, late));
}

void kernel_wait_new(struct kernel_session *ks, domain_done done, void *data)
{
	struct kernel_wait *wait = xalloc(sizeof(*wait));

	wait->ks = ks;
	wait->done = done;
	wait->data = data;
	loop_timer_init(&wait->late, ks->rec.recorder->config.loop, kernel_wait_on_timeout);
	loop_timer_set(&wait->late, LATE_AFTER_US);
	list_append(&ks->waits, &wait->node);
}

void kernel_waits_extend(struct kernel_session *ks)
{
	struct kernel_wait *wait;

	list_for_each(wait, &ks->waits, node)
		loop_timer_set(&wait->late, LATE_AFTER_US);
}

/* The callback may free anything, the session too: so it is called from timers. */
void kernel_waits_finish(struct kernel_session *ks)
{
	struct kernel_wait *wait;

	list_for_each(wait, &ks->waits, node)
		loop_timer_set(&wait->late, 0);
}
