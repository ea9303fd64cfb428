/* SPDX-License-Identifier: GPL-2.0-only */
#include "shape.h"

#include <search.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static int shape_compare(const void *a, const void *b)
{
	return strcmp(((const struct shape *)a)->key, ((const struct shape *)b)->key);
}

static int shape_compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static const char *check_name(const char *name)
{
	size_t len = strlen(name);

	if (len == 0)
		return "has no name";
	if (len > POINT_NAME_MAX)
		return "has a name that is too long";
	for (; *name; name++)
		if ((unsigned char)*name < ' ' || *name == 0x7f)
			return "has a control byte in its name";
	return NULL;
}

/* A reader finds fields by name: so the names that the trace will show, those
 * of the lengths of sequences included, must differ. */
static const char *check_field_names(const struct layout *layout)
{
	char(*names)[272] = xalloc((2 * (size_t)layout->nr_fields + 1) * sizeof(*names));
	char **sorted = xalloc((2 * (size_t)layout->nr_fields + 1) * sizeof(*sorted));
	const char *why = NULL;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < layout->nr_fields; i++) {
		const struct layout_field *f = &layout->fields[i];
		char name[256];

		if (f->flags & LTT_FIELD_NOWRITE)
			continue;
		metadata_identifier(f->name, name, sizeof(name));
		snprintf(names[nr++], sizeof(*names), "%s", name);
		if (layout_has_length(f))
			snprintf(names[nr++], sizeof(*names), "_%s_length", name);
	}
	for (uint32_t i = 0; i < nr; i++)
		sorted[i] = names[i];
	qsort(sorted, nr, sizeof(*sorted), shape_compare_names);
	for (uint32_t i = 1; i < nr && !why; i++)
		if (strcmp(sorted[i - 1], sorted[i]) == 0)
			why = "has two fields of one name";
	free(sorted);
	free(names);
	return why;
}

static const char *shape_check(const struct shape_facts *facts)
{
	const char *why = check_name(facts->name);

	if (!why && (facts->kind < SHAPE_TRACEPOINT || facts->kind > SHAPE_KERNEL))
		why = "is of an unknown kind";
	if (!why && facts->kind != SHAPE_KERNEL && (facts->loglevel < 0 || facts->loglevel > 14))
		why = "has an unknown log level";
	if (!why)
		why = layout_check(facts->layout);
	if (!why)
		why = check_field_names(facts->layout);
	return why;
}

/* The body describes recorded fields; fields for filters only are described here. */
static char *shape_make_key(const struct shape_facts *facts, const char *body)
{
	char *key = NULL;
	size_t len;
	FILE *f = open_memstream(&key, &len);

	if (!f)
		return NULL;
	fprintf(f, "%d %s", (int)facts->kind, body);
	for (uint32_t i = 0; i < facts->layout->nr_fields; i++) {
		const struct layout_field *field = &facts->layout->fields[i];

		if (field->flags & LTT_FIELD_NOWRITE)
			fprintf(f, "%u:%u:%u:%u:%u:%s\n", i, field->kind, field->size_bits,
				field->flags, field->count, field->name);
	}
	fclose(f);
	return key;
}

static void shape_destroy(struct shape *shape)
{
	free(shape->key);
	free(shape->body);
	free(shape->fragment);
	free(shape->name);
	free(shape->format);
	layout_free(shape->layout);
	free(shape);
}

static struct shape *shape_new(void)
{
	struct shape *shape = xalloc(sizeof(*shape));

	list_init(&shape->points);
	list_init(&shape->in_use);
	list_init(&shape->by_name.node);
	return shape;
}

static struct shape *shape_make(struct shape_facts *facts, char *key, char *body)
{
	struct shape *shape = shape_new();

	shape->key = key;
	shape->body = body;
	shape->name = xstrdup(facts->name);
	shape->format = xstrdup(facts->format);
	shape->kind = facts->kind;
	shape->loglevel = facts->loglevel;
	shape->layout = TAKE(facts->layout);
	return shape;
}

static struct metadata_event shape_event(enum shape_kind kind, const char *name, int loglevel,
					 const char *format, const struct layout *layout)
{
	return (struct metadata_event){ name, loglevel, kind == SHAPE_MARKER ? format : NULL,
					layout };
}

struct shape *shape_get(struct shapes *shapes, struct shape_facts *facts, const char **ret_why)
{
	struct metadata_event event = shape_event(facts->kind, facts->name, facts->loglevel,
						  facts->format, facts->layout);
	AUTO_FREE char *body = NULL;
	AUTO_FREE char *key = NULL;
	struct shape probe, *shape;
	void **found;

