/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * classes.h - the event of each id in a ring set. An event can be disabled, and its records are
 * still there: so an entry stays as long as the ring set.
 */
#ifndef KMOD_TRACE_CLASSES_H
#define KMOD_TRACE_CLASSES_H

#include <linux/xarray.h>

struct event;

/** struct classes - @by_id: struct event. Written under the channel's lock; read at any time. */
struct classes {
	struct xarray by_id;
};

void classes_init(struct classes *classes);
void classes_fini(struct classes *classes);
/** Records with @id are of this event, which stays until classes_fini(). Process context. Return: 0
 *  or -ENOMEM. */
int classes_add(struct classes *classes, u32 id, const struct event *event);
/** Return: NULL: no event of this id can be decoded. Any context. */
const struct event *classes_find(const struct classes *classes, u32 id);

#endif
