/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * context.h - contexts: facts about the current task, or its CPU, that can be recorded with each
 * event of a channel. They are read in the context of the event, which may be an NMI.
 */
#ifndef KMOD_CONTEXT_H
#define KMOD_CONTEXT_H

#include <linux/percpu.h>

#include "event.h"
#include "ltt_kmod.h"

struct ltt_filter_value;

#define CONTEXTS_MAX LTT_KMOD_CONTEXTS_MAX

struct counters;

/**
 * struct contexts - the contexts of a ring set, in the order of the record, before the
 * payload. They are only ever appended, and a record has the first ones, as many as there were when
 * its event was enabled. Changed under the channel's lock; read at any time, without one.
 * @bytes: of the first ones, by their number: sum of the sizes, of contexts of fixed size.
 * @which: number of each context in the table of context.c.
 * @counters: the perf counter of each context that has one; else NULL.
 * @gathered: memory for values of variable size, which are read before space for the record is
 *            reserved; NULL if there are none.
 */
struct contexts {
	u32 nr;
	u16 bytes[CONTEXTS_MAX + 1];
	u8 which[CONTEXTS_MAX];
	struct counters *counters[CONTEXTS_MAX];
	struct gathering __percpu *gathered;
};

/** struct gathered - values of variable size, read for one record. */
struct gathered;

/** When the module is loaded, before the other functions. */
void context_init(void);
/** The field that context number @index adds to a record. Return: NULL after the last context. */
const struct field *context_field(u32 index);
/** The field of the context number @index of a record, which has it. */
const struct field *contexts_field(const struct contexts *contexts, u32 index);
/** Its name, also if it is a counter's. */
const char *contexts_name(const struct contexts *contexts, u32 index);
/** A context whose value a filter may compare. Return: its number for context_value(); -ENOENT. */
int context_find_value(const char *name);
/** Whether the context number @index has such a value. */
bool context_has_value(u32 index);
/** Read the context's current value, of the current task: an integer or a text. */
void context_value(u8 which, struct ltt_filter_value *ret);
/** Append a context. Return: 0; -ENOENT: it is unknown; -EEXIST: it is there already; -ENOSPC:
 *  there are too many; the error of perf for a counter. */
int contexts_add(struct contexts *contexts, const struct ltt_kmod_context *asked);
void contexts_fini(struct contexts *contexts);

/* @nr: number of contexts of the record. */

/** Read the values of variable size, before space for the record is reserved, on the same CPU. Only
 *  if contexts->gathered is set. Return: argument of contexts_put(), to be freed by
 *  contexts_release(); NULL: too many records interrupt each other on this CPU. */
struct gathered *contexts_gather(const struct contexts *contexts, u32 nr);
void contexts_release(const struct contexts *contexts);
/** The number of bytes that contexts_put() writes. */
u32 contexts_bytes(const struct contexts *contexts, u32 nr, const struct gathered *gathered);
/** Write the contexts of a record to @to. */
void contexts_put(const struct contexts *contexts, u32 nr, const struct gathered *gathered, u8 *to);

#endif
