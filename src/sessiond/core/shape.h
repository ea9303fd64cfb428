/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * shape.h - the description of an instrumentation point: name, kind, level, format
 * and fields. Points of many processes share one shape, so rules are matched once for each shape
 * and a class is found by pointer. Part of the model of ltt-sessiond; its loop's thread only.
 */
#ifndef CORE_SHAPE_H
#define CORE_SHAPE_H

#include <stdint.h>

#include "base/idmap.h"
#include "base/list.h"
#include "base/macros.h"
#include "trace/layout.h"
#include "trace/metadata.h"

#define SHAPE_MAX_BODY 49152u /* of TSDL text: fits in one message */
#define POINT_NAME_MAX 255u

enum shape_kind {
	SHAPE_TRACEPOINT = 1,
	SHAPE_MARKER = 2,
	SHAPE_KERNEL = 3, /* an event of the kernel, which has no level */
};
#define SHAPE_NO_LEVEL (-1)

/** A point as an application describes it; checked by shape_get(). */
struct shape_facts {
	const char *name;
	enum shape_kind kind;
	int loglevel;
	const char *format;
	struct layout *layout; /* owned by the shape after success */
};

struct shape {
	uint32_t refs;
	char *key;  /* all facts that distinguish shapes */
	char *body; /* of an event class without its ids; of shape_get(): TSDL */
	char *fragment; /* the same in CTF 2, made when it is needed; else NULL */
	char *name;
	char *format;
	enum shape_kind kind;
	int loglevel;
	struct layout *layout;
	struct list_node points;    /* of all applications; members of struct app_point */
	struct list_node in_use;    /* with points; else in no list */
	struct idmap_node by_name;  /* likewise */
};

struct shapes {
	void *by_key; /* tsearch */
	uint32_t nr;
	/* Shapes that have points; initialised while there are any. */
	struct list_node in_use;
	struct idmap by_name;
	uint32_t nr_in_use;
	uint64_t changes; /* number of times that a point came or went */
};

/**
 * shape_get() - the shape with these facts, created if there is none yet. @ret_why: reason why the
 * facts are rejected.
 * Return: the shape with one reference more; NULL if refused.
 */
struct shape *shape_get(struct shapes *shapes, struct shape_facts *facts, const char **ret_why);
/** Create a shape of an earlier daemon's state: it has a name and a body, but no layout, and only
 *  classes refer to it. Return: the shape with one more reference. */
struct shape *shape_restore(struct shapes *shapes, enum shape_kind kind, int loglevel,
			    const char *name, const char *format, const char *body);
/** The body of an event class of a shape of shape_get(). */
const char *shape_body(struct shape *shape, enum metadata_form form);
/** The shape of a class of its points whose body goes on with @text. Return: the shape with one
 *  more reference. */
struct shape *shape_extended(struct shapes *shapes, struct shape *shape, enum metadata_form form,
			     const char *text);
struct shape *shape_ref(struct shape *shape);
void shape_unref(struct shapes *shapes, struct shape *shape);

/** Whether the field may have a histogram. */
static inline bool field_is_integer(const struct layout_field *field)
{
	return field->kind == LTT_KIND_INT || field->kind == LTT_KIND_ENUM;
}

/** Whether the field may be part of a key. */
static inline bool field_is_key(const struct layout_field *field)
{
	return field_is_integer(field) || field->kind == LTT_KIND_STRING ||
	       field->flags & LTT_FIELD_TEXT;
}

/** Return: the number of the integer field, or -1. */
int shape_integer(const struct shape *shape, const char *name);
/** The same for a field of a key: an integer, an enumeration or a text. */
int shape_key(const struct shape *shape, const char *name);

/** A point of the shape comes or goes. @point: a member of it, in the shape's list. */
void shape_add_point(struct shapes *shapes, struct shape *shape, struct list_node *point);
void shape_remove_point(struct shapes *shapes, struct shape *shape, struct list_node *point);
/** Call @fn for the shapes with points whose names a pattern may match: of the name if it is one,
 *  else all. */
void shapes_each(const struct shapes *shapes, const char *pattern,
		 void (*fn)(struct shape *shape, void *data), void *data);

#endif
