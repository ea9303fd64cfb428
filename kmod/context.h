/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * context.h - facts about the current task, or its CPU, that can be recorded with every event of
 * a channel. Read wherever events are recorded, NMIs included.
 */
#ifndef KMOD_CONTEXT_H
#define KMOD_CONTEXT_H

#include "event.h"
#include "ltt_kmod.h"

#define CONTEXTS_MAX LTT_KMOD_CONTEXTS_MAX

struct counters;

/**
 * struct contexts - the contexts of a ring set, in the order of the record, before the
 * payload. Changed only while nothing is recorded.
 * @bytes: of those whose size is fixed.
 * @counters: of those that are counted.
 * @gathered: memory for those that have to be there before the record has its room; or NULL.
 */
struct contexts {
	u32 bytes;
	u32 nr;
	u8 which[CONTEXTS_MAX];
	struct counters *counters[CONTEXTS_MAX];
	struct gathering __percpu *gathered;
};

/** struct gathered - the gathered values for one record. */
struct gathered;

/** Return: NULL after the last one there is. */
const struct field *context_field(u32 index);
/** Return: 0; -ENOENT, -EEXIST, -ENOSPC; the error of perf for a counter. */
int contexts_add(struct contexts *contexts, const struct ltt_kmod_context *asked);
void contexts_fini(struct contexts *contexts);

/** If contexts->gathered is set: before a record gets its room, on its CPU. Return: for
 *  contexts_put(), then contexts_release(); NULL: too many interrupted each other. */
struct gathered *contexts_gather(const struct contexts *contexts);
void contexts_release(const struct contexts *contexts);
/** Return: bytes that contexts_put() fills. */
u32 contexts_bytes(const struct contexts *contexts, const struct gathered *gathered);
void contexts_put(const struct contexts *contexts, const struct gathered *gathered, u8 *to);

#endif
