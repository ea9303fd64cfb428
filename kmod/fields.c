// SPDX-License-Identifier: GPL-2.0-only
#include "fields.h"

#include <linux/errno.h>
#include <linux/string.h>

/* Values of enum ltt_field_flags (ltt/site.h), which can't be included. */
enum { FLAG_SIGNED = 1, FLAG_TEXT = 4 };

/* Payload order: fields of fixed size, then the rest, each as declared. */
const struct field *field_nth(const struct event *event, u32 nth)
{
	const struct field *end = event->fields + event->nr_fields, *field;
	bool tail;

	for (tail = false;; tail = true) {
		for (field = event->fields; field < end; field++)
			if (field_comes_last(field) == tail && !nth--)
				return field;
		if (tail)
			return NULL;
	}
}

static enum field_kind field_kind_of(const struct field *field)
{
	switch (field->form) {
	case FORM_STRING:
		return FIELD_STRING;
	case FORM_DYNAMIC:
		return FIELD_SEQUENCE;
	case FORM_ARRAY:
		return FIELD_ARRAY;
	default:
		return field_is_number(field) ? FIELD_INTEGER : FIELD_ARRAY;
	}
}

/* Elements that are not numbers are described as bytes. */
void field_get_shape(const struct field *field, struct field_shape *ret)
{
	bool is_number = field_is_number(field);

	*ret = (struct field_shape){ .kind = field_kind_of(field), .bytes = 1, .base = 16 };
	if (ret->kind == FIELD_ARRAY)
		ret->count = (field->form == FORM_ARRAY ? field->count : 1) *
			     (is_number ? 1 : field->elem_bytes);
	if (is_number) {
		ret->bytes = field->elem_bytes;
		ret->base = field->base ? field->base : strchr(field->type, '*') ? 16 : 10;
		ret->is_signed = field->is_signed;
	}
	ret->is_text = ret->kind != FIELD_INTEGER && !strcmp(field->type, "char");
}

void field_describe_one(const struct field *field, struct ltt_kmod_field *ret)
{
	struct field_shape shape;

	field_get_shape(field, &shape);
	ret->kind = shape.kind;
	ret->is_signed = field->is_signed;
	if (shape.kind != FIELD_STRING) {
		ret->count = shape.count;
		ret->size_bits = shape.bytes * 8;
		ret->base = shape.base;
		ret->flags = shape.is_text ? FLAG_TEXT : shape.is_signed ? FLAG_SIGNED : 0;
		ret->length_bits = shape.kind == FIELD_SEQUENCE ? 16 : 0;
	}
	strscpy(ret->name, field->name, sizeof(ret->name));
	strscpy(ret->type, field->type, sizeof(ret->type));
}

int field_describe(const struct event *event, u32 nth, struct ltt_kmod_field *ret)
{
	const struct field *field = field_nth(event, nth);

	if (!field)
		return -ENOENT;
	ret->declared = field - event->fields;
	field_describe_one(field, ret);
	return 0;
}

static u32 field_offset(const struct event *event, u32 nth)
{
	u32 at = 0, i;

	for (i = 0; i < nth; i++) {
		const struct field *before = field_nth(event, i);

		if (field_comes_last(before))
			return STAT_ANYWHERE;
		at += before->elem_bytes * (before->form == FORM_ARRAY ? before->count : 1);
	}
	return at;
}

/* As an integer, or as elements that are integers. */
static int field_locate_any(const struct event *event, u32 nth, struct stat_field *ret,
			    struct field_shape *ret_shape)
{
	const struct field *field = field_nth(event, nth);

	if (!field)
		return -EINVAL;
	field_get_shape(field, ret_shape);
	*ret = (struct stat_field){
		.field = field,
		.nth = nth,
		.at = field_offset(event, nth),
		.bytes = ret_shape->bytes,
		.kind = ret_shape->is_signed ? LTT_COUNTS_SIGNED : LTT_COUNTS_UNSIGNED,
	};
	return 0;
}

int field_locate(const struct event *event, u32 nth, struct stat_field *ret)
{
	struct field_shape shape;
	int err = field_locate_any(event, nth, ret, &shape);

	if (err || shape.kind == FIELD_INTEGER)
		return err;
	ret->bytes = 0;
	ret->kind = LTT_COUNTS_TEXT;
	return shape.is_text ? 0 : -EINVAL;
}

int field_locate_elements(const struct event *event, u32 nth, struct stat_field *ret)
{
	struct field_shape shape;
	int err = field_locate_any(event, nth, ret, &shape);

	if (err)
		return err;
	return shape.kind == FIELD_ARRAY || shape.kind == FIELD_SEQUENCE ? 0 : -EINVAL;
}
