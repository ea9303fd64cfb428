/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reclaim.h - memory of a ring's data is given back to the system. Used by the worker of the ring's
 * output, and by threads that it waits for.
 *
 * Either at the release of the records (struct ltt_ring_desc, @gap): until then no producer writes
 * there. Or later, from sub-buffers that are free: a restartable sequence that has seen free space
 * may be about to write there. So the position that the producers heed is lowered, as if these
 * sub-buffers were in use; then the caller runs on the ring's CPU for a moment, so that a sequence
 * which had begun there before starts again; and after the removal the position is restored. Others
 * than restartable sequences of the ring's CPU must not write to such a ring.
 */
#ifndef CONSUMERD_RING_RECLAIM_H
#define CONSUMERD_RING_RECLAIM_H

#include "reader.h"

/** Before the release up to @pos, with reclaim.at_release: remove the pages of these records. */
void reclaim_released(const struct ring_reader *reader, uint64_t pos);

/** The records from @before to reader->released were released now. */
void reclaim_note_release(struct ring_reader *reader, uint64_t before);

/** Whether free sub-buffers have memory, whose records were released @age_ns ago, or longer.
 *  @ret_due_ns: if there are such, but none old enough: when the next one is; else UINT64_MAX. */
bool reclaim_is_due(const struct ring_reader *reader, uint64_t age_ns, uint64_t now,
		    uint64_t *ret_due_ns);

/**
 * reclaim_free() - give the memory of these sub-buffers back.
 * @cpu: the ring's; the thread runs on no other.
 * Return: false: the thread has not run there, or a producer has gone on meanwhile: some of them
 * still have their memory.
 */
bool reclaim_free(struct ring_reader *reader, uint64_t age_ns, uint64_t now, int cpu);

/** The two steps of a removal between @from and the end of the free space, which is far enough in
 *  front of the producer. In between, the consumer may be killed: the next one releases again. */
void reclaim_lower(const struct ring_reader *reader, uint64_t from);
void reclaim_restore(const struct ring_reader *reader);

/** Position up to which the records of a ring were released, also while it is lowered. */
uint64_t reclaim_position(const struct ltt_ring_cons *cons);

#endif
