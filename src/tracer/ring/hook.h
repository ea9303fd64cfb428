/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * hook.h - the listeners at a site.
 *
 * Each site has a table of hooks. A table is never freed while its site
 * exists: it only grows (an outgrown table is kept), so a thread may walk it at
 * any time with no lock. An entry is changed in place, in this order:
 *
 *   remove:  hook->binding = NULL (or ->probe, ->counter); then reader_synchronize(); then
 *            the entry may be reused and the binding freed.
 *   insert or replace:  one store, with release.
 *
 * A ring hook needs no read-side protection, nor does a counter where it is added to in
 * a sequence: `binding` and its target are loaded *inside* the restartable
 * sequence that records, so
 * reader_synchronize() is one membarrier(RSEQ), which restarts every sequence
 * in flight. Probe hooks (callbacks of the program itself), the
 * fallback producer and counters without a sequence run between reader_enter() and reader_exit().
 * Triggers need no protection, as their memory is never freed.
 *
 * ltt_site.only is a copy of the binding of the first hook while there is no other, so that the
 * path of a small event is one step shorter. A thread that finds it NULL walks the table, unless
 * hook_table.only shows that there is one trigger.
 *
 * Changed only under the registry's lock (site.c); read from any thread and
 * from signal handlers.
 */
#ifndef TRACER_RING_HOOK_H
#define TRACER_RING_HOOK_H

#include <stdint.h>

struct keying;
struct ring_set;
struct ltt_probe;
struct trigger;

/**
 * struct binding - a buffer, and the event id in it. Immutable except for ring_binding_stop();
 * replaced as a whole; made by ring_binding(). It is one cache line with the data of the set
 * that a usual record needs, so that the path to the ring is short.
 */
struct binding {
	uint32_t nr_cycles;   /* rings of a set whose clock is the counter, else 0 */
	uint32_t id;          /* event id in that buffer */
	uint64_t payload_end; /* payloads of this size or more do not take the fast path */
	uint64_t stride;      /* from one ring's producer block to the next */
	uint8_t *base;        /* producer block of ring 0 */
	uint64_t data_mask;
	struct ring_set *set;
	uint32_t session;     /* this process's number of the session, never 0 */
	uint32_t nr_given;    /* rings of a set whose clock is read before, else 0 */
	uint32_t nr_words;    /* nr_cycles if a word takes the fast path, else 0 */
	uint32_t preparation; /* before each record (prepare.h), or 0 */
};

#define COUNTER_HITS UINT32_MAX /* no field: hits alone */
#define COUNTER_KEYS 0x80000000u /* plus the index of a keying (emit/keys.h) */

/** The index of the keying; more than KEYS_LAST if the counter has no keys. */
static inline uint32_t counter_keying(uint32_t field)
{
	return field - COUNTER_KEYS;
}

/**
 * struct counter - counts an event, or the values of a field, in memory of the session daemon,
 * which has a part for each CPU and one more for additions outside sequences. Constant except
 * for counter_stop().
 */
struct counter {
	uint64_t *words;   /* the counts in the first CPU's part */
	uint64_t stride;   /* bytes from one part to the next */
	uint32_t nr_cpus;  /* CPUs whose parts sequences may add to */
	uint32_t field;	   /* index of the field, or one of the values above */
	uint32_t nr_parts; /* parts for CPUs, without the additional one */
	const struct keying *keys; /* NULL: one count for all events */
	uint32_t preparation;	   /* that of the hook */
};

/** Sequences that begin later add nothing: all is added to the additional part. */
static inline void counter_stop(struct counter *counter)
{
	__atomic_store_n(&counter->nr_cpus, 0, __ATOMIC_RELAXED);
}

struct hook {
	const struct binding *binding; /* a session's buffer, or NULL */
	struct ltt_probe *probe;       /* an in-process probe, or NULL */
	const struct counter *counter; /* counts the events without recording them, or NULL */
	uint32_t field;                /* counter->field; the counter may be a newer one */
	uint32_t preparation;	       /* of the binding or counter, which may be a newer one */
	uint32_t closed_for;	       /* events with this preparation are skipped (admit.c) */
	/* until this time of the ring's clock; with one load on i386, too */
	uint64_t closed __attribute__((aligned(8)));
	struct trigger *trigger; /* of a trigger (emit/trigger.h), or NULL; never freed */
};

struct hook_table {
	struct hook_table *older; /* the smaller one that it replaced; updated, too */
	uint32_t nr;              /* entries in use or once used */
	uint32_t cap;
	struct trigger *only; /* if a trigger without a filter is the only listener; or NULL */
	struct hook hook[];
};

#endif
