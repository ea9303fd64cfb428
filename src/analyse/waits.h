/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * waits.h - waits that are not for locks: for conditions, semaphores, barriers, the end of threads
 * and initialisations, by the place of the call, from the events of `--wrap=pthread`. Owned by an
 * overview.
 */
#ifndef ANALYSE_WAITS_H
#define ANALYSE_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"

#define WAITS_SITES_MOST (1u << 16)

struct callchain;
struct callsites;
struct event;
struct overview_thread;

enum waits_kind {
	WAITS_CONDITION,
	WAITS_SEMAPHORE,
	WAITS_BARRIER,
	WAITS_JOIN,
	WAITS_ONCE,
	WAITS_NR_KINDS
};

enum waits_side { WAITS_NONE, WAITS_BEGIN, WAITS_END };

/** struct waits_action - the meaning of an event. */
struct waits_action {
	enum waits_kind kind;
	enum waits_side side;
};

/** struct waits_begun - a wait of a thread. @site: NULL: there is none. */
struct waits_begun {
	struct waits_site *site;
	int64_t from_ns;
};

/**
 * struct waits_site - the waits by one chain of calls. @chain: NULL: unknown.
 * @open: of @calls, those that had not ended. @timed_out: those that ended so.
 * @longest_ns: of one, by @thread from @from_ns on.
 * @lossy: events of the trace were lost during one of them.
 */
struct waits_site {
	struct idmap_node node;
	struct waits_site *next;
	enum waits_kind kind;
	const struct callchain *chain;
	uint64_t calls, open, timed_out, wait_ns, longest_ns;
	const struct overview_thread *thread;
	int64_t from_ns;
	bool lossy;
};

/** struct waits - @calls, @wait_ns: totals. @left_out: waits by chains beyond WAITS_SITES_MOST. */
struct waits {
	struct waits_site *sites;
	uint32_t nr_sites;
	uint64_t calls, wait_ns, left_out;
	struct idmap map;
	struct callsites *callsites;
};

struct waits *waits_new(struct callsites *callsites);
void waits_free(struct waits *waits);

/** The function that waits. */
const char *waits_name(enum waits_kind kind);
/** The meaning of events of this name. */
struct waits_action waits_action_of(const char *name);
/** The event is the next one in time of this thread. */
void waits_take(struct waits *waits, struct overview_thread *thread, struct waits_action action,
		const struct event *event);
/** After the last event, at @ns: waits of this thread that have not ended are those up to here. */
void waits_end(struct waits *waits, struct overview_thread *thread, int64_t ns);
/** The places, sorted by the sum of their waits; allocated. */
const struct waits_site **waits_longest(const struct waits *waits, size_t *ret_nr);

#endif
