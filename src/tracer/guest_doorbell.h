/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * guest_doorbell.h - the futex words that consumers sleep on. One page, shared by
 * all ring sets of an output, is mapped once. Used by guest_buffers.c only, in the
 * helper thread, under guest_lock.
 */
#ifndef TRACER_GUEST_DOORBELL_H
#define TRACER_GUEST_DOORBELL_H

#include <stdint.h>

struct guest_doorbell;

/** Map the page of @fd, or take a reference on it. NULL: no memory, or not a
 *  descriptor of at least a page. */
struct guest_doorbell *guest_doorbell_ref(int fd);
/** NULL is fine. */
void guest_doorbell_unref(struct guest_doorbell *bell);
uint32_t *guest_doorbell_word(struct guest_doorbell *bell);

#endif
