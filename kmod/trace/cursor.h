/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cursor.h - reads the records of one ring in their order, while others are recorded. Part of a
 * merge (merge.h), used by its task. Records are copied in pieces, and each piece is used only if
 * no producer can have reached it by then.
 */
#ifndef KMOD_TRACE_CURSOR_H
#define KMOD_TRACE_CURSOR_H

#include "record.h"
#include "ring.h"

/**
 * struct cursor
 * @consumes: the space of records that were read is returned to the producer.
 * @pos: of the next record; @before: time of the one before it; @count: records before it.
 * @chunk: copied bytes; @room: of that memory; those from @at to @len are at @pos in the ring.
 * @attempts: to find a position since the last record.
 * @head: the next record, in @chunk.
 * @missed: records that were overwritten, or consumed by another one, before they were read here.
 */
struct cursor {
	struct ring_set *set;
	const struct ring *ring;
	u32 cpu;
	bool consumes;
	u64 pos, before, count;
	u8 *chunk;
	u32 room, at, len;
	u32 attempts;
	struct record head;
	u64 missed;
};

/** From the oldest record that the ring still has; with @consumes from the first one of all. The
 *  set must live longer. */
void cursor_init(struct cursor *cursor, struct ring_set *set, u32 cpu, bool consumes);
void cursor_fini(struct cursor *cursor);
/** Look where @from is, which may move on. */
void cursor_follow(struct cursor *cursor, const struct cursor *from);

/** Make @head the next record. Return: 1; 0: none is published; -ENOMEM: it needs more memory than
 *  there is. */
int cursor_load(struct cursor *cursor);
/** Go on behind @head, which must be loaded. */
void cursor_step(struct cursor *cursor);
/** Return the space up to the next record to the producer, if the cursor consumes. */
void cursor_release(const struct cursor *cursor);

#endif
