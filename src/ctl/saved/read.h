/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * read.h - reads the sessions of a file: in the format of `lttctl save`, or in that of LTTng. A
 * session is a record with the keys of shape.h. Beside the bytes of the file only names of users
 * and groups are looked up, which LTTng's files have.
 */
#ifndef SAVED_READ_H
#define SAVED_READ_H

#include <json-c/json.h>

#include "xml/problems.h"
#include "shape.h"
#include "xml/xml.h"

#define SAVED_LINE "line" /* in each object of a record: where it begins in the file */

/**
 * saved_read() - the sessions of a document.
 * @problems: all that can't be read. An object with a problem (a rule, a tracker, a channel, a
 *	session) is left out, and the rest is returned for callers that go on without it.
 * Return: an array, never NULL.
 */
struct json_object *saved_read(const char *text, size_t len, struct problems *problems) MUST_CHECK;

/** Complete an object (shape_complete(), and SAVED_LINE), and check it as a whole.
 *  Return: whether there is no problem. */
bool saved_check(const struct shape *shape, struct json_object *o, const struct element *e,
		 struct problems *problems);
/** Check that the names of all sessions differ. */
void saved_check_names(struct json_object *sessions, struct problems *problems);

/** The sessions of a document in the format of LTTng. */
void saved_read_lttng(const struct element *root, struct json_object *sessions,
		      struct problems *problems);

/** The value of an element that is a whole number up to @max, with blanks around it. Return:
 *  whether it is one; else the problem is added. */
bool saved_number(const struct element *e, uint64_t max, uint64_t *ret, struct problems *problems);
/** Likewise `true`, `false`, `1` or `0`. */
bool saved_flag(const struct element *e, bool *ret, struct problems *problems);

#endif
