/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every type, header form and byte order: output of the viewer for traces that are made by hand,
 * word by word, compared with that of babeltrace2 where it is installed.
 */
#include <inttypes.h>
#include <json-c/json.h>

#include "lib/view_make.h"

/* --- our own format: header forms, rollover, several packets -------------- */

#define ROLL (1ull << 27)

static void make_headers(const char *dir)
{
	static const char metadata[] =
		MAKE_HEAD MAKE_NUMBER("t:compact", 29) MAKE_NUMBER("t:wide", 30)
			MAKE_NUMBER("t:widest", 65535) MAKE_NUMBER("t:extended", 65536);
	struct maker m = { .cpu = 3 };

	packet_open(&m, 5);
	put(event(&m, 29, 5), 1, 4);
	put(event(&m, 30, 6), 2, 4);
	put(event(&m, 65535, 7), 3, 4);
	put(event(&m, 65536, 8), 4, 4);
	put(event(&m, 29, ROLL - 1), 5, 4);
	put(event(&m, 29, ROLL), 6, 4); /* the epoch differs: extended */
	put(event(&m, 30, ROLL + 1), 7, 4);
	packet_close(&m, ROLL + 1);
	packet_open(&m, ROLL + 1);
	put(event(&m, 29, ROLL + 1), 8, 4);
	put(event(&m, 30, 77 * ROLL + 9), 9, 4); /* a long pause */
	put(event(&m, 29, 77 * ROLL + 10), 10, 4);
	packet_close(&m, 77 * ROLL + 10);
	make_file(dir, "metadata", metadata, strlen(metadata));
	make_file(dir, "ch_3", m.out.at, m.out.len);
	bytes_fini(&m.out);
}

static const char headers_text[] =
	"[01:46:40.000000005] (+?."
	"?????"
	"????"
	") box t:compact: { cpu_id = 3 }, { n = 1 }\n"
	"[01:46:40.000000006] (+0.000000001) box t:wide: { cpu_id = 3 }, { n = 2 }\n"
	"[01:46:40.000000007] (+0.000000001) box t:widest: { cpu_id = 3 }, { n = 3 }\n"
	"[01:46:40.000000008] (+0.000000001) box t:extended: { cpu_id = 3 }, { n = 4 }\n"
	"[01:46:40.134217727] (+0.134217719) box t:compact: { cpu_id = 3 }, { n = 5 }\n"
	"[01:46:40.134217728] (+0.000000001) box t:compact: { cpu_id = 3 }, { n = 6 }\n"
	"[01:46:40.134217729] (+0.000000001) box t:wide: { cpu_id = 3 }, { n = 7 }\n"
	"[01:46:40.134217729] (+0.000000000) box t:compact: { cpu_id = 3 }, { n = 8 }\n"
	"[01:46:50.334765065] (+10.200547336) box t:wide: { cpu_id = 3 }, { n = 9 }\n"
	"[01:46:50.334765066] (+0.000000001) box t:compact: { cpu_id = 3 }, { n = 10 }\n";

/* --- every type, little-endian and packed or big-endian and aligned ------- */

