/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bind.h - resolves the references in a declared type for one place where the type is used. The
 * meaning of a reference like `_len` or `stream.event.header.id` depends on that place, so each
 * gets a copy of all compound types; and the field that is referred to gets a slot, in which its
 * value is stored during decoding.
 */
#ifndef READ_MODEL_BIND_H
#define READ_MODEL_BIND_H

#include "model.h"

/* CTF's dynamic scopes, in the order in which they are read. */
enum root {
	ROOT_PACKET_HEADER,
	ROOT_PACKET_CONTEXT,
	ROOT_EVENT_HEADER,
	ROOT_STREAM_EVENT_CONTEXT,
	ROOT_EVENT_CONTEXT,
	ROOT_FIELDS,
	NR_ROOTS
};

/* Slots below this are for scopes that all events of a stream have; the others are for the context
 * and the fields of an event, and every event class reuses them. */
#define OUTER_SLOTS 256u

/**
 * struct binder - the context in which types are bound; copied for each stream class and
 * event class.
 * @open: structs that contain the one that is being copied, outermost first.
 * @depth: of the type that is being copied.
 * @root: the scope of @open.
 * @next_outer, @next_inner: next free slots, below and above OUTER_SLOTS.
 * @sc: of the scopes but the packet header; NULL: of that.
 */
struct binder {
	struct model *m;
	const struct ctf_type *roots[NR_ROOTS];
	struct ctf_type *open[MODEL_MAX_NESTING + 2];
	uint32_t nr_open;
	uint32_t depth;
	enum root root;
	uint32_t *next_outer;
	uint32_t next_inner;
	struct ctf_stream_class *sc;
};

/** Replace the type of a scope by a bound one; *@type NULL: no such scope. Return: 0, or negative
 *  after model_fail(). */
int model_bind_root(struct binder *binder, enum root root, const struct ctf_type **type);
/** Assign a slot to a field of this scope. Return: 0, or negative after model_fail(). */
int model_give_slot(struct binder *binder, enum root root, struct ctf_field *field);

#endif
