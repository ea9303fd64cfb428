/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* next.h - libc's functions of the names that libltt defines in their place. */
#ifndef TRACER_AGENT_HOST_NEXT_H
#define TRACER_AGENT_HOST_NEXT_H

/**
 * agent_next() - the function that a function of libltt replaces.
 * @slot: keeps it; NULL at first. Two threads that search at once store the same.
 * @own: libltt's.
 *
 * Preserves errno. Return: NULL if there is none; it is searched for again then.
 */
void *agent_next(void **slot, const char *name, const void *own);

#endif