static const char types_declared[] =
	"stream { id = 7;\n"
	"  event.header := struct { uint16_t id; uint32_clock_t timestamp; };\n"
	"  packet.context := struct { uint64_t content_size; uint64_t packet_size;\n"
	"    uint64_clock_t timestamp_begin; uint64_clock_t timestamp_end; uint8_t cpu_id; };\n"
	"  event.context := struct { int32_t _tid; uint8_t _m; };\n};\n"
	"event { name = \"all\"; id = 1; stream_id = 7;\n"
	"  context := struct { uint8_t _level; };\n"
	"  fields := struct {\n"
	"    typealias integer { size = 16; signed = true; align = A; } := short_t;\n"
	"    int8_t _i8; short_t _i16; int32_t _i32; int64_t _i64;\n"
	"    uint8_t _u8; uint16_t _u16; uint32_t _u32; uint64_t _u64;\n"
	"    integer { size = 32; align = A; signed = true; base = hex; } _hex;\n"
	"    integer { size = 16; align = A; base = 8; } _oct;\n"
	"    integer { size = 8; align = 8; base = binary; } _bin;\n"
	"    integer { size = 16; align = A; byte_order = network; } _net;\n"
	"    integer { size = 3; align = 1; } _b3; integer { size = 13; align = 1; signed = true; } _b13;\n"
	"    floating_point { exp_dig = 8; mant_dig = 24; align = A; } _f;\n"
	"    floating_point { exp_dig = 11; mant_dig = 53; align = A; } _d;\n"
	"    string _s; string { encoding = ASCII; } _empty;\n"
	"    uint16_t _a3[3]; uint8_t _a23[2][3];\n"
	"    integer { size = 8; encoding = UTF8; } _at[6];\n"
	"    uint16_t __len; uint32_t _seq[ __len ];\n"
	"    uint8_t __tlen; integer { size = 8; encoding = UTF8; signed = true; } _text[ __tlen ];\n"
	"    enum color : uint8_t { RED = 1, \"GREEN\", BLUE = 10 ... 20, \"dark blue\" = 15 } _c1;\n"
	"    enum color _c2, _c3, _c4;\n"
	"    struct pair { uint8_t x; uint16_t y; } _p; struct pair _ps[2];\n"
	"    enum : uint8_t { num = 0, str = 1, pt = 2 } _tag;\n"
	"    variant <_tag> { uint32_t num; string str; struct pair pt; } _v;\n"
	"    uint8_t __n2; struct pair _pseq[ __n2 ];\n"
	"  };\n};\n"
	"event { name = \"scopes\"; id = 3; stream_id = 7;\n"
	"  context := struct { uint8_t _n; };\n"
	"  fields := struct { uint8_t _a[event.context._n]; uint8_t _b[stream.event.context._m];\n"
	"    uint8_t _c[event.context._n]; struct { uint8_t k; struct { uint8_t _d[k]; } in; } _out; }; };\n"
	"event { name = \"none\"; id = 4; stream_id = 7; };\n";

static const char types_head[] =
	"/* CTF 1.8 */ // the other comment\n"
	"typealias integer { size = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 16; align = A; signed = false; } := uint16_t;\n"
	"typealias integer { size = 32; align = A; signed = false; } := uint32_t;\n"
	"typedef integer { size = 64; align = A; signed = false; } uint64_t;\n"
	"typealias integer { size = 8; signed = true; } := int8_t;\n"
	"typealias integer { size = 32; align = A; signed = true; } := int32_t;\n"
	"typealias integer { size = 64; align = A; signed = true; } := int64_t;\n"
	"trace { major = 1; minor = 8; byte_order = O;\n"
	"  packet.header := struct { uint32_t magic; uint32_t stream_id; }; };\n"
	"env { hostname = \"h\"; procname = \"prog\"; vpid = 42; };\n"
	"clock { name = c; freq = 1000; offset_s = 86399; offset = 999; };\n"
	"typealias integer { size = 32; align = A; map = clock.c.value; } := uint32_clock_t;\n"
	"typealias integer { size = 64; align = A; map = clock.c.value; } := uint64_clock_t;\n";

/* Replace the words A (alignment of fields larger than a byte) and O. */
static char *fill_in(const char *text, bool big)
{
	struct bytes out = { 0 };

	for (const char *s = text; *s; s++) {
		if (!strncmp(s, "align = A", 9)) {
			put_raw(&out, big ? "align = 16" : "align = 8", big ? 10 : 9);
			s += 8;
		} else if (!strncmp(s, "= O;", 4)) {
			put_raw(&out, big ? "= be;" : "= le;", 5);
			s += 3;
		} else {
			put_raw(&out, s, 1);
		}
	}
	put(&out, 0, 1);
	return (char *)out.at;
}

/* Big-endian traces here align fields larger than a byte to two bytes. */
static void align(struct bytes *b, unsigned size)
{
	if (b->big && size > 1 && b->len % 2)
		put(b, 0, 1);
}

static void num(struct bytes *b, uint64_t v, unsigned size)
{
	align(b, size);
	put(b, v, size);
}

