/* SPDX-License-Identifier: GPL-2.0-only */
#include "critical.h"

#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "base/macros.h"
#include "base/mem.h"
#include "read/event.h"
#include "sched.h"

#define CPUS_MOST 8192u
#define HOPS_MOST 16u	/* threads that wait for each other */
#define RIVALS_MOST 16u /* threads that are compared as the one that had a CPU */

/** struct state - of a thread, from this time until its next one. @waker: of CRITICAL_RUNNABLE, the
 *  thread that ran when it was woken; NULL: none, or it was preempted. @in_none: the waker was in
 *  no known call, after @nr_calls events of its calls. */
struct state {
	int64_t from_ns;
	const char *call;
	const struct waiter *waker;
	uint32_t cpu;
	uint8_t kind;
	bool in_none;
	uint32_t nr_calls;
};

/** struct waiter - a thread. @call: NULL: none is known. @nr_calls: events of them. @left_first:
 *  the first one is the end of a call, in which it was until then. @has_ended: it runs no more. */
struct waiter {
	struct critical_thread thread;
	struct idmap_node node;
	struct waiter *next;
	const struct source *source;
	const char *call;
	uint32_t nr_calls;
	bool left_first, has_ended;
	struct state *states;
	uint32_t nr_states;
};

/** struct turn - a thread that got a CPU; NULL: an idle one. */
struct turn {
	int64_t from_ns;
	const struct waiter *waiter;
};

struct critical_cpu {
	struct turn *turns;
	uint32_t nr_turns;
	uint32_t interrupts; /* that have begun */
};

struct critical {
	int64_t from_ns, to_ns;
	struct idmap map;
	struct waiter *waiters;
	struct critical_cpu *cpus;
	uint32_t nr_cpus;
	uint32_t nr_states;	/* and turns */
	bool is_cut, has_calls; /* of any thread */
};

struct critical *critical_new(int64_t from_ns, int64_t to_ns)
{
	struct critical *critical = xalloc(sizeof(*critical));

	critical->from_ns = from_ns;
	critical->to_ns = to_ns;
	idmap_init(&critical->map);
	return critical;
}

void critical_free(struct critical *critical)
{
	struct waiter *waiter;

	if (!critical)
		return;
	idmap_fini(&critical->map);
	while ((waiter = critical->waiters)) {
		critical->waiters = waiter->next;
		free(waiter->states);
		free(waiter);
	}
	for (uint32_t i = 0; i < critical->nr_cpus; i++)
		free(critical->cpus[i].turns);
	free(critical->cpus);
	free(critical);
}

const char *critical_kind_name(enum critical_kind kind)
{
	static const char *const names[] = {
		[CRITICAL_RUNNING] = "running",
		[CRITICAL_RUNNABLE] = "runnable",
		[CRITICAL_ASLEEP] = "asleep",
		[CRITICAL_UNKNOWN] = "unknown",
	};

	return names[kind];
}

/* --- the states of threads ----------------------------------------------------------------- */

static bool may_add(struct critical *critical)
{
	critical->is_cut |= critical->nr_states == CRITICAL_STATES_MOST;
	critical->nr_states += !critical->is_cut;
	return !critical->is_cut;
}

/* Return: NULL: it is an idle thread. */
static struct waiter *waiter_of(struct critical *critical, const struct source *source,
				const struct value *tid)
{
	struct idmap_node *node = tid && tid->u ? idmap_find(&critical->map, tid->u) : NULL;
	struct waiter *waiter;

	for (; node; node = idmap_next(&critical->map, node)) {
		waiter = container_of(node, struct waiter, node);
		if (waiter->source == source)
			return waiter;
	}
	if (!tid || !tid->u || !may_add(critical))
		return NULL;
	waiter = xalloc(sizeof(*waiter));
	waiter->thread.tid = tid->u;
	waiter->source = source;
	waiter->next = critical->waiters;
	critical->waiters = waiter;
	idmap_add(&critical->map, &waiter->node, tid->u);
	return waiter;
}

static void set_name(struct waiter *waiter, const struct value *name)
{
	size_t len = name && value_has_text(name) ? value_text_length(name) : 0;

	if (!waiter || !len)
		return;
	len = MIN(len, (size_t)CRITICAL_NAME_BYTES - 1);
	memcpy(waiter->thread.name, name->bytes, len);
	waiter->thread.name[len] = '\0';
}

/* The thread that recorded the event. */
static struct waiter *recorder_of(struct critical *critical, const struct event *event)
{
	struct waiter *waiter = waiter_of(critical, event->source, event->task.tid);

	if (waiter && event->task.pid && !waiter->thread.has_pid) {
		waiter->thread.pid = event->task.pid->u;
		waiter->thread.has_pid = true;
	}
	if (waiter && !waiter->thread.name[0])
		set_name(waiter, event->task.procname);
	return waiter;
}

