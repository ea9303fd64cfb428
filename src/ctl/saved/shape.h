/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * shape.h - the contents of files of saved sessions: the elements of a session, a channel, a map
 * channel, an event rule, a tracker, and a trigger whose condition or actions concern the session.
 * The model's tables (model/words.h) are expanded here, once; reading, writing and the schema walk
 * along these shapes. Elements have the names and values of `lttctl --json list SESSION`.
 */
#ifndef SAVED_SHAPE_H
#define SAVED_SHAPE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl/words.h"

#define SHAPE_ROOT "ltt-sessions"
#define SHAPE_VERSION 1 /* of the format: a file of a later one is rejected */
#define SHAPE_OWN_UID UINT32_MAX /* owner of a trigger: that of its session; no user has this id */

enum field_kind {
	FIELD_TEXT,
	FIELD_NAMES, /* separated by commas; in a record: an array */
	FIELD_FLAG,
	FIELD_NUMBER, /* 0 to max */
	FIELD_WORD,   /* one of a list */
	FIELD_LEVEL,  /* name of a log level */
	FIELD_IDS,    /* numbers, separated by blanks; in a record: an array */
};

/**
 * struct field - an element with a value.
 * @must: it can't be omitted. @init: value of a number, a flag or a word that is omitted; a text is
 * empty then.
 */
struct field {
	const char *key;
	enum field_kind kind;
	bool must;
	uint64_t init, max;
	const struct words *words;
	const char *doc;
};

struct shape;

/** struct shape_list - an element that contains any number of others. */
struct shape_list {
	const char *key; /* NULL: the shape has no more */
	const struct shape *item;
};

struct shape {
	const char *name; /* of its element */
	const char *doc;
	const struct field *fields;
	size_t nr;
	struct shape_list lists[4];
};

extern const struct shape shape_session, shape_channel, shape_rule, shape_tracker, shape_trigger,
	shape_action, shape_map;

/** The field of an element; NULL: the shape has none of that name. */
const struct field *shape_field(const struct shape *shape, const char *name);
/** The list of an element, or NULL. */
const struct shape_list *shape_list(const struct shape *shape, const char *name);
/** Set all fields of @o that are missing to their defaults, and missing lists to empty ones. */
void shape_complete(const struct shape *shape, struct json_object *o);

#endif