static void put_types(struct bytes *b, int tag)
{
	align(b, 2);
	num(b, 1, 2);
	num(b, 1000 + tag, 4);
	num(b, (uint32_t)-5, 4); /* stream event context */
	num(b, 1, 1);
	num(b, 6, 1); /* event context */
	align(b, 2);  /* of the struct of fields */
	num(b, (uint8_t)-128, 1);
	num(b, (uint16_t)-3, 2);
	num(b, (uint32_t)-70000, 4);
	num(b, (uint64_t)INT64_MIN, 8);
	num(b, 255, 1);
	num(b, 65535, 2);
	num(b, 4000000000u, 4);
	num(b, UINT64_MAX, 8);
	num(b, (uint32_t)-2, 4);
	num(b, 0777, 2);
	num(b, 5, 1);
	align(b, 2);
	put(b, b->big ? 0x1234 : 0x3412, 2); /* 0x1234 in network order */
	/* 3 bits: 5; 13 bits: -2 = 0x1ffe */
	if (b->big)
		put(b, 5 << 13 | 0x1ffe, 2);
	else
		put(b, 5 | 0x1ffe << 3, 2);
	align(b, 4);
	put_float(b, 0.25, 4);
	align(b, 8);
	put_float(b, -1.5, 8);
	put_str(b, "a \"b\" \\ \t\n\x01");
	put_str(b, "");
	for (int i = 1; i < 4; i++)
		num(b, i, 2);
	for (int i = 0; i < 6; i++)
		num(b, i, 1);
	put_raw(b, "abc\0xx", 6);
	num(b, 2, 2);
	num(b, 10, 4);
	num(b, 20, 4);
	num(b, 3, 1);
	put_raw(b, "xyz", 3);
	num(b, 1, 1); /* RED */
	num(b, 2, 1);
	num(b, 15, 1);
	num(b, 99, 1);
	for (int i = 0; i < 3; i++) {
		align(b, 2);
		num(b, i, 1);
		num(b, i + 100, 2);
	}
	num(b, tag, 1);
	if (tag == 0)
		num(b, 77, 4);
	else if (tag == 1)
		put_str(b, "option");
	else {
		align(b, 2);
		num(b, 8, 1);
		num(b, 9, 2);
	}
	num(b, tag, 1);
	align(b, 2);
	for (int i = 0; i < tag; i++) {
		align(b, 2);
		num(b, i, 1);
		num(b, i, 2);
	}
}

static void put_scopes(struct bytes *b)
{
	align(b, 2);
	num(b, 3, 2);
	num(b, 1003, 4);
	num(b, 1, 4); /* tid */
	num(b, 1, 1); /* m */
	num(b, 2, 1); /* n */
	put_raw(b, "\x0a\x0b", 2);
	put_raw(b, "\x0c", 1);
	put_raw(b, "\x0d\x0e", 2);
	put_raw(b, "\x03\x01\x02\x03", 4);
}

static void make_types(const char *dir, bool big)
{
	char *head = fill_in(types_head, big), *rest = fill_in(types_declared, big);
	struct bytes metadata = { 0 }, b = { .big = big };
	size_t sizes;

	put_raw(&metadata, head, strlen(head));
	put_raw(&metadata, rest, strlen(rest));
	make_file(dir, "metadata", metadata.at, metadata.len);
	put(&b, 0xc1fc1fc1, 4);
	put(&b, 7, 4);
	sizes = b.len;
	put(&b, 0, 8);
	put(&b, 0, 8);
	put(&b, 900, 8);
	put(&b, 2000, 8);
	put(&b, 1, 1);
	for (int tag = 0; tag < 3; tag++)
		put_types(&b, tag);
	put_scopes(&b);
	align(&b, 2);
	num(&b, 4, 2);
	num(&b, 1004, 4);
	num(&b, 0, 4);
	num(&b, 1, 1);
	poke(&b, sizes, b.len * 8, 8);
	for (int i = 0; i < 5; i++) /* padding */
		put(&b, 0xff, 1);
	poke(&b, sizes + 8, b.len * 8, 8);
	make_file(dir, "s", b.at, b.len);
	bytes_fini(&b);
	bytes_fini(&metadata);
	free(head);
	free(rest);
}

