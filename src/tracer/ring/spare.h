/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spare.h - memory for records that are too big for the stack. Any thread, any signal handler;
 * errno is preserved.
 */
#ifndef TRACER_RING_SPARE_H
#define TRACER_RING_SPARE_H

/** Its use: an event may do so for several of these at once, and only once for each. */
enum spare_use { SPARE_PAYLOAD, SPARE_RECORD, SPARE_FILTER };

/** Return: memory for LTT_RING_MAX_RECORD bytes and LTT_PAYLOAD_SLACK; NULL: there is none.
 *  It belongs to the caller until spare_release(), or until its thread takes memory for the same
 *  use in a frame that shows that the event was left by siglongjmp(). */
void *spare_take(enum spare_use use);
void spare_release(void *memory);

/** In a forked child: release the buffers that other threads of the parent had taken. */
void spare_after_fork_child(void);

#endif
