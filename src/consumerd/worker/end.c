/* SPDX-License-Identifier: GPL-2.0-only */
/* end.c - all that there is goes out, for now or for good; runs in the worker's thread. */
#include "priv.h"

#include <poll.h>
#include <stdbool.h>

#include "consumerd/now.h"

#define RELAY_TIMEOUT_NS 1200000000ull
#define RELAY_PAUSE_MS 60
#define DRAIN_TIMEOUT_NS 10000000000ull /* while a relay that is back takes something */

static void report_failure(struct worker *w, const char *what, struct err *err)
{
	char text[WORKER_TEXT_BYTES];
	const char *limit = worker_limit_text(w, text);

	if (w->failing && *limit)
		err_set(err, ERR_OUTPUT, "%s: %s", what, limit);
	else if (w->failing)
		err_errno(err, ERR_OUTPUT, w->failing, "%s", what);
}

/* Once is enough for all sets. */
static void drain_kernel(const struct worker *w)
{
	struct ringset *set;

	list_for_each(set, &w->sets, node)
		if (set->module >= 0) {
			ringset_drain(set);
			return;
		}
}

/* A relay that has just been started again, or a line that was cut, gets another chance
 * before anybody is told that it failed. */
static void wait_for_output(struct worker *w)
{
	uint64_t end = now_ns() + RELAY_TIMEOUT_NS;

	while (w->sink->ops->recovers && w->failing && now_ns() < end) {
		poll(NULL, 0, RELAY_PAUSE_MS);
		worker_cut_all(w, STREAM_TAKE_LOSSES);
	}
}

void worker_flush(struct worker *w, struct job *job)
{
	w->awaited = true;
	drain_kernel(w);
	worker_cut_all(w, STREAM_TAKE_LOSSES);
	wait_for_output(w);
	/* what was between its look at the state and its commit when the rings
	 * were switched off has arrived by now */
	worker_cut_all(w, STREAM_TAKE_LOSSES);
	worker_wait_for_drain(w, RELAY_TIMEOUT_NS, 2 * RELAY_TIMEOUT_NS);
	w->awaited = false;
	if (!w->failing)
		worker_sync(w);
	report_failure(w, "the trace could not be written", &job->err);
}

static void give_up_jobs(struct worker *w, struct list_node *jobs, const char *what)
{
	struct job *job, *tmp;

	list_for_each_safe(job, tmp, jobs, node) {
		list_remove(&job->node);
		err_errno(&job->err, ERR_OUTPUT, w->failing, "%s", what);
		job_queue_push(w->config.done, job);
	}
}

static void end_sets(struct worker *w, bool leave)
{
	struct ringset *set, *tmp;

	list_for_each_safe(set, tmp, &w->sets, node) {
		notifier_remove(&w->notifier, set);
		(leave ? ringset_leave : ringset_free)(set);
	}
}

void worker_end(struct worker *w, struct job *job)
{
	struct tracedir *dir, *tmp;

	w->awaited = true;
	worker_cut_all(w, STREAM_TAKE_LOSSES);
	if (!job->leave) {
		wait_for_output(w);
		worker_wait_for_drain(w, RELAY_TIMEOUT_NS, DRAIN_TIMEOUT_NS);
	}
	sink_prepare_end(w->sink, w->failing);
	if (w->failing && !job->leave)
		list_for_each(dir, &w->traces, node)
			tracedir_release(dir);
	end_sets(w, job->leave);
	report_failure(w, "the end of the trace could not be written", &job->err);
	give_up_jobs(w, &w->delayed, "the metadata could not be written");
	give_up_jobs(w, &w->closing, "the relay has not got all of the trace");
	sink_finish(w->sink, job->leave ? SINK_LEFT : SINK_ENDED, &job->err);
	list_for_each_safe(dir, tmp, &w->traces, node)
		tracedir_free(dir);
	w->ended = true;
}
