/* SPDX-License-Identifier: GPL-2.0-only */
#include "class.h"

#include <search.h>
#include <string.h>

#include "base/mem.h"

static int compare_body(const void *a, const void *b)
{
	const struct shape *sa = ((const struct event_class *)a)->shape;
	const struct shape *sb = ((const struct event_class *)b)->shape;

	return sa == sb ? 0 : strcmp(sa->body, sb->body);
}

static int compare_name(const void *a, const void *b)
{
	return strcmp(((const struct event_class *)a)->shape->name,
		      ((const struct event_class *)b)->shape->name);
}

static uint64_t class_bytes(const struct shape *shape)
{
	return sizeof(struct event_class) + 2 * strlen(shape->body);
}

void class_table_init(struct class_table *table, struct shapes *shapes, struct quotas *quotas,
		      struct account_id account)
{
	memset(table, 0, sizeof(*table));
	table->shapes = shapes;
	table->quotas = quotas;
	table->account = account;
}

void class_table_fini(struct class_table *table)
{
	while (table->by_body) {
		struct event_class *class = *(struct event_class **)table->by_body;

		tdelete(class, &table->by_body, compare_body);
		if (class->shape->kind == SHAPE_MARKER)
			tdelete(class, &table->markers, compare_name);
		quota_give(table->quotas, table->account, QUOTA_TEXT, class_bytes(class->shape));
		shape_unref(table->shapes, class->shape);
		free(class->contexts);
		free(class);
	}
	table->nr = 0;
}

/* The format describes all of a marker but its contexts, with which it is another class. */
static bool class_is_same_marker(const struct event_class *class, const struct shape *shape)
{
	return class->shape->loglevel == shape->loglevel &&
	       strcmp(class->shape->format, shape->format) == 0;
}

enum class_outcome class_find(const struct class_table *table, struct shape *shape,
			      struct event_class **ret)
{
	struct event_class probe = { .shape = shape };
	void **found = tfind(&probe, &table->by_body, compare_body);

	if (found) {
		*ret = *found;
		return CLASS_KNOWN;
	}
	found = shape->kind == SHAPE_MARKER ? tfind(&probe, &table->markers, compare_name) : NULL;
	if (found && !class_is_same_marker(*found, shape)) {
		*ret = *found;
		return CLASS_CONFLICT;
	}
	return table->nr >= CLASS_MAX ? CLASS_FULL : CLASS_NEW;
}

enum class_outcome class_get(struct class_table *table, struct shape *shape,
			     struct event_class **ret)
{
	enum class_outcome outcome = class_find(table, shape, ret);
	struct event_class *class;

	if (outcome != CLASS_NEW)
		return outcome;
	if (strlen(shape->body) > CLASS_MAX_BODY)
		return CLASS_LONG;
	if (quota_take(table->quotas, table->account, QUOTA_TEXT, class_bytes(shape)))
		return CLASS_FULL;
	class = xalloc(sizeof(*class));
	class->id = table->nr;
	class->shape = shape;
	if (!tsearch(class, &table->by_body, compare_body)) {
		quota_give(table->quotas, table->account, QUOTA_TEXT, class_bytes(shape));
		free(class);
		return CLASS_FULL;
	}
	table->nr++;
	shape_ref(shape);
	if (shape->kind == SHAPE_MARKER)
		tsearch(class, &table->markers, compare_name);
	*ret = class;
	return CLASS_NEW;
}
