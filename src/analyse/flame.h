/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flame.h - the stacks of a trace (stacks.h), of one kind: calls of functions, call stacks that
 * events have as a context, waits and allocations by the calls that led to them. Owned by one
 * reader; memory is bounded.
 */
#ifndef ANALYSE_FLAME_H
#define ANALYSE_FLAME_H

#include "base/idmap.h"
#include "calls.h"
#include "overview.h"
#include "stacks.h"

/** In the order in which they are tried. */
enum flame_kind {
	FLAME_FUNCTIONS, /* --wrap=cyg-profile: time in functions, without those that they call */
	FLAME_SAMPLES,	 /* record --sample: time on a CPU */
	FLAME_KERNEL_STACKS, /* context callstack-kernel: events */
	FLAME_USER_STACKS,   /* context callstack-user: events */
	FLAME_WAITS,	     /* --wrap=pthread: time of waits for locks and others */
	FLAME_MEMORY,	     /* --wrap=libc: bytes that were allocated */
	FLAME_NR,
	FLAME_ANY = FLAME_NR, /* the first one that the trace has */
};

#define FLAME_SAMPLED "cpu_sample_*" /* events */
#define FLAME_CLASSES 64u		/* that are known at a time */
#define FLAME_ADDRESSES_MOST (1u << 18) /* of the contexts; others have no name */

/** A class of events, whose name is read once. @sample_ns: the time between two of its samples; 0:
 *  it has none. */
struct flame_class {
	const struct ctf_event_class *ec;
	bool is_function;
	uint64_t sample_ns;
};

/**
 * struct flame
 * @threads: patterns of the user; NULL: all.
 * @calls, @overview: NULL: not needed for the kind.
 */
struct flame {
	enum flame_kind kind;
	const char *threads;
	struct calls *calls;
	struct overview *overview;
	/* of flame.c */
	bool is_beside;
	struct objects *objects;
	const struct view_host *host;
	struct task_names names;
	struct stacks *of_context[FLAME_NR]; /* of samples and the two contexts */
	bool seen[FLAME_NR];
	struct flame_class classes[FLAME_CLASSES];
	struct idmap addresses_map;
	struct flame_address *addresses;
	uint32_t nr_addresses;
	const struct stacks_frame **frames; /* of one stack, the outermost one first */
	uint32_t nr, size;
};

/** @objects, @host: to name addresses; they outlive it. @threads: as in view_select, whose own must
 *  be NULL: other threads hold locks. */
struct flame *flame_new(enum flame_kind kind, struct objects *objects, const struct view_host *host,
			const char *threads);
/** flame_new_beside() - of all kinds that the traces of a view declare. Waits and memory are those
 *  of @overview, which its owner fills and ends; it outlives this. */
struct flame *flame_new_beside(struct overview *overview, const struct view *view,
			       struct objects *objects, const struct view_host *host);
void flame_free(struct flame *flame);
/** Whether it takes contexts of events. */
bool flame_has_contexts(const struct flame *flame);
/** Whether the traces of a view declare functions or call stacks, which the objects name. */
bool flame_needs_objects(const struct view *view);

/** "functions", "kernel-stacks", "user-stacks", "waits", "memory". */
const char *flame_name(enum flame_kind kind);
/** The unit of the values: "ns", "events", "bytes". */
const char *flame_unit(enum flame_kind kind);
/** The names of the events that are needed, as in view_select; NULL: all. */
const char *flame_events(enum flame_kind kind);

/** The event is the next one in time. */
void flame_take(struct flame *flame, const struct event *event);
/** Whether events of a wanted kind have been seen. */
bool flame_has(const struct flame *flame, enum flame_kind kind);
/** flame_samples() - the stacks of samples so far; NULL: there are none. */
const struct stacks *flame_samples(const struct flame *flame);
/** flame_end() - after the last event. */
void flame_end(struct flame *flame);
/** flame_stacks() - once for each kind that it has, after flame_end(): the stacks, sorted. */
struct stacks *flame_stacks(struct flame *flame, enum flame_kind kind);
/** flame_finish() - in place of both. @ret: stacks of the kind, or of the first one that has
 *  any, sorted. Return: the kind; FLAME_NR: there are no stacks, and @ret is untouched. */
enum flame_kind flame_finish(struct flame *flame, struct stacks **ret);

#endif
