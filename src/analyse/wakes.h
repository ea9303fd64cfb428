/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wakes.h - each wait for a condition or a semaphore, and the thread that ended it, from the events
 * of `--wrap=pthread`. Owned by an overview.
 *
 * A signal ends the wait that ends first behind it, a broadcast all that have begun. Signals and
 * posts are recorded behind their calls, so that the event of the thread that is woken may come
 * first: then the next one of a thread that has recorded nothing since the end has ended the wait.
 */
#ifndef ANALYSE_WAKES_H
#define ANALYSE_WAKES_H

#include "base/idmap.h"
#include "base/list.h"

#define WAKES_OBJECTS_MOST (1u << 16)
#define WAKES_SIGNALS_MOST 64u	 /* of one object, that have ended no wait yet */
#define WAKES_LATE_MOST 64u	 /* waits for one object, that wait for the event of a signal */
#define WAKES_BLOCKED_NS 100000u /* a shorter call may have found a semaphore free */

struct callchain;
struct callsite;
struct callsites;
struct event;
struct overview_process;
struct overview_thread;

enum wakes_action { WAKES_NONE, WAKES_BEGIN, WAKES_END, WAKES_SIGNAL, WAKES_BROADCAST };

enum wakes_kind { WAKES_CONDITION, WAKES_SEMAPHORE };

/** struct wakes_object - a condition or semaphore of a process. */
struct wakes_object {
	struct idmap_node node;
	struct wakes_object *next;
	const struct overview_process *process;
	struct callsite *place; /* NULL: unknown */
	uint64_t address;
	enum wakes_kind kind;
	/* of wakes.c */
	struct list_node waiting, late;
	uint32_t nr_waiting, nr_late, nr_signals;
	struct {
		const struct overview_thread *thread;
		int64_t ns;
	} signals[WAKES_SIGNALS_MOST];
};

/** struct wakes_wait - @waker: the thread that ended it; NULL: unknown, or none. @timed_out: its
 *  time was over. @lossy: events of the trace were lost meanwhile. */
struct wakes_wait {
	struct list_node node;
	struct wakes_object *object;
	const struct overview_thread *thread, *waker;
	const struct callchain *chain;
	int64_t from_ns, to_ns;
	bool timed_out, lossy;
};

/** Receives each wait that has ended. */
typedef void (*wakes_fn)(void *priv, const struct wakes_wait *wait);

struct wakes;

struct wakes *wakes_new(struct callsites *sites, wakes_fn fn, void *priv);
void wakes_free(struct wakes *wakes);

/** "condition", "semaphore". */
const char *wakes_kind_name(enum wakes_kind kind);
/** The action that events of this name record. */
enum wakes_action wakes_action_of(const char *name);
/** The event is the next one in time of this thread; @before_ns: the time of its last one. */
void wakes_take(struct wakes *wakes, struct overview_thread *thread, enum wakes_action action,
		const struct event *event, int64_t before_ns);
/** After the last event: waits that have ended, but whose signal may have come later. */
void wakes_end(struct wakes *wakes);

#endif
