/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "traces.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <ltt/trace.h>

#include "tracer/ring/ring.h"

#define RETIRED_MOST 16u

/* Constant, but for `events`. The texts are the buffers', which outlive each list in use. */
struct agent_trace_list {
	struct agent_trace_list *next; /* of those that are not in use */
	uint32_t nr;
	struct agent_trace traces[];
};

struct watcher {
	void (*changed)(void *data);
	void *data;
};

static struct agent_trace_list *list; /* NULL: no trace */
static struct agent_trace_list *retired;
static uint32_t nr_retired;
static uint32_t changes, reported;

/* Held while functions are called. A function may register others, or fork. It is taken before
 * agent_lock. */
static pthread_mutex_t watchers_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct watcher watchers[LTT_TRACES_WATCHERS_MAX];

/* --- the list ---------------------------------------------------------------- */

static bool is_same_trace(const struct agent_trace *a, const struct agent_trace *b)
{
	return a->set == b->set && a->session == b->session && a->channel == b->channel &&
	       a->filtered == b->filtered && a->is_private == b->is_private;
}

/* Update the numbers of events, if they are all that differs. */
static bool update_events(const struct agent_trace *traces, uint32_t nr)
{
	if ((list ? list->nr : 0) != nr)
		return false;
	for (uint32_t i = 0; i < nr; i++)
		if (!is_same_trace(&list->traces[i], &traces[i]))
			return false;
	for (uint32_t i = 0; i < nr; i++)
		__atomic_store_n(&list->traces[i].events, traces[i].events, __ATOMIC_RELAXED);
	return true;
}

bool agent_traces_replace(const struct agent_trace *traces, uint32_t nr)
{
	struct agent_trace_list *next = NULL, *old = list;

	if (update_events(traces, nr))
		return false;
	if (nr)
		next = malloc(sizeof(*next) + nr * sizeof(*traces));
	if (next) {
		next->nr = nr;
		memcpy(next->traces, traces, nr * sizeof(*traces));
	}
	__atomic_store_n(&list, next, __ATOMIC_RELEASE);
	changes++;
	if (!old)
		return false;
	old->next = retired;
	retired = old;
	return ++nr_retired > RETIRED_MOST;
}

struct agent_trace_list *agent_traces_retired(void)
{
	struct agent_trace_list *all = retired;

	retired = NULL;
	nr_retired = 0;
	return all;
}

void agent_traces_retire(struct agent_trace_list *all)
{
	while (all) {
		struct agent_trace_list *next = all->next;

		all->next = retired;
		retired = all;
		nr_retired++;
		all = next;
	}
}

void agent_traces_free(struct agent_trace_list *all)
{
	while (all) {
		struct agent_trace_list *next = all->next;

		free(all);
		all = next;
	}
}

/* --- read by the program -------------------------------------------------------- */

static void trace_copy_name(char ret[LTT_TRACE_NAME_MAX + 1], const char *name)
{
	size_t len = strnlen(name, LTT_TRACE_NAME_MAX);

	memcpy(ret, name, len);
	ret[len] = '\0';
}

static void trace_fill(struct ltt_trace_info *ret, const struct agent_trace *trace,
		       const struct ring_facts *facts)
{
	*ret = (struct ltt_trace_info){
		.size = sizeof(*ret),
		.flags = (trace->filtered ? LTT_TRACE_FILTERED : 0) |
			 (facts->overwrite ? LTT_TRACE_OVERWRITE : 0) |
			 (trace->is_private ? LTT_TRACE_PRIVATE : 0) |
			 (facts->on ? LTT_TRACE_ON : 0),
		.session_id = trace->session_id,
		.buffer = trace->ring,
		.events = __atomic_load_n(&trace->events, __ATOMIC_RELAXED),
		.nr_rings = facts->nr_rings,
		.num_subbuf = facts->num_subbuf,
		.subbuf_size = facts->subbuf_size,
	};
	trace_copy_name(ret->session, trace->session);
	trace_copy_name(ret->channel, trace->channel);
}

int ltt_traces_in(void *info, size_t size, unsigned int max)
{
	unsigned int token = reader_enter_in(__builtin_frame_address(0));
	const struct agent_trace_list *now = __atomic_load_n(&list, __ATOMIC_ACQUIRE);
	struct ltt_trace_info entry;
	struct ring_facts facts;
	unsigned int nr = 0;

	for (uint32_t i = 0; now && i < now->nr; i++) {
		if (!ring_set_facts(now->traces[i].set, &facts))
			continue;
		if (nr < max) {
			trace_fill(&entry, &now->traces[i], &facts);
			memcpy((char *)info + nr * size, &entry,
			       size < sizeof(entry) ? size : sizeof(entry));
		}
		nr++;
	}
	reader_exit(token);
	return (int)nr;
}

static __attribute__((noinline)) int switch_all(bool all)
{
	unsigned int token = reader_enter_in(__builtin_frame_address(0));
	const struct agent_trace_list *now = __atomic_load_n(&list, __ATOMIC_ACQUIRE);
	int nr = 0;

	for (uint32_t i = 0; now && i < now->nr; i++)
		nr += ring_set_switch(now->traces[i].set, all);
	reader_exit(token);
	return nr;
}

int ltt_switch(int which)
{
	if (which != LTT_SWITCH_THREAD && which != LTT_SWITCH_PROCESS)
		return -EINVAL;
	if (!__atomic_load_n(&list, __ATOMIC_RELAXED))
		return 0;
	return switch_all(which == LTT_SWITCH_PROCESS);
}

/* --- functions that are called ----------------------------------------------------- */

static struct watcher *find_watcher(void (*changed)(void *data), const void *data)
{
	for (size_t i = 0; i < LTT_TRACES_WATCHERS_MAX; i++)
		if (watchers[i].changed == changed && (!changed || watchers[i].data == data))
			return &watchers[i];
	return NULL;
}

int ltt_traces_watch(void (*changed)(void *data), void *data)
{
	struct watcher *place;
	int err = changed ? 0 : -EINVAL;

	agent_traces_lock();
	if (!err && find_watcher(changed, data))
		err = -EEXIST;
	place = find_watcher(NULL, NULL);
	if (!err && !place)
		err = -ENOSPC;
	if (!err)
		*place = (struct watcher){ changed, data };
	agent_traces_unlock();
	return err;
}

int ltt_traces_unwatch(void (*changed)(void *data), void *data)
{
	struct watcher *place;

	agent_traces_lock();
	place = changed ? find_watcher(changed, data) : NULL;
	if (place)
		*place = (struct watcher){ NULL, NULL };
	agent_traces_unlock();
	return place ? 0 : -ENOENT;
}

void agent_traces_report(void)
{
	if (reported == changes)
		return;
	reported = changes;
	agent_traces_lock();
	for (size_t i = 0; i < LTT_TRACES_WATCHERS_MAX; i++)
		if (watchers[i].changed)
			watchers[i].changed(watchers[i].data);
	agent_traces_unlock();
}

void agent_traces_lock(void)
{
	pthread_mutex_lock(&watchers_lock);
}

void agent_traces_unlock(void)
{
	pthread_mutex_unlock(&watchers_lock);
}

void agent_traces_after_fork_child(void)
{
	watchers_lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}