#define TYPES_LINE(time, delta, tag, n2, v, pseq)                                           \
	"[" time "] (+" delta ") h:prog:(42) all: { cpu_id = 1 }, { tid = -5, m = 1 }, "    \
	"{ level = 6 }, { i8 = -128, i16 = -3, i32 = -70000, i64 = -9223372036854775808, "  \
	"u8 = 255, u16 = 65535, u32 = 4000000000, u64 = 18446744073709551615, "             \
	"hex = 0xFFFFFFFE, oct = 0777, bin = 0b00000101, net = 4660, b3 = 5, b13 = -2, "    \
	"f = 0.25, d = -1.5, s = \"a \\\"b\\\" \\\\ \\t\\n\\x01\", empty = \"\", "          \
	"a3 = [ [0] = 1, [1] = 2, [2] = 3 ], a23 = [ [0] = [ [0] = 0, [1] = 1, [2] = 2 ], " \
	"[1] = [ [0] = 3, [1] = 4, [2] = 5 ] ], at = \"abc\", _len = 2, "                   \
	"seq = [ [0] = 10, [1] = 20 ], _tlen = 3, text = \"xyz\", "                         \
	"c1 = ( \"RED\" : container = 1 ), c2 = ( \"GREEN\" : container = 2 ), "            \
	"c3 = ( \"BLUE\", \"dark blue\" : container = 15 ), "                               \
	"c4 = ( <unknown> : container = 99 ), p = { x = 0, y = 100 }, "                     \
	"ps = [ [0] = { x = 1, y = 101 }, [1] = { x = 2, y = 102 } ], "                     \
	"tag = ( \"" tag " ), v = { " v " }, _n2 = " n2 ", pseq = [ " pseq "] }\n"

static const char types_text[] = TYPES_LINE("00:00:00.999000000",
					    "?."
					    "?????"
					    "????",
					    "num\" : container = 0", "0", "77",
					    "") TYPES_LINE("00:00:01.000000000", "0.001000000",
							   "str\" : container = 1", "1",
							   "\"option\"", "[0] = { x = 0, y = 0 } ")
	TYPES_LINE(
		"00:00:01.001000000", "0.001000000", "pt\" : container = 2", "2",
		"{ x = 8, y = 9 }",
		"[0] = { x = 0, y = 0 }, [1] = { x = 1, y = 1 } ") "[00:00:01.002000000] (+0.001000000) h:prog:(42) scopes: { cpu_id = 1 }, { tid = 1, m = 1 }, "
								   "{ n = 2 }, { a = [ [0] = 10, [1] = 11 ], b = [ [0] = 12 ], c = [ [0] = 13, [1] = 14 ], "
								   "out = { k = 3, in = { d = [ [0] = 1, [1] = 2, [2] = 3 ] } } }\n"
								   "[00:00:01.003000000] (+0.001000000) h:prog:(42) none: { cpu_id = 1 }, { tid = 0, m = 1 }\n";

/* --- beside babeltrace2 --------------------------------------------------- */

/* Its text of our packets has the reader's own fields too: cut them out. */
static void cut(char *text, const char *from, const char *to)
{
	for (char *at = strstr(text, from); at; at = strstr(at, from)) {
		char *end = strstr(at, to);

		CHECK(end);
		memmove(at, end, strlen(end) + 1);
	}
}

static char *babeltrace(const char *dir)
{
	char command[600], *text = NULL;
	size_t len = 0, n;
	char buf[4096];
	FILE *out = open_memstream(&text, &len), *in;

	snprintf(command, sizeof(command), "babeltrace2 '%s' 2>&1", dir);
	in = popen(command, "r");
	CHECK(in && out);
	while ((n = fread(buf, 1, sizeof(buf), in)) > 0)
		fwrite(buf, 1, n, out);
	CHECK_IS(pclose(in), ==, 0);
	fclose(out);
	cut(text, ", stream_pos = ", " }");
	return text;
}

static bool have_babeltrace(void)
{
	return system("babeltrace2 --version >/dev/null 2>&1") == 0;
}

/* --- the tests ------------------------------------------------------------ */

