/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fired.h - the memory for triggers that daemons have sent to this process (abi/ltt_fired.h), and
 * the points that each trigger watches.
 *
 * The same rules as for ring sets (buffers.h): changed by the helper thread only, under agent_lock;
 * repeated messages confirm the memory and the points, and unconfirmed ones are dropped.
 */
#ifndef TRACER_AGENT_FIRED_H
#define TRACER_AGENT_FIRED_H

#include <stdint.h>

/** Drop memory and triggers that were not confirmed in round @round. */
void agent_fired_sweep(unsigned int link, uint32_t round);
/** Drop all memory of a link, as its daemon does not know it any more. */
void agent_fired_forget(unsigned int link);

#endif
