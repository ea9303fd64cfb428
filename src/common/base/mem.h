/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mem.h - small allocations of daemons and tools. A failure ends the process with
 * a message: the process can be restarted at any time without loss. Callers must
 * limit sizes that a peer influences. Not for the tracer.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include "macros.h"

void *xalloc(size_t size); /* zeroed */
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s);
char *xasprintf(const char *fmt, ...) PRINTF(1, 2);

/** mem_on_exhausted() - have @fn called instead, by any thread; it must not return. */
void mem_on_exhausted(void (*fn)(void));

#endif
