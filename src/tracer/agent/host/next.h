/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* next.h - libc's functions of the names that libltt defines in their place. */
#ifndef TRACER_AGENT_HOST_NEXT_H
#define TRACER_AGENT_HOST_NEXT_H

#include <stdbool.h>

#include "tables.h"

/**
 * struct next_scope - the objects that the dynamic linker searches, up to libc.
 * @own: the one of libltt; @nr: 0 where the order of the search is not known.
 */
struct next_scope {
	unsigned int nr, own;
	struct tables objects[32];
};

/**
 * agent_next_begin() - until agent_next_end() the calling thread finds functions by these tables,
 * for a third of the instructions of dlsym(): when a program starts, as nothing is unloaded then.
 */
void agent_next_begin(struct next_scope *scope);
void agent_next_end(void);

/**
 * agent_next() - the function that a function of libltt replaces.
 * @slot: keeps it; NULL at first. Two threads that search at once store the same.
 * @own: libltt's.
 *
 * Preserves errno. Return: NULL if there is none; it is searched for again then.
 */
void *agent_next(void **slot, const char *name, const void *own);

/** Between agent_next_begin() and agent_next_end(): whether it is certain that no object in front
 *  of libltt's defines the function. */
bool agent_next_is_behind(const char *name);

#endif
