/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * row.h - an answer's object as elements of LTTng's machine interface: a table has a row for each
 * element. The result is an object whose keys are the names of the elements, in their order; an
 * array is a series of elements of its name, a key that begins with '@' an attribute, and "" the
 * text beside attributes. Pure.
 */
#ifndef CTL_MI_ROW_H
#define CTL_MI_ROW_H

#include <json-c/json.h>

enum mi_kind {
	MI_TEXT,
	MI_OPTION, /* text; no element if it is empty */
	MI_NUMBER,
	MI_FLAG,
	MI_WORD,
	MI_FIXED, /* the key is the text */
};

/** struct mi_word - @ours: NULL in the last one, for all others. @theirs: NULL: as ours is;
 *  "": no element. */
struct mi_word {
	const char *ours, *theirs;
};

/** struct mi_row - @key: member of the answer's object. @words: of MI_WORD. */
struct mi_row {
	const char *element, *key;
	enum mi_kind kind;
	const struct mi_word *words;
};

/** Append the elements of a table, whose last row has no element, to @to. */
void mi_take(struct json_object *to, const struct mi_row *rows, struct json_object *from);
/** A new object with the elements of a table. */
struct json_object *mi_object(const struct mi_row *rows, struct json_object *from);
/** An object with one member. */
struct json_object *mi_one(const char *key, struct json_object *value);
/** Make @item of each object of the array @key of @from: the series of elements @name. */
struct json_object *mi_series(const char *name, struct json_object *from, const char *key,
			      struct json_object *(*item)(struct json_object *object));

#endif
