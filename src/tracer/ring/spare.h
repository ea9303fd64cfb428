/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spare.h - memory for records that are too big for the stack. Any thread, any signal handler;
 * errno is preserved.
 */
#ifndef TRACER_RING_SPARE_H
#define TRACER_RING_SPARE_H

/** Return: memory for LTT_RING_MAX_RECORD bytes and LTT_PAYLOAD_SLACK; NULL: there is none.
 *  It belongs to the caller until spare_release(). */
void *spare_take(void);
void spare_release(void *memory);

/** In a forked child: release the buffers that other threads of the parent had taken. */
void spare_after_fork_child(void);

#endif
