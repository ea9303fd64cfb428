/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * metadata_fragments.c - fragments of CTF 2 with texts that JSON has no place for: quotes, control
 * bytes, bytes that are no UTF-8; labels of one name; remarks of one moment. All that programs
 * record is in e2e/ctf-2.
 */
#include <json-c/json.h>
#include <string.h>

#include "check.h"
#include "trace/fragment.h"
#include "trace/metadata.h"

/* The object of a text that is one fragment. */
static struct json_object *parsed(char *text)
{
	struct json_object *o;

	CHECK(text && *text == METAPACKET_SEPARATOR && text[strlen(text) - 1] == '\n');
	o = json_tokener_parse(text + 1);
	CHECK(o);
	free(text);
	return o;
}

static const char *string_of(struct json_object *o, const char *key)
{
	return json_object_get_string(json_object_object_get(o, key));
}

static struct json_object *element(struct json_object *o, const char *key, size_t i)
{
	return json_object_array_get_idx(json_object_object_get(o, key), i);
}

static struct layout *hostile(void)
{
	struct layout *layout = layout_new(2, 4, 200);
	const struct layout_field number = {
		.name = "a\"b", .kind = LTT_KIND_ENUM, .size_bits = 8, .flags = LTT_FIELD_SIGNED
	};

	CHECK(layout_add_field(layout, &number));
	CHECK(layout_add_label(layout, "on\"e", 1, 1));
	CHECK(layout_add_label(layout, "two", 2, 2));
	CHECK(layout_add_label(layout, "on\"e", -5, -3));
	CHECK(layout_add_label(layout, "\xff\n", 4, 4));
	return layout;
}

static void check_event(void)
{
	struct layout *layout = hostile();
	const struct metadata_event event = { "x:\"\\\x01\xc3\xa4\xc3", 13, "f %d", layout };
	char *body = metadata_event_body(METADATA_CTF_2, &event);
	char *note = metadata_event_note(METADATA_CTF_2, "1/64 by \"a\"");
	char whole[4096];
	struct json_object *o, *payload, *class, *mappings;

	snprintf(whole, sizeof(whole), "%s%s", body, note);
	o = parsed(metadata_event(METADATA_CTF_2, 3, 7, whole));
	CHECK(!strcmp(string_of(o, "name"), "x:\"\\\x01\xc3\xa4\\xc3"));
	payload = json_object_object_get(o, "payload-field-class");
	CHECK(!strcmp(string_of(element(payload, "member-classes", 0), "name"), "a_b"));
	class = json_object_object_get(element(payload, "member-classes", 0), "field-class");
	mappings = json_object_object_get(class, "mappings");
	CHECK_IS(json_object_object_length(mappings), ==, 3);
	CHECK(!strcmp(string_of(mappings, "on\"e"), "[ [ 1, 1 ], [ -5, -3 ] ]"));
	CHECK(json_object_object_get(mappings, "\\xff\n"));
	CHECK(strstr(string_of(payload, "attributes"), "1\\/64 by \\\"a\\\""));
	CHECK(strstr(string_of(o, "attributes"), "\"debug:line\"") &&
	      strstr(string_of(o, "attributes"), "ltt:marker?format=f%20%25d"));
	json_object_put(o);
	free(body);
	free(note);
	layout_free(layout);
}

static void check_remarks(void)
{
	struct json_object *a, *b;

	a = parsed(metadata_remark(METADATA_CTF_2, metadata_buffer(METADATA_BUFFER_LOST, 3, "x")));
	b = parsed(metadata_remark(METADATA_CTF_2, metadata_buffer(METADATA_BUFFER_LOST, 3, "x")));
	CHECK(strcmp(string_of(a, "name"), string_of(b, "name")) != 0);
	CHECK(strstr(string_of(a, "attributes"), "buffer lost: 3 x"));
	CHECK(!metadata_remark(METADATA_CTF_2, NULL));
	json_object_put(a);
	json_object_put(b);
}

int main(void)
{
	check_event();
	check_remarks();
	return 0;
}