static void check_text(const char *dir, const char *want)
{
	struct seen seen;

	CHECK_IS(see(&seen, dir), ==, 0);
	check_same(dir, seen.text, want);
	CHECK_IS(seen.problems, ==, 0);
	seen_fini(&seen);
}

static json_object *member(json_object *object, const char *key)
{
	json_object *value = NULL;

	if (!json_object_object_get_ex(object, key, &value)) {
		fprintf(stderr, "no \"%s\" in %s\n", key, json_object_to_json_string(object));
		exit(1);
	}
	return value;
}

static void check_json(const char *dir)
{
	struct view_style style = { .format = VIEW_JSON };
	struct seen seen;
	json_object *event_object, *fields;

	CHECK_IS(see_style(&seen, dir, NULL, &style), ==, 0);
	CHECK_IS(count_text(seen.text, "\n"), ==, 5);
	*strchr(seen.text, '\n') = 0;
	event_object = json_tokener_parse(seen.text);
	CHECK(event_object);
	check_same("time", json_object_get_string(member(event_object, "time")),
		   "1970-01-02T00:00:00.999000000Z");
	check_same("ns", json_object_to_json_string(member(event_object, "ns")), "\"86400999000000\"");
	check_same("host", json_object_get_string(member(event_object, "host")), "h");
	CHECK_IS(json_object_get_int(member(event_object, "vpid")), ==, 42);
	CHECK_IS(json_object_get_int(member(member(event_object, "packet"), "cpu_id")), ==, 1);
	CHECK_IS(json_object_get_int(member(member(event_object, "context"), "tid")), ==, -5);
	CHECK_IS(json_object_get_int(member(member(event_object, "context"), "level")), ==, 6);
	fields = member(event_object, "fields");
	check_same("i64", json_object_to_json_string(member(fields, "i64")), "\"-9223372036854775808\"");
	check_same("u64", json_object_to_json_string(member(fields, "u64")), "\"18446744073709551615\"");
	CHECK_IS(json_object_get_double(member(fields, "d")), ==, -1.5);
	check_same("s", json_object_get_string(member(fields, "s")), "a \"b\" \\ \t\n\x01");
	check_same("c3", json_object_to_json_string_ext(member(fields, "c3"), 0),
		   "{\"labels\":[\"BLUE\",\"dark blue\"],\"value\":15}");
	check_same("ps", json_object_to_json_string_ext(member(fields, "ps"), 0),
		   "[{\"x\":1,\"y\":101},{\"x\":2,\"y\":102}]");
	check_same("v", json_object_to_json_string_ext(member(fields, "v"), 0), "{\"num\":77}");
	json_object_put(event_object);
	seen_fini(&seen);
}

/* Contexts of the stream, as LTTng has them. */
static void check_tasks(const char *dir)
{
	struct view_style style = { .tasks = true };
	struct seen seen;

	CHECK_IS(see_style(&seen, dir, NULL, &style), ==, 0);
	CHECK_IS(count_text(seen.text, "[:-5] all: { cpu_id = 1 }, { m = 1 }, "), ==, 3);
	CHECK_IS(count_text(seen.text, "[:0]  none: { cpu_id = 1 }, { m = 1 }\n"), ==, 1);
	seen_fini(&seen);
}

int main(void)
{
	char headers[128], little[128], big[128];

	make_path(headers, sizeof(headers), make_tmp(), "headers");
	make_path(little, sizeof(little), make_root, "little");
	make_path(big, sizeof(big), make_root, "big");
	make_headers(headers);
	check_text(headers, headers_text);
	make_types(little, false);
	make_types(big, true);
	check_text(little, types_text);
	check_text(big, types_text);
	check_json(little);
	check_json(big);
	check_tasks(little);
	check_tasks(big);
	if (have_babeltrace()) {
		char *text = babeltrace(headers);

		check_same("babeltrace2", text, headers_text);
		free(text);
		text = babeltrace(little);
		check_same("babeltrace2", text, types_text);
		free(text);
		text = babeltrace(big);
		check_same("babeltrace2", text, types_text);
		free(text);
	}
	return 0;
}
