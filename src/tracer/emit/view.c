// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading an event's payload by field. Bounds are checked, although the payload
 * comes from our own serialisers. Runs inside probes: any thread, any handler.
 */
#include <errno.h>
#include <string.h>

#include <ltt/probe.h>

#include "view.h"

/** A field's bytes within the payload. */
struct extent {
	const unsigned char *at;
	size_t bytes;
	size_t count; /* elements */
};

static uint64_t emit_view_load(const unsigned char *at, size_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, at, bytes <= sizeof(value) ? bytes : 0);
	return value;
}

static int measure_string(struct extent *extent, size_t room)
{
	const unsigned char *end = room ? memchr(extent->at, 0, room) : NULL;

	if (!end)
		return -EINVAL;
	extent->count = (size_t)(end - extent->at);
	extent->bytes = extent->count + 1;
	return 0;
}

static int measure_elements(struct extent *extent, size_t room, size_t element)
{
	if (extent->count > room / (element ? element : 1))
		return -EINVAL;
	extent->bytes = extent->count * element;
	return 0;
}

/* Length of the field that begins at extent->at; a sequence begins behind its length. */
static int emit_view_measure(const struct ltt_field *field, struct extent *extent, size_t room)
{
	size_t length = field->length_bits / 8;

	switch (field->kind) {
	case LTT_KIND_STRING:
		return measure_string(extent, room);
	case LTT_KIND_ARRAY:
		extent->count = field->count;
		break;
	case LTT_KIND_SEQUENCE:
		if (room < length)
			return -EINVAL;
		extent->count = emit_view_load(extent->at, length);
		extent->at += length;
		room -= length;
		break;
	default:
		extent->count = 1;
	}
	return measure_elements(extent, room, field->size_bits / 8);
}

static int locate(const struct ltt_event_view *view, int number, const struct ltt_field **ret_field,
		  struct extent *ret_extent)
{
	struct extent extent = { .at = view->payload };
	const unsigned char *end = extent.at + view->len;
	int res;

	if (number < 0)
		return number;
	if ((uint32_t)number >= view->nr_fields)
		return -EINVAL;
	for (int i = 0;; i++) {
		res = emit_view_measure(&view->fields[i], &extent, (size_t)(end - extent.at));
		if (res < 0)
			return res;
		if (i == number)
			break;
		extent.at += extent.bytes;
	}
	*ret_field = &view->fields[number];
	*ret_extent = extent;
	return 0;
}

int view_measure(const struct ltt_event_view *view, uint32_t nr_fields, size_t *ret_bytes)
{
	const unsigned char *begin = view->payload, *end = begin + view->len;
	struct extent extent = { .at = begin };

	for (uint32_t i = 0; i < nr_fields; i++) {
		int res = emit_view_measure(&view->fields[i], &extent, (size_t)(end - extent.at));

		if (res < 0)
			return res;
		extent.at += extent.bytes;
	}
	*ret_bytes = (size_t)(extent.at - begin);
	return 0;
}

int ltt_view_field(const struct ltt_event_view *view, const char *name)
{
	for (uint32_t i = 0; i < view->nr_fields; i++)
		if (strcmp(view->fields[i].name, name) == 0)
			return (int)i;
	return -ENOENT;
}

int view_integer(const struct ltt_event_view *view, int number, uint64_t *ret_bits,
		 int *ret_negative)
{
	const struct ltt_field *field;
	struct extent extent;
	int res = locate(view, number, &field, &extent);
	unsigned int shift;
	uint64_t bits;

	if (res < 0)
		return res;
	if (field->kind != LTT_KIND_INT && field->kind != LTT_KIND_ENUM)
		return -EINVAL;
	shift = 64 - field->size_bits;
	bits = emit_view_load(extent.at, extent.bytes);
	if (field->flags & LTT_FIELD_BIG_ENDIAN)
		bits = __builtin_bswap64(bits) >> shift;
	if (field->flags & LTT_FIELD_SIGNED)
		bits = (uint64_t)((int64_t)(bits << shift) >> shift);
	*ret_bits = bits;
	*ret_negative = (field->flags & LTT_FIELD_SIGNED) && (int64_t)bits < 0;
	return 0;
}

int ltt_view_int(const struct ltt_event_view *view, int field, int64_t *ret_value)
{
	uint64_t bits;
	int negative, res = view_integer(view, field, &bits, &negative);

	if (res < 0)
		return res;
	if (!negative && bits > INT64_MAX)
		return -ERANGE;
	*ret_value = (int64_t)bits;
	return 0;
}

int ltt_view_uint(const struct ltt_event_view *view, int field, uint64_t *ret_value)
{
	uint64_t bits;
	int negative, res = view_integer(view, field, &bits, &negative);

	if (res < 0)
		return res;
	if (negative)
		return -ERANGE;
	*ret_value = bits;
	return 0;
}

static double load_float(const unsigned char *at, size_t bytes)
{
	double wide = 0;
	float narrow;

	if (bytes == sizeof(wide)) {
		memcpy(&wide, at, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, at, sizeof(narrow));
	return narrow;
}

int ltt_view_float(const struct ltt_event_view *view, int number, double *ret_value)
{
	const struct ltt_field *field;
	struct extent extent;
	uint64_t bits;
	int negative, res = locate(view, number, &field, &extent);

	if (res < 0)
		return res;
	if (field->kind == LTT_KIND_FLOAT) {
		*ret_value = load_float(extent.at, extent.bytes);
		return 0;
	}
	res = view_integer(view, number, &bits, &negative);
	if (res == 0)
		*ret_value = negative ? (double)(int64_t)bits : (double)bits;
	return res;
}

int ltt_view_string(const struct ltt_event_view *view, int number, const char **ret_text,
		    size_t *ret_len)
{
	const struct ltt_field *field;
	struct extent extent;
	int res = locate(view, number, &field, &extent);

	if (res < 0)
		return res;
	if (field->kind != LTT_KIND_STRING && !(field->flags & LTT_FIELD_TEXT))
		return -EINVAL;
	*ret_text = (const char *)extent.at;
	*ret_len = extent.count;
	return 0;
}

int ltt_view_elements(const struct ltt_event_view *view, int number,
		      struct ltt_elements *ret_elements)
{
	const struct ltt_field *field;
	struct extent extent;
	int res = locate(view, number, &field, &extent);

	if (res < 0)
		return res;
	if (field->kind != LTT_KIND_ARRAY && field->kind != LTT_KIND_SEQUENCE)
		return -EINVAL;
	memset(ret_elements, 0, sizeof(*ret_elements));
	ret_elements->data = extent.at;
	ret_elements->count = extent.count;
	ret_elements->size_bits = field->size_bits;
	ret_elements->is_signed = !!(field->flags & LTT_FIELD_SIGNED);
	ret_elements->is_float = !!(field->flags & LTT_FIELD_FLOAT_ELEM);
	return 0;
}

static const char *label_of(const struct ltt_enum *labels, int64_t value)
{
	for (uint32_t i = 0; labels && i < labels->nr_entries; i++)
		if (value >= labels->entries[i].first && value <= labels->entries[i].last)
			return labels->entries[i].label;
	return NULL;
}

int ltt_view_label(const struct ltt_event_view *view, int field, const char **ret_label)
{
	int64_t value;
	const char *label;
	int res = ltt_view_int(view, field, &value);

	if (res < 0)
		return res;
	if (view->fields[field].kind != LTT_KIND_ENUM)
		return -EINVAL;
	label = label_of(view->fields[field].enumeration, value);
	if (!label)
		return -ENOENT;
	*ret_label = label;
	return 0;
}
