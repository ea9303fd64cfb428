/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * counts.h - the memory for counters that daemons have sent to this process (abi/ltt_counts.h),
 * and the point of each counter.
 *
 * The same rules as for ring sets (buffers.h): changed by the helper thread only, under
 * agent_lock; repeated messages confirm the memory, and unconfirmed memory is dropped.
 */
#ifndef TRACER_AGENT_COUNTS_H
#define TRACER_AGENT_COUNTS_H

#include <stdint.h>

struct msg_app_counting;
struct msg_app_counts;

/** Map memory, or confirm an existing mapping. @m: its descriptor stays the caller's.
 *  Return: 0 or a negative errno. */
int agent_counts_add(unsigned int link, uint32_t round, const struct msg_app_counts *m);

/** Count a point, or count it with another filter. Unknown memory, points and fields are skipped.
 *  @preparation: its filter (prepare.h); the counter takes another reference. */
void agent_count(unsigned int link, uint32_t round, const struct msg_app_counting *m,
		 uint32_t preparation);
void agent_uncount(unsigned int link, const struct msg_app_counting *m);
void agent_counts_drop(unsigned int link, uint64_t counts);

/** Drop memory that was not confirmed in round @round. */
void agent_counts_sweep(unsigned int link, uint32_t round);
/** Drop all memory of a link, as its daemon does not know it any more. */
void agent_counts_forget(unsigned int link);

/** Wait for all threads that still count there, then unmap the memory; if some still do after a
 *  moment, the next call unmaps it. Called by the helper thread without agent_lock. */
void agent_counts_reap(void);

/** A trigger was removed: agent_counts_reap() has a filter to free. */
void agent_counts_unhooked(void);

void agent_counts_after_fork_child(void);

#endif
