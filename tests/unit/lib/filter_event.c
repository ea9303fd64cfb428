/* SPDX-License-Identifier: GPL-2.0-only */
#include "filter_event.h"

#include <stdio.h>
#include <stdlib.h>

const struct filter_context filter_event_contexts[] = {
	{ "ctx.vpid", LTT_FILTER_INTEGER, 0 },	      { "ctx.procname", LTT_FILTER_TEXT, 1 },
	{ "ctx.load", LTT_FILTER_NUMBER, 2 },	      { "app.shop:user", LTT_FILTER_TEXT, 3 },
	{ "app.shop:absent", LTT_FILTER_INTEGER, 4 },
};

const struct ltt_filter_value filter_event_values[] = {
	{ .kind = LTT_FILTER_INTEGER, .integer = 1234 },
	{ .kind = LTT_FILTER_TEXT, .text = "nginx", .length = 5 },
	{ .kind = LTT_FILTER_NUMBER, .number = 0.5 },
	{ .kind = LTT_FILTER_TEXT, .text = "ann", .length = 3 },
	{ .kind = LTT_FILTER_ABSENT },
};

#define FIELD(event, bytes, length, ...) \
	filter_event_add(event, (struct layout_field){ __VA_ARGS__ }, bytes, length)
#define INTEGER(event, field_name, type, field_flags, ...)                       \
	FIELD(event, (&(type){ __VA_ARGS__ }), sizeof(type), .name = field_name, \
	      .kind = LTT_KIND_INT, .size_bits = 8 * sizeof(type), .flags = field_flags)

static void filter_event_add(struct filter_event *event, struct layout_field field,
			     const void *bytes, size_t length)
{
	CHECK(layout_add_field(event->layout, &field));
	CHECK_IS(length, <=, sizeof(event->bytes) - event->length);
	memcpy(event->bytes + event->length, bytes, length);
	event->length += length;
}

static void filter_event_fixed(struct filter_event *e)
{
	static const uint8_t network[] = { 0x1f, 0x90 };
	static const uint16_t list[] = { 10, 20, 30 };

	INTEGER(e, "a", uint8_t, 0, 5);
	INTEGER(e, "b", int16_t, LTT_FIELD_SIGNED, -3);
	INTEGER(e, "big", uint64_t, 0, ~0ull);
	INTEGER(e, "dur", uint64_t, 0, 5000000);
	FIELD(e, network, 2, .name = "port", .kind = LTT_KIND_INT, .size_bits = 16,
	      .flags = LTT_FIELD_BIG_ENDIAN);
	FIELD(e, &(float){ 1.5f }, 4, .name = "f", .kind = LTT_KIND_FLOAT, .size_bits = 32);
	FIELD(e, &(double){ -0.25 }, 8, .name = "d", .kind = LTT_KIND_FLOAT, .size_bits = 64);
	FIELD(e, &(uint8_t){ 2 }, 1, .name = "state", .kind = LTT_KIND_ENUM, .size_bits = 8);
	CHECK(layout_add_label(e->layout, "IDLE", 0, 0));
	CHECK(layout_add_label(e->layout, "RUNNING", 1, 3));
	CHECK(layout_add_label(e->layout, "DEAD", 4, 4));
	FIELD(e, list, sizeof(list), .name = "arr", .kind = LTT_KIND_ARRAY, .size_bits = 16,
	      .count = 3);
	FIELD(e, "eth0\0\0", 6, .name = "dev", .kind = LTT_KIND_ARRAY, .size_bits = 8, .count = 6,
	      .flags = LTT_FIELD_TEXT);
}

static void filter_event_varying(struct filter_event *e)
{
	static const uint8_t numbers[] = { 3, 7, 0, 0, 0, 8, 0, 0, 0, 0xff, 0xff, 0xff, 0xff };
	static const uint8_t floats[] = { 1, 0, 0, 0, 0x40, 0x40 };

	FIELD(e, "web-17", 7, .name = "host", .kind = LTT_KIND_STRING);
	FIELD(e, numbers, sizeof(numbers), .name = "seq", .kind = LTT_KIND_SEQUENCE,
	      .size_bits = 32, .length_bits = 8, .flags = LTT_FIELD_SIGNED);
	FIELD(e, "\5\0GET /", 7, .name = "req", .kind = LTT_KIND_SEQUENCE, .size_bits = 8,
	      .length_bits = 16, .flags = LTT_FIELD_TEXT);
	INTEGER(e, "after", int32_t, LTT_FIELD_SIGNED, -70000);
	FIELD(e, "a*b", 4, .name = "star", .kind = LTT_KIND_STRING);
	FIELD(e, "", 1, .name = "empty", .kind = LTT_KIND_STRING);
	FIELD(e, floats, sizeof(floats), .name = "fseq", .kind = LTT_KIND_SEQUENCE, .size_bits = 32,
	      .length_bits = 16, .flags = LTT_FIELD_FLOAT_ELEM);
	INTEGER(e, "in", uint8_t, 0, 1);
	FIELD(e, (&(uint32_t){ 0x480002 }), 4, .name = "flags", .kind = LTT_KIND_ENUM,
	      .size_bits = 32, .is_set = true, .mask = 3);
	CHECK(layout_add_label(e->layout, "RDONLY", 0, 0));
	CHECK(layout_add_label(e->layout, "WRONLY", 1, 1));
	CHECK(layout_add_label(e->layout, "RDWR", 2, 2));
	CHECK(layout_add_label(e->layout, "SYNC", 0x101000, 0x101000));
	CHECK(layout_add_label(e->layout, "CREAT", 0x40, 0x40));
	CHECK(layout_add_label(e->layout, "CLOEXEC", 0x80000, 0x80000));
	CHECK(layout_add_label(e->layout, "WRONLY|CREAT", 0x41, 0x41));
	FIELD(e, "web-17", 7, .name = "peer", .kind = LTT_KIND_STRING, .flags = LTT_FIELD_NOWRITE);
	INTEGER(e, "last", uint16_t, LTT_FIELD_NOWRITE, 4660);
}

void filter_event_make(struct filter_event *event)
{
	memset(event, 0, sizeof(*event));
	event->layout = layout_new(32, 16, 512);
	CHECK(event->layout);
	filter_event_fixed(event);
	filter_event_varying(event);
	CHECK(!layout_check(event->layout));
}

enum filter_status filter_event_compile(const struct filter_event *event, const char *expression,
					enum filter_mode mode, struct filter_result *ret_result)
{
	return filter_compile(expression, event->layout, filter_event_contexts,
			      ARRAY_SIZE(filter_event_contexts), mode, ret_result);
}

bool filter_event_run(const struct filter_result *result, const uint8_t *bytes, size_t length)
{
	uint8_t *copy = malloc(length ? length : 1);
	bool accepted;

	memcpy(copy, bytes, length);
	CHECK(ltt_filter_verify(result->program, result->bytes));
	accepted = ltt_filter_run(result->program, copy, length, filter_event_values);
	free(copy);
	return accepted;
}

uint32_t filter_event_cases(void (*fn)(const char *expected, const char *expression))
{
	const char *top = getenv("TOP"); /* of the sources */
	char line[1000], name[4096], *tab;
	uint32_t nr = 0;
	FILE *file;

	snprintf(name, sizeof(name), "%s/tests/unit/data/filter.cases", top ? top : ".");
	file = fopen(name, "r");
	CHECK(file);
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line == '\0' || *line == '#')
			continue;
		tab = strchr(line, '\t');
		CHECK(tab);
		*tab = '\0';
		fn(line, tab + 1);
		nr++;
	}
	fclose(file);
	return nr;
}