static struct state *add_state(struct critical *critical, struct waiter *waiter, int64_t from_ns,
			       enum critical_kind kind)
{
	uint32_t nr = waiter->nr_states;
	struct state *state;

	if (!may_add(critical))
		return NULL;
	if (!(nr & (nr - 1))) /* full at each power of two */
		waiter->states = xrealloc(waiter->states, MAX(2 * nr, 1u) * sizeof(*state));
	state = &waiter->states[waiter->nr_states++];
	*state = (struct state){ .from_ns = from_ns, .kind = (uint8_t)kind, .call = waiter->call };
	return state;
}

/* @before: the state that its first event proves for the time before. */
static struct state *change(struct critical *critical, struct waiter *waiter,
			    const struct event *event, enum critical_kind before,
			    enum critical_kind kind)
{
	if (!waiter->nr_states)
		add_state(critical, waiter, critical->from_ns, before);
	return add_state(critical, waiter, event->ns, kind);
}

static enum critical_kind kind_of(const struct waiter *waiter)
{
	return waiter->nr_states ? (enum critical_kind)waiter->states[waiter->nr_states - 1].kind :
				   CRITICAL_UNKNOWN;
}

static struct critical_cpu *cpu_of(struct critical *critical, const struct event *event)
{
	uint64_t cpu = event->packet->cpu;
	uint32_t nr = critical->nr_cpus;

	if (cpu >= CPUS_MOST)
		return NULL;
	if (cpu >= nr) {
		critical->nr_cpus = (uint32_t)cpu + 1;
		critical->cpus =
			xrealloc(critical->cpus, critical->nr_cpus * sizeof(*critical->cpus));
		memset(critical->cpus + nr, 0, (critical->nr_cpus - nr) * sizeof(*critical->cpus));
	}
	return &critical->cpus[cpu];
}

static void add_turn(struct critical *critical, struct critical_cpu *cpu, int64_t from_ns,
		     const struct waiter *waiter)
{
	uint32_t nr = cpu->nr_turns;

	if (!may_add(critical))
		return;
	if (!(nr & (nr - 1))) /* full at each power of two */
		cpu->turns = xrealloc(cpu->turns, MAX(2 * nr, 1u) * sizeof(*cpu->turns));
	cpu->turns[cpu->nr_turns++] = (struct turn){ from_ns, waiter };
}

static void take_switch(struct critical *critical, const struct event *event,
			const struct sched_action *action)
{
	struct waiter *prev = waiter_of(critical, event->source, action->prev);
	struct waiter *next = waiter_of(critical, event->source, action->next);
	struct critical_cpu *cpu = cpu_of(critical, event);
	struct state *state;

	set_name(prev, value_member(event->fields, "prev_comm"));
	set_name(next, value_member(event->fields, "next_comm"));
	if (prev) {
		change(critical, prev, event, CRITICAL_RUNNING,
		       action->preempted ? CRITICAL_RUNNABLE : CRITICAL_ASLEEP);
		prev->has_ended |= action->dead;
	}
	if (next && (state = change(critical, next, event, CRITICAL_RUNNABLE, CRITICAL_RUNNING)))
		state->cpu = (uint32_t)MIN(event->packet->cpu, (uint64_t)CPUS_MOST);
	if (cpu && !cpu->nr_turns)
		add_turn(critical, cpu, critical->from_ns, prev);
	if (cpu)
		add_turn(critical, cpu, event->ns, next);
}

static bool is_interrupted(struct critical *critical, const struct event *event)
{
	const struct critical_cpu *cpu = cpu_of(critical, event);

	return cpu && cpu->interrupts;
}

static void take_wakeup(struct critical *critical, const struct event *event,
			const struct sched_action *action)
{
	struct waiter *woken = waiter_of(critical, event->source, action->next);
	struct waiter *waker = recorder_of(critical, event);
	struct state *state;

	set_name(woken, value_member(event->fields, "comm"));
	if (!woken || kind_of(woken) == CRITICAL_RUNNING || kind_of(woken) == CRITICAL_RUNNABLE)
		return;
	state = change(critical, woken, event, CRITICAL_ASLEEP, CRITICAL_RUNNABLE);
	if (!state || !waker || waker == woken || is_interrupted(critical, event))
		return;
	state->waker = waker;
	state->in_none = !waker->call;
	state->nr_calls = waker->nr_calls;
	if (!waker->nr_states)
		add_state(critical, waker, critical->from_ns, CRITICAL_RUNNING);
}

