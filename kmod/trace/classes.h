/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * classes.h - the event of each id in a ring set, and the number of contexts in its records. An
 * event can be disabled, and its records are still there: so an entry stays as long as the ring
 * set. Events that belong to a channel are gone with their probe; copies of their descriptions
 * stay.
 */
#ifndef KMOD_TRACE_CLASSES_H
#define KMOD_TRACE_CLASSES_H

#include <linux/list.h>
#include <linux/xarray.h>

struct event;

/** struct classes - @by_id: struct event; @nr_contexts: by id, too; @copies: those events that are
 *  owned. Written under the channel's lock; read at any time. */
struct classes {
	struct xarray by_id, nr_contexts;
	struct hlist_head copies;
};

void classes_init(struct classes *classes);
void classes_fini(struct classes *classes);
/** Records with @id are of this event, which stays until classes_fini(); of an event with a copy,
 *  the copy, which it takes over. Process context. Return: 0; -EBUSY: there may be records of the
 *  id with other contexts; -ENOMEM. */
int classes_add(struct classes *classes, u32 id, struct event *event, u32 nr_contexts);
/** Return: NULL: no event of this id can be decoded. Any context. */
const struct event *classes_find(const struct classes *classes, u32 id);
/** Of an id that has an event. Any context. */
u32 classes_nr_contexts(const struct classes *classes, u32 id);

/** Set event->copy of an event that belongs to a channel. @description: address in the caller's
 *  memory of its struct ltt_kmod_description; 0: names and forms are those of @event. Return: 0;
 *  -EINVAL: it does not fit; -EFAULT; -ENOMEM. */
int classes_copy(struct event *event, u64 description);
/** Free event->copy, if no ring set has it. */
void classes_uncopy(struct event *event);

#endif
