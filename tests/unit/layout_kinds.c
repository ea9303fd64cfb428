/* SPDX-License-Identifier: GPL-2.0-only */
/* Fields as applications and kernels describe them: which can be recorded, and their type. */
#include <string.h>

#include "trace/layout.h"

#include "check.h"

/* Return: NULL, or why a layout of this one field is refused. */
static const char *refusal(const struct layout_field *field, bool labelled, int64_t first,
			   int64_t last)
{
	struct layout *layout = layout_new(1, 1, 64);
	const char *why;

	CHECK(layout && layout_add_field(layout, field));
	CHECK(!labelled || layout_add_label(layout, "label", first, last));
	why = layout_check(layout);
	layout_free(layout);
	return why;
}

#define ACCEPT(...) CHECK(!refusal(&(struct layout_field){ .name = "f", __VA_ARGS__ }, false, 0, 0))
#define REFUSE(text, ...)                                                                         \
	do {                                                                                      \
		const char *why =                                                                 \
			refusal(&(struct layout_field){ .name = "f", __VA_ARGS__ }, false, 0, 0); \
                                                                                                  \
		CHECK(why &&strstr(why, text));                                                   \
	} while (0)

static void sizes(void)
{
	for (unsigned int bits = 0; bits < 256; bits++) {
		bool whole = bits == 8 || bits == 16 || bits == 32 || bits == 64;
		uint8_t size = (uint8_t)bits;

		if (whole) {
			ACCEPT(.kind = LTT_KIND_INT, .size_bits = size);
			ACCEPT(.kind = LTT_KIND_ENUM, .size_bits = size);
			ACCEPT(.kind = LTT_KIND_ARRAY, .size_bits = size, .count = 2);
			ACCEPT(.kind = LTT_KIND_SEQUENCE, .size_bits = 8, .length_bits = size);
		} else {
			REFUSE("an integer of an", .kind = LTT_KIND_INT, .size_bits = size);
			REFUSE("an enumeration of an", .kind = LTT_KIND_ENUM, .size_bits = size);
			REFUSE("integers of an", .kind = LTT_KIND_ARRAY, .size_bits = size);
			REFUSE("whose length", .kind = LTT_KIND_SEQUENCE, .size_bits = 8,
			       .length_bits = size);
		}
		if (bits == 32 || bits == 64) {
			ACCEPT(.kind = LTT_KIND_FLOAT, .size_bits = size);
			ACCEPT(.kind = LTT_KIND_SEQUENCE, .size_bits = size, .length_bits = 8,
			       .flags = LTT_FIELD_FLOAT_ELEM);
		} else {
			REFUSE("a float of an", .kind = LTT_KIND_FLOAT, .size_bits = size);
			REFUSE("floats of an", .kind = LTT_KIND_ARRAY, .size_bits = size,
			       .flags = LTT_FIELD_FLOAT_ELEM);
		}
		if (bits == 8)
			ACCEPT(.kind = LTT_KIND_ARRAY, .size_bits = size, .flags = LTT_FIELD_TEXT);
		else
			REFUSE("no bytes", .kind = LTT_KIND_ARRAY, .size_bits = size,
			       .flags = LTT_FIELD_TEXT);
		ACCEPT(.kind = LTT_KIND_STRING, .size_bits = size);
	}
}

static void bounds(void)
{
	ACCEPT(.kind = LTT_KIND_ARRAY, .size_bits = 8, .count = LAYOUT_MAX_PAYLOAD);
	REFUSE("too large", .kind = LTT_KIND_ARRAY, .size_bits = 8,
	       .count = LAYOUT_MAX_PAYLOAD + 1);
	REFUSE("too large", .kind = LTT_KIND_ARRAY, .size_bits = 64, .count = UINT32_MAX);
	REFUSE("unknown flags", .kind = LTT_KIND_INT, .size_bits = 8, .flags = 32);
	REFUSE("number base", .kind = LTT_KIND_INT, .size_bits = 8, .base = 3);
	for (unsigned int kind = 0; kind < 256; kind++)
		if (kind < LTT_KIND_INT || kind > LTT_KIND_ENUM)
			REFUSE("unknown kind", .kind = (uint8_t)kind, .size_bits = 8);
}

static void labels(void)
{
	struct layout_field f = { .name = "f", .kind = LTT_KIND_ENUM, .size_bits = 8 };
	const char *why;

	CHECK(!refusal(&f, true, 1, -1)); /* unsigned: the same bits */
	why = refusal(&f, true, -1, 1);
	CHECK(why && strstr(why, "ends before"));
	f.flags = LTT_FIELD_SIGNED;
	CHECK(!refusal(&f, true, -1, 1));
	why = refusal(&f, true, 1, -1);
	CHECK(why && strstr(why, "ends before"));
	f.kind = LTT_KIND_INT;
	why = refusal(&f, true, 1, 1);
	CHECK(why && strstr(why, "not an enumeration"));
	f = (struct layout_field){ .kind = LTT_KIND_SEQUENCE, .size_bits = 16, .length_bits = 8 };
	f.name = "f";
	CHECK(!refusal(&f, true, 1, 2));
	why = refusal(&f, true, 2, 1);
	CHECK(why && strstr(why, "ends before"));
	f.size_bits = 32;
	f.flags = LTT_FIELD_FLOAT_ELEM;
	why = refusal(&f, true, 1, 1);
	CHECK(why && strstr(why, "are no integers"));
}

static void check_type(const char *expected, struct layout_field field)
{
	char type[64];

	layout_field_type(&field, type, sizeof(type));
	CHECK_IS(strcmp(type, expected), ==, 0);
}

#define TYPE(text, ...) check_type(text, (struct layout_field){ __VA_ARGS__ })

static void types(void)
{
	TYPE("integer", .kind = LTT_KIND_INT);
	TYPE("float", .kind = LTT_KIND_FLOAT);
	TYPE("string", .kind = LTT_KIND_STRING);
	TYPE("enum", .kind = LTT_KIND_ENUM);
	TYPE("array of 1 integer", .kind = LTT_KIND_ARRAY, .count = 1);
	TYPE("array of 3 floats", .kind = LTT_KIND_ARRAY, .count = 3,
	     .flags = LTT_FIELD_FLOAT_ELEM);
	TYPE("string", .kind = LTT_KIND_ARRAY, .count = 3, .flags = LTT_FIELD_TEXT);
	TYPE("sequence of integers", .kind = LTT_KIND_SEQUENCE);
	TYPE("sequence of enums", .kind = LTT_KIND_SEQUENCE, .nr_labels = 1);
	TYPE("string", .kind = LTT_KIND_SEQUENCE, .flags = LTT_FIELD_TEXT);
}

int main(void)
{
	sizes();
	bounds();
	labels();
	types();
	return 0;
}