/* The first event of its calls that a thread has shows that it was in this one before. */
static void was_in_call(struct waiter *waiter, const char *call)
{
	for (uint32_t i = 0; i < waiter->nr_states; i++)
		waiter->states[i].call = call;
}

/* A change of the call of a thread that runs is one of its state. */
static void take_call(struct critical *critical, const struct event *event, const char *call)
{
	struct waiter *waiter = recorder_of(critical, event);
	struct state *state;
	uint32_t cpu;

	critical->has_calls = true;
	if (!waiter)
		return;
	if (!waiter->nr_states)
		add_state(critical, waiter, critical->from_ns, CRITICAL_RUNNING);
	if (!*call && !waiter->nr_calls) {
		was_in_call(waiter, strstr(event->ec->name, "exit_") + strlen("exit_"));
		waiter->left_first = true;
	}
	waiter->call = *call ? call : NULL;
	waiter->nr_calls++;
	if (!waiter->nr_states || kind_of(waiter) != CRITICAL_RUNNING)
		return;
	cpu = waiter->states[waiter->nr_states - 1].cpu;
	state = add_state(critical, waiter, event->ns, CRITICAL_RUNNING);
	if (state)
		state->cpu = cpu;
}

static void take_interrupt(struct critical *critical, const struct event *event)
{
	struct critical_cpu *cpu = cpu_of(critical, event);
	size_t len = strlen(event->ec->name);

	if (!cpu)
		return;
	if (len > 6 && strcmp(event->ec->name + len - 6, "_entry") == 0)
		cpu->interrupts++;
	else if (cpu->interrupts)
		cpu->interrupts--;
}

void critical_take(struct critical *critical, const struct event *event)
{
	const struct sched_action action = sched_action_of(event);
	const char *call = sched_call_of(event);

	if (action.kind == SCHED_SWITCH)
		take_switch(critical, event, &action);
	else if (action.kind == SCHED_WAKE)
		take_wakeup(critical, event, &action);
	else if (call)
		take_call(critical, event, call);
	else
		take_interrupt(critical, event);
}

/* --- the path ------------------------------------------------------------------------------ */

struct walk {
	const struct critical *critical;
	const struct waiter *first;
	struct critical_path *path;
};

static void add_part(const struct walk *walk, const struct critical_part *part)
{
	struct critical_path *path = walk->path;
	uint32_t i = 0;

	path->ns += part->ns;
	while (i < path->nr_parts &&
	       (path->parts[i].kind != part->kind || path->parts[i].thread != part->thread ||
		path->parts[i].other != part->other ||
		strcmp(path->parts[i].call ?: "", part->call ?: "") != 0 ||
		strcmp(path->parts[i].waited_in ?: "", part->waited_in ?: "") != 0))
		i++;
	if (i < path->nr_parts)
		path->parts[i].ns += part->ns;
	else if (path->nr_parts == CRITICAL_PARTS_MOST)
		path->left_out_ns += part->ns;
	else
		path->parts[path->nr_parts++] = *part;
}

