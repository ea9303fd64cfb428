/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bind.h - from a type as it is written to the type of one use of it. The
 * meaning of a reference such as `_len` or `stream.event.header.id` depends on where the
 * type is used, so each use gets its own copy of whatever holds references, and the
 * field that is referred to gets a slot in which its value is kept.
 */
#ifndef VIEW_TSDL_BIND_H
#define VIEW_TSDL_BIND_H

#include "parser.h"

/* Scopes, in the order in which they are read. */
enum root {
	ROOT_PACKET_HEADER,
	ROOT_PACKET_CONTEXT,
	ROOT_EVENT_HEADER,
	ROOT_STREAM_EVENT_CONTEXT,
	ROOT_EVENT_CONTEXT,
	ROOT_FIELDS,
	NR_ROOTS
};

/* Slots below this are for fields that belong to all events of a stream; each
 * event's own fields share the rest with the other events'. */
#define OUTER_SLOTS 256u

/**
 * struct binder - a place in a trace where types are bound; copied where it forks
 * (into streams, into events).
 * @open: structs around the one that is being copied, outermost first.
 * @root: the scope that they are in.
 * @next_outer, @next_inner: slots that are free, of the stream's and of an event's fields.
 */
struct binder {
	struct tsdl *p;
	const struct ctf_type *roots[NR_ROOTS];
	struct ctf_type *open[TSDL_MAX_NESTING + 2];
	uint32_t nr_open;
	enum root root;
	uint32_t *next_outer;
	uint32_t next_inner;
};

/** Replace the type of a scope by a bound one; NULL is none. Return: 0, or as tsdl_fail(). */
int tsdl_bind_root(struct binder *binder, enum root root, const struct ctf_type **type);
/** Keep the value of a field of this scope. Return: 0, or as tsdl_fail(). */
int tsdl_give_slot(struct binder *binder, enum root root, struct ctf_field *field);

#endif
