/* SPDX-License-Identifier: GPL-2.0-only */
/* fields.h - an event's fields as reported to user space (abi/ltt_kmod.h), and as text. Pure. */
#ifndef KMOD_FIELDS_H
#define KMOD_FIELDS_H

#include "event.h"
#include "ltt_kmod.h"
#include "stats.h"

/** Values of enum ltt_field_kind (ltt/site.h). */
enum field_kind { FIELD_INTEGER = 1, FIELD_STRING = 3, FIELD_ARRAY = 4, FIELD_SEQUENCE = 5 };

/**
 * struct field_shape - how a value is shown.
 * @kind: enum field_kind. A sequence is an array behind its length, a u16.
 * @bytes, @base, @is_signed: of an integer, or of each element.
 * @is_text: the elements are characters, up to the first NUL.
 * @count: elements of an array.
 */
struct field_shape {
	u8 kind;
	u8 bytes;
	u8 base;
	bool is_signed;
	bool is_text;
	u32 count;
};

void field_get_shape(const struct field *field, struct field_shape *ret);
/** A field in the order of the payload. Return: NULL after the last one. */
const struct field *field_nth(const struct event *event, u32 nth);
/** @nth: in the order of the payload. Return: 0, or -ENOENT after the last one. */
int field_describe(const struct event *event, u32 nth, struct ltt_kmod_field *ret);
/** The same for a single field. */
void field_describe_one(const struct field *field, struct ltt_kmod_field *ret);
/** Its place in payloads. Return: 0; -EINVAL: there is none, or it is neither an integer nor a
 *  text. */
int field_locate(const struct event *event, u32 nth, struct stat_field *ret);
/** The same for an array or a sequence, whose elements are integers of @ret->bytes. */
int field_locate_elements(const struct event *event, u32 nth, struct stat_field *ret);

#endif