/* The thread that had the CPU most of this time. */
static const struct critical_thread *rival(const struct critical *critical, uint32_t nr,
					   int64_t from_ns, int64_t to_ns)
{
	struct {
		const struct waiter *waiter;
		uint64_t ns;
	} all[RIVALS_MOST], *most = NULL;
	const struct critical_cpu *cpu = nr < critical->nr_cpus ? &critical->cpus[nr] : NULL;
	uint32_t low = 0, high = cpu ? cpu->nr_turns : 0, found = 0;

	while (low < high) { /* the first turn behind the begin */
		uint32_t middle = low + (high - low) / 2;

		if (cpu->turns[middle].from_ns <= from_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (uint32_t i = low ? low - 1 : 0; cpu && i < cpu->nr_turns; i++) {
		const struct turn *turn = &cpu->turns[i];
		int64_t end_ns = i + 1 < cpu->nr_turns ? turn[1].from_ns : critical->to_ns;
		uint32_t j = 0;

		if (turn->from_ns >= to_ns)
			break;
		while (j < found && all[j].waiter != turn->waiter)
			j++;
		if (!turn->waiter || j == RIVALS_MOST)
			continue;
		if (j == found) {
			all[found].waiter = turn->waiter;
			all[found++].ns = 0;
		}
		all[j].ns += event_ns_between(MAX(turn->from_ns, from_ns), MIN(end_ns, to_ns));
	}
	for (uint32_t j = 0; j < found; j++)
		if (!most || all[j].ns > most->ns)
			most = &all[j];
	return most ? &most->waiter->thread : NULL;
}

/* The last state that begins at @ns or before. */
static uint32_t state_at(const struct waiter *waiter, int64_t ns)
{
	uint32_t low = 0, high = waiter->nr_states;

	while (low + 1 < high) {
		uint32_t middle = low + (high - low) / 2;

		if (waiter->states[middle].from_ns <= ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Names of kernel threads have a slash. */
static bool is_kernel(const struct waiter *waiter)
{
	return strchr(waiter->thread.name, '/');
}

/* The thread that ended the state before this one; NULL: an interrupt. A thread of a program wakes
 * others in system calls, and when it ends, after the last one. */
static const struct waiter *waker_of(const struct critical *critical, const struct state *state)
{
	const struct waiter *waker = state->waker;

	if (!waker || !state->in_none || !critical->has_calls || is_kernel(waker))
		return waker;
	if (!state->nr_calls && waker->left_first)
		return waker;
	return waker->has_ended && state->nr_calls == waker->nr_calls ? waker : NULL;
}

static void add_state_part(const struct walk *walk, const struct waiter *waiter,
			   const struct state *state, int64_t from_ns, int64_t to_ns,
			   const char *waited_in)
{
	const struct state *end = waiter->states + waiter->nr_states, *next = state + 1;
	struct critical_part part = {
		.kind = (enum critical_kind)state->kind,
		.thread = &waiter->thread,
		.call = state->call,
		.waited_in = waited_in,
		.ns = event_ns_between(from_ns, to_ns),
	};

	if (state->kind == CRITICAL_ASLEEP && (next == end || waker_of(walk->critical, next)))
		part.kind = CRITICAL_UNKNOWN;
	if (state->kind == CRITICAL_RUNNABLE && next < end)
		part.other = rival(walk->critical, next->cpu, from_ns, to_ns);
	if (part.ns)
		add_part(walk, &part);
}

/* The thread that ended the state, which lasts until @to_ns. */
static const struct waiter *ended_by(const struct walk *walk, const struct waiter *waiter,
				     const struct state *state, int64_t to_ns)
{
	const struct state *next = state + 1;

	if (state->kind != CRITICAL_ASLEEP || next == waiter->states + waiter->nr_states ||
	    next->from_ns > to_ns)
		return NULL;
	return waker_of(walk->critical, next);
}

/* Back from @to_ns, at which the thread woke the first one: where another thread woke it, the path
 * is that one's before. */
static void walk_back(const struct walk *walk, const struct waiter *waiter, int64_t from_ns,
		      int64_t to_ns, const char *waited_in)
{
	unsigned int hops = 0; /* without progress: the events contradict each other */

	while (to_ns > from_ns) {
		const struct state *state = &waiter->states[state_at(waiter, to_ns - 1)];
		const struct waiter *waker = ended_by(walk, waiter, state, to_ns);
		int64_t begin_ns = MIN(MAX(state->from_ns, from_ns), to_ns - 1);

		if (waker && waker != walk->first && waker->nr_states && hops < HOPS_MOST) {
			waiter = waker;
			hops++;
			continue;
		}
		add_state_part(walk, waiter, state, begin_ns, to_ns, waited_in);
		to_ns = begin_ns;
		hops = 0;
	}
}

/* @waiter: the first one. */
static void walk_first(const struct walk *walk, const struct waiter *waiter, int64_t from_ns,
		       int64_t to_ns)
{
	for (uint32_t i = 0; i < waiter->nr_states && waiter->states[i].from_ns < to_ns; i++) {
		const struct state *state = &waiter->states[i];
		bool is_last = i + 1 == waiter->nr_states;
		int64_t begin_ns = MAX(state->from_ns, from_ns);
		int64_t end_ns = is_last ? to_ns : MIN(state[1].from_ns, to_ns);
		const struct waiter *waker = ended_by(walk, waiter, state, end_ns);

		if (waker && waker->nr_states)
			walk_back(walk, waker, begin_ns, end_ns, state->call ?: "");
		else
			add_state_part(walk, waiter, state, begin_ns, end_ns, NULL);
	}
}

static int longer_part(const void *a, const void *b)
{
	uint64_t x = ((const struct critical_part *)a)->ns;
	uint64_t y = ((const struct critical_part *)b)->ns;

	return (x < y) - (x > y);
}

void critical_find(const struct critical *critical, uint64_t tid, struct critical_path *ret)
{
	struct walk walk = { .critical = critical, .path = ret };
	const struct idmap_node *node = idmap_find(&critical->map, tid);
	const struct waiter *waiter = node ? container_of(node, struct waiter, node) : NULL;

	ret->nr_parts = 0;
	ret->ns = ret->left_out_ns = 0;
	ret->is_cut = critical->is_cut;
	if (!waiter)
		return;
	walk.first = waiter;
	walk_first(&walk, waiter, critical->from_ns, critical->to_ns);
	qsort(ret->parts, ret->nr_parts, sizeof(ret->parts[0]), longer_part);
}
