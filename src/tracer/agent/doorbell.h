/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * doorbell.h - the futex words that consumers sleep on. One page, shared by
 * all ring sets of an output, is mapped once. Used by buffers.c only, in the
 * helper thread, under agent_lock.
 */
#ifndef TRACER_AGENT_DOORBELL_H
#define TRACER_AGENT_DOORBELL_H

#include <stdint.h>

struct agent_doorbell;

/** Map the page of @fd, or take a reference on it. NULL: no memory, or the descriptor is smaller
 * than a page. */
struct agent_doorbell *agent_doorbell_ref(int fd);
/** NULL is allowed. */
void agent_doorbell_unref(struct agent_doorbell *doorbell);
uint32_t *agent_doorbell_word(struct agent_doorbell *doorbell);

#endif
