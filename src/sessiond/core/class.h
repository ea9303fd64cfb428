/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * class.h - event classes of one channel in one trace: the id of each, and whether its
 * description is on disk. Part of the model of ltt-sessiond; pure.
 */
#ifndef CORE_CLASS_H
#define CORE_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "quota.h"
#include "shape.h"

/* Greatest number of classes in a table; it bounds the metadata of a channel. */
#define CLASS_MAX 100000u
#define CLASS_MAX_BODY 55296u /* with its contexts: fits in a message with its ids */

enum class_outcome {
	CLASS_KNOWN = 0,
	CLASS_NEW = 1,
	CLASS_CONFLICT = 2, /* a marker of that name has another format */
	CLASS_FULL = 3,
	CLASS_LONG = 4, /* its description fits in no message; in CTF 2 it is longer */
};

struct event_class {
	uint32_t id;
	uint64_t batch; /* number of the metadata batch that declares it; 0: not written yet */
	struct shape *shape;
	char *contexts; /* names of each event's contexts, comma-separated; NULL: not known yet */
};

struct class_table {
	void *by_body; /* tsearch */
	void *markers; /* tsearch: by name */
	uint32_t nr;
	struct shapes *shapes;
	struct quotas *quotas;
	struct account_id account; /* charged for the descriptions, which are never freed */
};

/** @quotas: may be NULL. */
void class_table_init(struct class_table *table, struct shapes *shapes, struct quotas *quotas,
		      struct account_id account);
void class_table_fini(struct class_table *table);

/**
 * class_get() - the event class of points of a shape; created if it is new.
 * @ret: the class; with CLASS_CONFLICT the class that has the name; with
 *       CLASS_FULL and CLASS_LONG not set.
 */
enum class_outcome class_get(struct class_table *table, struct shape *shape,
			     struct event_class **ret);

/** The same without creating a class for a new shape. */
enum class_outcome class_find(const struct class_table *table, struct shape *shape,
			      struct event_class **ret);

#endif
