/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * counts.h - the memory for counters that daemons have sent to this process (abi/ltt_counts.h),
 * and the point of each counter.
 *
 * The same rules as of ring sets (buffers.h): changed by the helper thread
 * alone, under agent_lock; repeated messages confirm it, and unconfirmed memory is swept.
 */
#ifndef TRACER_AGENT_COUNTS_H
#define TRACER_AGENT_COUNTS_H

#include <stdint.h>

struct msg_app_counting;
struct msg_app_counts;

/** Map memory, or confirm what is mapped. @m: its descriptor stays the caller's.
 *  Return: 0 or a negative errno. */
int agent_counts_add(unsigned int link, uint32_t round, const struct msg_app_counts *m);

/** Count a point. Unknown memory, points and fields are skipped. */
void agent_count(unsigned int link, uint32_t round, const struct msg_app_counting *m);
void agent_uncount(unsigned int link, const struct msg_app_counting *m);
void agent_counts_drop(unsigned int link, uint64_t counts);

/** Drop those that round @round has not confirmed. */
void agent_counts_sweep(unsigned int link, uint32_t round);
/** Drop everything of a link: its daemon has no record of it any more. */
void agent_counts_forget(unsigned int link);

/** Wait for all threads that still count there, then unmap the memory. Called by the helper
 *  thread without agent_lock. */
void agent_counts_reap(void);

void agent_counts_after_fork_child(void);

#endif
