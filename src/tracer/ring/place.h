/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * place.h - address space that ring sets are mapped into; used by the
 * helper thread, which maps and unmaps them.
 *
 * Address space that once held a ring is never unmapped, only covered with an inaccessible
 * mapping and used again. The reason: reader_synchronize() restarts every sequence, but one may
 * be inside the kernel at that moment, in a page fault of a record's load or store. It restarts
 * when it returns; until then the kernel needs memory at that address, and kills the process if
 * there is none. So there always is some; its content is not used.
 */
#ifndef TRACER_RING_PLACE_H
#define TRACER_RING_PLACE_H

#include <stddef.h>

/**
 * ring_place_take() - address space of @bytes or more.
 * Its first page can be written and is zero. The rest is for MAP_FIXED.
 * Return: the place, or NULL; its real size in @ret_bytes.
 */
void *ring_place_take(size_t bytes, size_t *ret_bytes);

/** Remove the mappings there; @bytes as for ring_place_take(). */
void ring_place_give(void *place, size_t bytes);

/** In the child after fork: the other threads of the parent do not exist. */
void ring_place_after_fork_child(void);

#endif
