// SPDX-License-Identifier: GPL-2.0-only
#include "fields.h"

#include <linux/errno.h>
#include <linux/string.h>

/* Values of enum ltt_field_kind and enum ltt_field_flags (ltt/site.h), which can't be included. */
enum { KIND_INT = 1, KIND_STRING = 3, KIND_ARRAY = 4, KIND_SEQUENCE = 5 };
enum { FLAG_SIGNED = 1, FLAG_TEXT = 4 };

/* Payload order: fields of fixed size, then the rest, each as declared. */
static const struct field *nth_field(const struct event *event, u32 nth)
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

static u8 kind_of(const struct field *field)
{
	switch (field->form) {
	case FORM_STRING:
		return KIND_STRING;
	case FORM_DYNAMIC:
		return KIND_SEQUENCE;
	case FORM_ARRAY:
		return KIND_ARRAY;
	default:
		return field_is_number(field) ? KIND_INT : KIND_ARRAY;
	}
}

/* Elements that are not numbers are described as bytes. */
static void describe_elements(const struct field *field, struct ltt_kmod_field *ret)
{
	u32 count = field->form == FORM_ARRAY ? field->count : 1;

	if (ret->kind == KIND_ARRAY)
		ret->count = field_is_number(field) ? count : count * field->elem_bytes;
	ret->size_bits = field_is_number(field) ? field->elem_bytes * 8 : 8;
	ret->base = field_is_number(field) && !strchr(field->type, '*') ? 10 : 16;
	if (field->is_signed && field_is_number(field))
		ret->flags |= FLAG_SIGNED;
	if (!strcmp(field->type, "char") && ret->kind != KIND_INT)
		ret->flags = FLAG_TEXT;
	if (ret->kind == KIND_SEQUENCE)
		ret->length_bits = 16;
}

void field_describe_one(const struct field *field, struct ltt_kmod_field *ret)
{
	ret->kind = kind_of(field);
	ret->is_signed = field->is_signed;
	if (ret->kind != KIND_STRING)
		describe_elements(field, ret);
	strscpy(ret->name, field->name, sizeof(ret->name));
	strscpy(ret->type, field->type, sizeof(ret->type));
}

int field_describe(const struct event *event, u32 nth, struct ltt_kmod_field *ret)
{
	const struct field *field = nth_field(event, nth);

	if (!field)
		return -ENOENT;
	ret->declared = field - event->fields;
	field_describe_one(field, ret);
	return 0;
}

int field_locate(const struct event *event, u32 nth, struct stat_field *ret)
{
	const struct field *field = nth_field(event, nth);
	u32 at = 0, i;

	if (!field)
		return -ENOENT;
	if (field->form != FORM_VALUE || !field_is_number(field))
		return -EINVAL;
	for (i = 0; i < nth; i++) {
		const struct field *before = nth_field(event, i);

		at += before->elem_bytes * (before->form == FORM_ARRAY ? before->count : 1);
	}
	*ret = (struct stat_field){ at, field->elem_bytes, field->is_signed };
	return 0;
}
