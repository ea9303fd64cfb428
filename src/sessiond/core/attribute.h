/* SPDX-License-Identifier: GPL-2.0-only */
/* attribute.h - operations on the attributes of the model's tables (model/words.h), by their
 * types. */
#ifndef CORE_ATTRIBUTE_H
#define CORE_ATTRIBUTE_H

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/types.h"

/** Own a text that was borrowed: copy it; NULL: to an empty one. */
#define ATTRIBUTE_OWN(type, member) MODEL_BY_CLASS(type, ATTRIBUTE_OWN_)(member)
#define ATTRIBUTE_OWN_TEXT(member) ((member) = xstrdup((member) ? (member) : ""))
#define ATTRIBUTE_OWN_NUMBER(member) ((void)(member))

/** Replace a value that is owned. */
#define ATTRIBUTE_SET(type, member, value)             \
	do {                                           \
		ATTRIBUTE_FREE(type, member);          \
		(member) = (MODEL_TYPE_##type)(value); \
		ATTRIBUTE_OWN(type, member);           \
	} while (0)

#define ATTRIBUTE_FREE(type, member) MODEL_BY_CLASS(type, ATTRIBUTE_FREE_)(member)
#define ATTRIBUTE_FREE_TEXT(member) free((char *)(member))
#define ATTRIBUTE_FREE_NUMBER(member) ((void)(member))

/** Whether two values are equal; NULL is an empty text. */
#define ATTRIBUTE_EQUAL(type, a, b) MODEL_BY_CLASS(type, ATTRIBUTE_EQUAL_)(a, b)
#define ATTRIBUTE_EQUAL_TEXT(a, b) (strcmp((a) ? (a) : "", (b) ? (b) : "") == 0)
#define ATTRIBUTE_EQUAL_NUMBER(a, b) ((a) == (b))

/** The bytes of a value's memory outside its struct. */
#define ATTRIBUTE_BYTES(type, value) MODEL_BY_CLASS(type, ATTRIBUTE_BYTES_)(value)
#define ATTRIBUTE_BYTES_TEXT(value) ((value) ? strlen(value) + 1 : 1)
#define ATTRIBUTE_BYTES_NUMBER(value) 0u

#endif