	*ret_why = shape_check(facts);
	if (*ret_why)
		return NULL;
	body = metadata_event_body(METADATA_CTF_1_8, &event);
	key = body ? shape_make_key(facts, body) : NULL;
	if (!key || strlen(body) > SHAPE_MAX_BODY) {
		*ret_why = "has a description that is too long";
		return NULL;
	}
	probe.key = key;
	found = tfind(&probe, &shapes->by_key, shape_compare);
	if (found) {
		layout_free(TAKE(facts->layout));
		return shape_ref(*found);
	}
	shape = shape_make(facts, TAKE(key), TAKE(body));
	if (!tsearch(shape, &shapes->by_key, shape_compare)) {
		shape_destroy(shape);
		*ret_why = "can't be stored: out of memory";
		return NULL;
	}
	shapes->nr++;
	return shape_ref(shape);
}

/* Its key is like no other: applications' shapes are made beside it, and find its
 * class by their body. */
struct shape *shape_restore(struct shapes *shapes, enum shape_kind kind, int loglevel,
			    const char *name, const char *format, const char *body)
{
	struct shape *shape = shape_new(), **found;

	shape->key = xasprintf("restored %d %s", (int)kind, body);
	found = tfind(shape, &shapes->by_key, shape_compare);
	if (found) {
		free(shape->key);
		free(shape);
		return shape_ref(*found);
	}
	shape->body = xstrdup(body);
	shape->name = xstrdup(name);
	shape->format = xstrdup(format);
	shape->kind = kind;
	shape->loglevel = loglevel;
	if (tsearch(shape, &shapes->by_key, shape_compare))
		shapes->nr++;
	return shape_ref(shape);
}

const char *shape_body(struct shape *shape, enum metadata_form form)
{
	const struct metadata_event event = shape_event(shape->kind, shape->name, shape->loglevel,
							shape->format, shape->layout);

	if (form == METADATA_CTF_1_8)
		return shape->body;
	if (!shape->fragment)
		shape->fragment = metadata_event_body(form, &event);
	return shape->fragment ? shape->fragment : "";
}

struct shape *shape_extended(struct shapes *shapes, struct shape *shape, enum metadata_form form,
			     const char *text)
{
	const char *bare = shape_body(shape, form);
	AUTO_FREE char *body = NULL;

	if (bare == shape->body && !*text)
		return shape_ref(shape);
	body = xasprintf("%s%s", bare, text);
	return shape_restore(shapes, shape->kind, shape->loglevel, shape->name, shape->format,
			     body);
}

struct shape *shape_ref(struct shape *shape)
{
	shape->refs++;
	return shape;
}

void shape_unref(struct shapes *shapes, struct shape *shape)
{
	if (!shape || --shape->refs > 0)
		return;
	tdelete(shape, &shapes->by_key, shape_compare);
	shapes->nr--;
	shape_destroy(shape);
}

void shape_add_point(struct shapes *shapes, struct shape *shape, struct list_node *point)
{
	if (!shapes->nr_in_use) {
		list_init(&shapes->in_use);
		idmap_init(&shapes->by_name);
	}
	if (list_empty(&shape->points)) {
		shapes->nr_in_use++;
		list_append(&shapes->in_use, &shape->in_use);
		idmap_add(&shapes->by_name, &shape->by_name, idmap_hash_text(shape->name));
	}
	list_append(&shape->points, point);
	shapes->changes++;
}

void shape_remove_point(struct shapes *shapes, struct shape *shape, struct list_node *point)
{
	shapes->changes++;
	list_remove(point);
	if (!list_empty(&shape->points))
		return;
	list_remove(&shape->in_use);
	idmap_remove(&shape->by_name);
	if (!--shapes->nr_in_use)
		idmap_fini(&shapes->by_name);
}

void shapes_each(const struct shapes *shapes, const char *pattern,
		 void (*fn)(struct shape *shape, void *data), void *data)
{
	const struct idmap_node *node;
	struct shape *shape;

	if (!shapes->nr_in_use)
		return;
	if (strpbrk(pattern, "*\\")) {
		list_for_each(shape, &shapes->in_use, in_use)
			fn(shape, data);
		return;
	}
	for (node = idmap_find(&shapes->by_name, idmap_hash_text(pattern)); node;
	     node = idmap_next(&shapes->by_name, node))
		fn(container_of(node, struct shape, by_name), data);
}

/* --- fields ------------------------------------------------------------------------- */

int shape_integer(const struct shape *shape, const char *name)
{
	const struct layout *layout = shape->layout;

	for (uint32_t i = 0; i < layout->nr_fields; i++)
		if (field_is_integer(&layout->fields[i]) &&
		    strcmp(layout->fields[i].name, name) == 0)
			return (int)i;
	return -1;
}

int shape_key(const struct shape *shape, const char *name)
{
	const struct layout *layout = shape->layout;

	for (uint32_t i = 0; i < layout->nr_fields; i++)
		if (field_is_key(&layout->fields[i]) && strcmp(layout->fields[i].name, name) == 0)
			return (int)i;
	return -1;
}
