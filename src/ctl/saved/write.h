/* SPDX-License-Identifier: GPL-2.0-only */
/* write.h - writes sessions as XML, by libxml2, in the format of shape.h; and its schema. */
#ifndef SAVED_WRITE_H
#define SAVED_WRITE_H

#include <json-c/json.h>

#include "base/err.h"

/**
 * saved_write() - the document of some sessions, allocated. Elements with their default are
 * omitted.
 * @sessions: array of records with the keys of shape.h; others are ignored.
 * Return: NULL: the reason is in @err, for example a text that XML can't contain.
 */
char *saved_write(struct json_object *sessions, struct err *err) MUST_CHECK;

/** The schema of such documents (XSD 1.0), allocated; NULL: the reason is in @err. */
char *saved_schema(struct err *err) MUST_CHECK;

#endif
