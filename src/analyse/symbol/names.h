/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * names.h - finds the addresses among the values of an event, and their names. Owned by one
 * show_trace().
 */
#ifndef ANALYSE_SYMBOL_NAMES_H
#define ANALYSE_SYMBOL_NAMES_H

#include "objects.h"
#include "read/host.h"

/** struct name - of a value @value of the event: of its element @element; -1: it has none. */
struct name {
	const struct value *value;
	int64_t element;
	uint64_t address;
	const struct object *object;
	struct symbol symbol;
};

/** @unknown: events with addresses of a process that has no state dump. */
struct names {
	struct objects *objects;
	const struct view_host *host;
	uint64_t unknown;
};

#define NAMES_MOST 128u /* of one event */

/**
 * names_find() - the addresses of an event that lie in an object: integers shown in base 16.
 * Return: number of names in @ret, which are valid until the next event.
 */
uint32_t names_find(struct names *names, const struct event *event, struct name ret[NAMES_MOST]);

#endif
