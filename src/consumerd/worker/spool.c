/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spool.c - what a worker with a spool does about its link: sends what waits, asks
 * again after a while, and sees to it that no ring fills up while a relay is mute. Runs in
 * its thread.
 */
#include "priv.h"

#include <errno.h>
#include <poll.h>

#include "consumerd/now.h"

#define DRAIN_NS 20000000u
#define PAUSE_MS 20

static bool any_presses(const struct worker *w)
{
	const struct ringset *set;

	list_for_each(set, &w->sets, node)
		if (ringset_is_half_full(set))
			return true;
	return false;
}

/* What is on its way out of its ring has no copy yet: it has to be given up for that. */
int worker_meanwhile(void *data)
{
	struct worker *w = data;
	struct ringset *set;
	int error = 0; /* the next round has it, too */

	if (!any_presses(w))
		return !job_queue_is_empty(&w->inbox);
	if (w->spool->direct || (uplink_is_posting(w->link) && !w->spool->nr_ahead))
		return -ETIMEDOUT;
	w->spool->filling = w->spool->waited_for = true;
	list_for_each(set, &w->sets, node)
		ringset_cut(set, STREAM_TAKE, false, &error);
	w->spool->waited_for = false;
	return !job_queue_is_empty(&w->inbox);
}

int worker_link_result(struct worker *w, int error)
{
	if (error >= 0 || !w->spool)
		return error;
	spool_link_failed(w->spool, error);
	worker_note_link(w);
	return 0;
}

bool worker_check_link(struct worker *w)
{
	int error = w->link ? uplink_check(w->link) : 0;

	if (worker_link_result(w, error) < 0)
		worker_note(w, -error, "asking the relay");
	return error < 0;
}

static void finish_closing(struct worker *w)
{
	struct job *job, *tmp;

	list_for_each_safe(job, tmp, &w->closing, node) {
		list_remove(&job->node);
		worker_close_trace(w, worker_find_trace(w, job->id));
		job_queue_push(w->config.done, job);
	}
}

bool worker_drain(struct worker *w, uint64_t now)
{
	struct spool *spool = w->spool;
	uint64_t before;
	int ret;

	if (!spool || !spool->filling || (spool->error && now < spool->retry_ns))
		return false;
	before = spool->waiting;
	ret = spool_drain(spool, DRAIN_NS);
	if (ret == 0) {
		worker_look(w); /* what has been missed is to be seen */
		finish_closing(w);
	}
	if (spool->waiting < before) /* there may be room again */
		w->retry_ns = 0;
	worker_note_link(w);
	return ret >= 0;
}

uint64_t worker_drain_due(const struct worker *w)
{
	if (!w->spool || !w->spool->filling)
		return DOORBELL_FOREVER;
	return w->spool->error ? w->spool->retry_ns : 0;
}

void worker_wait_for_drain(struct worker *w, uint64_t patience_ns, uint64_t most_ns)
{
	uint64_t now = now_ns(), end = now + patience_ns, last = now + most_ns;

	while (w->spool && w->spool->filling && now < MIN(end, last)) {
		uint64_t before = w->spool->waiting;

		if (!worker_drain(w, now))
			poll(NULL, 0, PAUSE_MS);
		now = now_ns();
		if (w->spool->waiting < before)
			end = now + patience_ns;
	}
}

uint64_t worker_spooled(const struct worker *w)
{
	return w->spool ? __atomic_load_n(&w->spool->waiting, __ATOMIC_RELAXED) : 0;
}

void worker_clock(const struct worker *w, int64_t *ret_offset_ns, uint64_t *ret_error_ns)
{
	*ret_offset_ns = 0;
	*ret_error_ns = 0;
	if (w->link)
		uplink_clock(w->link, ret_offset_ns, ret_error_ns);
}
