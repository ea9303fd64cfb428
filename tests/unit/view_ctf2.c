/* SPDX-License-Identifier: GPL-2.0-only */
/* Metadata of CTF 2: JSON, field classes, locations; wrong in many ways, bounded in all. */
#include <time.h>

#include "lib/view_make.h"
#include "read/ctf2/ctf2.h"
#include "read/ctf2/json.h"
#include "read/decode/plan.h"

struct parsed {
	struct arena arena;
	struct reporter reporter;
	struct ctf_trace_class *tc;
	struct seen seen;
	int result;
};

/* Quotes are single here. */
static void parse_len(struct parsed *p, const char *quoted, size_t len)
{
	char *text = malloc(len + 1);

	for (size_t i = 0; i < len; i++)
		text[i] = quoted[i] == '\'' ? '"' : quoted[i];
	memset(p, 0, sizeof(*p));
	p->reporter = (struct reporter){ .fn = note_problem, .priv = &p->seen };
	p->result = ctf2_parse(text, len, "m", &p->arena, &p->reporter, &p->tc);
	free(text);
}

static void parse(struct parsed *p, const char *text)
{
	parse_len(p, text, strlen(text));
}

static void done(struct parsed *p)
{
	arena_fini(&p->arena);
	seen_fini(&p->seen);
}

#define RS "\x1e"
#define PREAMBLE RS "{'type': 'preamble', 'version': 2}\n"
#define UINT(bits, more)                                                   \
	"{'type': 'fixed-length-unsigned-integer', 'length': " #bits \
	", 'byte-order': 'little-endian', 'alignment': 8" more "}"
#define SINT8                                                         \
	"{'type': 'fixed-length-signed-integer', 'length': 8, " \
	"'byte-order': 'little-endian'}"
#define LEB(sign) "{'type': 'variable-length-" sign "signed-integer'}"
#define MEMBER(name, class) "{'name': '" name "', 'field-class': " class "}"
#define STRUCT(members) "{'type': 'structure', 'member-classes': [" members "]}"
#define ID ", 'roles': ['event-record-class-id']"
#define STREAM                                       \
	PREAMBLE RS                                  \
		"{'type': 'data-stream-class', " \
		"'event-record-header-field-class': " STRUCT(MEMBER("id", UINT(8, ID))) "}\n"
#define EVENT(payload)                                                                             \
	RS "{'type': 'event-record-class', 'name': 'e', 'payload-field-class': " payload \
	   "}\n"

static const struct ctf_type *fields_of(const struct parsed *p)
{
	const struct ctf_event_class *ec =
		p->tc && p->tc->streams ? stream_class_event(p->tc->streams, 0) : NULL;

	CHECK(ec);
	return ec->fields;
}

/* --- JSON ----------------------------------------------------------------- */

static const char *read_text(const char *text, struct arena *arena, struct json **ret,
			     size_t *ret_at)
{
	size_t len = strlen(text);
	char *exact = malloc(len ? len : 1); /* no byte is read behind it */
	const char *why;

	memcpy(exact, text, len);
	why = json_read(exact, len, arena, ret, ret_at);
	free(exact);
	return why;
}

static void test_json(void)
{
	struct arena arena = { NULL };
	struct json *json;
	size_t at;

	CHECK(!read_text(
		" {\"a\": [1, -9223372036854775808, 18446744073709551615, 1.5e3, true, null],"
		"\"b\\u00e9\\ud834\\udd1e\\ud834\\n\\u0000\": \"\"} ",
		&arena, &json, &at));
	json = (struct json *)json_member(json, "a");
	CHECK(json && json->kind == JSON_ARRAY && json->nr == 6);
	CHECK(json->first->number == 1 && !json->first->negative);
	CHECK(json->first->next->number == 1ull << 63 && json->first->next->negative);
	CHECK(json->first->next->next->number == UINT64_MAX);
	CHECK_IS(json->first->next->next->next->kind, ==, JSON_REAL);
	check_same("key", json->next->key, "b\xc3\xa9\xf0\x9d\x84\x9e\xef\xbf\xbd\n\xef\xbf\xbd");
	CHECK(!json_member(json, "a") && !json_member(NULL, "a"));
	arena_fini(&arena);
}

static void test_no_json(void)
{
	static const struct {
		const char *text, *says;
		size_t at;
	} cases[] = {
		{ "", "a value is expected", 0 },
		{ "{", "a member's name", 1 },
		{ "{\"a\" 1}", "':'", 5 },
		{ "[1 2]", "',' or ']'", 3 },
		{ "{} x", "the end", 3 },
		{ "\"abc", "no end", 4 },
		{ "\"ab\\", "no end", 4 },
		{ "\"\\u12\"", "not complete", 3 },
		{ "\"\\u12x4\"", "not hexadecimal", 6 },
		{ "\"\\q\"", "escape is unknown", 2 },
		{ "\"a\nb\"", "control character", 2 },
		{ "01", "begins with 0", 2 },
		{ "-", "no digit", 1 },
		{ "1.", "no digit", 2 },
		{ "tru", "a value is expected", 0 },
	};
	struct arena arena = { NULL };
	struct json *json;
	char deep[300];
	size_t at;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *why = read_text(cases[i].text, &arena, &json, &at);

		if (!why || !strstr(why, cases[i].says) || at != cases[i].at)
			printf("%s: %s at %zu\n", cases[i].text, why ? why : "valid", at);
		CHECK(why && strstr(why, cases[i].says) && at == cases[i].at);
	}
	memset(deep, '[', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	CHECK(strstr(read_text(deep, &arena, &json, &at), "too deep"));
	arena_fini(&arena);
}

/* A fragment of many small values must not need memory without a limit. */
static void test_many_values(void)
{
	size_t nr = JSON_MAX_VALUES + 10, at;
	char *text = malloc(2 * nr + 1);
	struct arena arena = { NULL };
	struct json *json;

	for (size_t i = 0; i < nr; i++)
		memcpy(text + 2 * i, i ? ",1" : "[1", 2);
	text[2 * nr] = ']';
	CHECK(strstr(json_read(text, 2 * nr + 1, &arena, &json, &at), "too many values"));
	arena_fini(&arena);
	free(text);
}

/* --- field classes -------------------------------------------------------- */

static void read_bytes(const struct parsed *p, const struct ctf_type *type, const void *bytes,
		       size_t len, struct values *values)
{
	struct reader r = { .bytes = bytes, .end = len * 8, .values = values };

	r.slots = calloc(p->tc->nr_slots, sizeof(*r.slots));
	CHECK_IS(reader_struct(&r, type), ==, READ_OK);
	CHECK_IS(r.pos, ==, len * 8);
	r.values = NULL;
	r.pos = 0;
	CHECK(reader_struct(&r, type) == READ_OK && r.pos == len * 8);
	for (size_t cut = 0; cut < len; cut++) {
		struct values some = { .at = NULL };

		r.end = cut * 8;
		r.values = cut & 1 ? &some : NULL;
		r.pos = 0;
		CHECK_IS(reader_struct(&r, type), ==, READ_SHORT);
		values_fini(&some);
	}
	free(r.slots);
}

#define BITS(n, more)                                                                           \
	"{'type': 'fixed-length-unsigned-integer', 'length': " #n                                \
	", 'byte-order': 'little-endian'" more "}"
#define TIME ", 'roles': ['default-clock-timestamp']"
#define SELECTED(ranges, members)                                                               \
	"{'selector-field-ranges': " ranges ", 'field-class': " STRUCT(members) "}"

static const char lttng_header[] =
	"{'type': 'structure', 'minimum-alignment': 8, 'member-classes': ["
	MEMBER("id", BITS(5, ID ", 'mappings': {'compact': [[0, 30]], 'extended': [[31, 31]]}")) ", "
	"{'name': 'v', 'field-class': {'type': 'variant', "
	"'selector-field-location': {'path': ['id']}, 'options': ["
	SELECTED("[[0, 30]]", MEMBER("timestamp", BITS(27, TIME))) ", "
	SELECTED("[[31, 31]]", MEMBER("id", UINT(32, ID)) ", " MEMBER("timestamp", UINT(64, TIME)))
	"]}}]}";

static const char lttng_event[] = EVENT(STRUCT(
	MEMBER("n", UINT(16, "")) ", " MEMBER("s", "{'type': 'null-terminated-string'}") ", "
	MEMBER("t", "{'type': 'static-length-string', 'length': 4}") ", "
	MEMBER("d", "{'type': 'dynamic-length-string', "
		    "'length-field-location': {'path': ['n']}}")));

/* The header and events of LTTng 2.15 are read by plans. */
static void test_plans(void)
{
	const struct ctf_stream_class *sc;
	struct parsed p;
	char text[4096];

	snprintf(text, sizeof(text),
		 PREAMBLE RS "{'type': 'clock-class', 'id': 'c', 'frequency': 1000, "
			     "'offset-from-origin': {'seconds': -3, 'cycles': 7}}\n" RS
			     "{'type': 'data-stream-class', 'default-clock-class-id': 'c', "
			     "'event-record-header-field-class': %s}\n%s",
		 lttng_header, lttng_event);
	parse(&p, text);
	CHECK(p.result == 0 && p.seen.problems == 0);
	sc = p.tc->streams;
	CHECK(sc->header_plan && sc->header_plan->nr_forms == 1 && !sc->header_is_referred);
	CHECK(sc->clock && sc->clock->freq == 1000 && sc->clock->offset_s == -3 &&
	      sc->clock->offset == 7);
	CHECK(fields_of(&p)->plan && stream_class_event(sc, 0)->skipped);
	done(&p);
}

static void test_locations(void)
{
	static const uint8_t bytes[] = { 1, 3, 0, 'a', 'b', 'c', 2, 'x', 'y', 1, 'z' };
	static const char text[] = STREAM EVENT(STRUCT(
		MEMBER("sel", UINT(8, "")) ","
		/* the length is an option of a variant, of one or two bytes */
		MEMBER("len",
		       "{'type': 'variant', 'selector-field-location': "
		       "{'origin': 'event-record-payload', 'path': ['sel']}, "
		       "'options': [{'selector-field-ranges': [[0, 0]], "
		       "'field-class': " UINT(
			       8,
			       "") "}, {'selector-field-ranges': "
				   "[[1, 9]], 'field-class': " UINT(
					   16,
					   "") "}]}") "," MEMBER("s",
								 STRUCT(MEMBER(
									 "text",
									 "{'type': 'dynamic-length-string', "
									 "'length-field-location': {'path': [null, 'len']}}"))) ","
		/* the length is beside the text, in the element that is being read */
		MEMBER("all",
		       "{'type': 'static-length-array', 'length': 2, "
		       "'element-field-class': " STRUCT(MEMBER("n", UINT(8, "")) "," MEMBER(
			       "t", "{'type': 'dynamic-length-blob', "
				    "'length-field-location': "
				    "{'origin': 'event-record-payload', "
				    "'path': ['all', 'n']}}")) "}")));
	struct values values = { .at = NULL };
	struct parsed p;

	parse(&p, text);
	CHECK(p.result == 0 && p.seen.problems == 0);
	read_bytes(&p, fields_of(&p), bytes, sizeof(bytes), &values);
	CHECK(values.at[5].count == 3 && !memcmp(values.at[5].bytes, "abc", 3));
	CHECK(values.at[9].count == 2 && values.at[9].type->look == LOOK_BLOB);
	CHECK(values.at[12].count == 1 && values.at[12].bytes[0] == 'z');
	values_fini(&values);
	done(&p);
}

static void test_numbers(void)
{
	static const uint8_t bytes[] = { 0xe5, 0x8e, 0x26, 0x80, 0x7f, 0xff, 0xff, 0xff, 0xff,
					 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0x81, 0x7e };
	static const uint8_t long_ones[][11] = {
		{ 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02 },
		{ 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00 },
	};
	static const char text[] = STREAM EVENT(STRUCT(
		MEMBER("a", LEB("un")) "," MEMBER("b", LEB("")) "," MEMBER(
			"c",
			"{'type': 'variable-length-unsigned-integer'}") "," MEMBER("d",
										       "{'type': 'fixed-length-bit-map', 'length': 8, 'byte-order': "
										       "'little-endian', 'flags': {'x': [[0, 0]], 'y': [[1, 3]], "
										       "'z': [[7, 7]]}}") "," MEMBER("e",
														       "{'type': 'fixed-length-unsigned-integer', 'length': 8, "
														       "'byte-order': 'little-endian', "
														       "'bit-order': 'last-to-first'}")));
	struct values values = { .at = NULL };
	struct parsed p;
	struct reader r;
	char label[64];

	parse(&p, text);
	CHECK(p.result == 0 && p.seen.problems == 0);
	read_bytes(&p, fields_of(&p), bytes, sizeof(bytes), &values);
	CHECK_IS(values.at[1].u, ==, 624485);
	CHECK_IS((int64_t)values.at[2].u, ==, -128);
	CHECK_IS(values.at[3].u, ==, UINT64_MAX);
	enum_text(label, sizeof(label), values.at[4].type, values.at[4].u);
	check_same("flags", label, "x|z");
	CHECK_IS(values.at[5].u, ==, 0x7e);
	for (size_t i = 0; i < ARRAY_SIZE(long_ones); i++) {
		r = (struct reader){ .bytes = long_ones[i], .end = 8 * sizeof(long_ones[i]) };
		CHECK_IS(reader_struct(&r, fields_of(&p)), ==, READ_DAMAGED);
	}
	values_fini(&values);
	done(&p);
}

static void test_wide_strings(void)
{
	static const uint8_t bytes[] = { 'u', 0, 0x34, 0xd8, 0x1e, 0xdd, 0x34, 0xd8, 0, 0, 0,
					 0,   0, 0xfc, 0,    'x',  0,	 'y',  0,    0, 0 };
	static const char text[] = STREAM EVENT(STRUCT(
		MEMBER("a", "{'type': 'null-terminated-string', 'encoding': 'utf-16le'}") "," MEMBER(
			"b",
			"{'type': 'static-length-string', 'length': 4, "
			"'encoding': 'utf-32be'}") "," MEMBER("c",
								  "{'type': 'static-length-string', 'length': 7, "
								  "'encoding': 'utf-16be'}")));
	struct values values = { .at = NULL };
	struct parsed p;

	parse(&p, text);
	CHECK(p.result == 0 && p.seen.problems == 0);
	read_bytes(&p, fields_of(&p), bytes, sizeof(bytes), &values);
	CHECK(values.at[1].type->kind == TYPE_STRING && values.at[1].count == 8);
	CHECK(!memcmp(values.at[1].bytes, "u\xf0\x9d\x84\x9e\xef\xbf\xbd", 8));
	CHECK(values.at[2].count == 2 && !memcmp(values.at[2].bytes, "\xc3\xbc", 2));
	CHECK(values.at[3].count == 2 && !memcmp(values.at[3].bytes, "xy", 2));
	values_fini(&values);
	done(&p);
}

/* --- invalid metadata, and its cost --------------------------------------- */

static void test_errors(void)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ EVENT("'nothing'"), "'nothing'" },
		{ EVENT(UINT(8, "")), "no structure" },
		{ EVENT(STRUCT(MEMBER("a", UINT(65, "")))), "65 bits" },
		{ EVENT(STRUCT(MEMBER("a", UINT(8, ", 'mappings': {'x': [[-1, 1]]}")))),
		  "negative" },
		{ EVENT(STRUCT(MEMBER("a", UINT(8, ", 'mappings': {'x': [[2, 1]]}")))),
		  "ends before it begins" },
		{ EVENT(STRUCT(MEMBER("a", "{'type': 'static-length-blob'}"))), "'length'" },
		{ EVENT(STRUCT(MEMBER("a", "{'type': 'static-length-blob', 'length': -1}"))),
		  "'length'" },
		{ EVENT(STRUCT(MEMBER("a", "{'type': 'complex'}"))), "'complex'" },
		{ EVENT("{'type': 'structure', 'minimum-alignment': 3}"), "power of two" },
		{ EVENT(STRUCT(MEMBER("a", "{'type': 'dynamic-length-blob', "
					   "'length-field-location': {'path': ['n']}}"))),
		  "'n'" },
		{ EVENT(STRUCT(MEMBER("a", "{'type': 'dynamic-length-blob', "
					   "'length-field-location': "
					   "{'path': [null, null, 'n']}}"))),
		  "'n'" },
		{ EVENT(STRUCT(MEMBER("a", SINT8) "," MEMBER(
			  "b", "{'type': 'optional', 'field-class': " SINT8
			       ", 'selector-field-location': {'path': ['a']}}"))),
		  "no ranges of 'a'" },
		{ EVENT(STRUCT(MEMBER("a", "{'type': 'fixed-length-bit-map', 'length': 8, "
					   "'byte-order': 'big-endian', "
					   "'flags': {'x': [[8, 8]]}}"))),
		  "bits that are not there" },
		{ RS "{'type': 'event-record-class', 'id': 'x'}", "'id'" },
		{ RS "{'type': 'data-stream-class', 'id': 1, "
		     "'default-clock-class-id': 'c'}",
		  "'c'" },
		{ RS "{'type': 'data-stream-class'}", "another stream" },
		{ RS "{'type': 'clock-class', 'id': 'c', 'frequency': 0}", "frequency" },
		{ RS "{'type': 'song'}", "'song'" },
		{ RS "[1]", "'type'" },
		{ RS "{'type': }" RS, "a value is expected; this fragment" },
		{ RS "{'type'", "is not complete" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[4096];
		struct parsed p;

		snprintf(text, sizeof(text), "%s%s", STREAM, cases[i].text);
		parse(&p, text);
		if (p.seen.problems != 1 || !strstr(p.seen.said, cases[i].says))
			printf("%s: %zu, %s\n", cases[i].text, (size_t)p.seen.problems,
			       p.seen.said);
		CHECK(p.result == 0 && p.seen.problems == 1);
		CHECK(strstr(p.seen.said, cases[i].says));
		done(&p);
	}
}

/* The byte of the fragment is named, and that of an error of JSON. */
static void test_place(void)
{
	struct parsed p;

	parse(&p, PREAMBLE RS "{'type': 'song'}\n");
	CHECK(strstr(p.seen.said, "m: byte 37: its type 'song'"));
	done(&p);
	parse(&p, PREAMBLE RS "{'type': x}\n" RS);
	CHECK(strstr(p.seen.said, "m: byte 46: a value is expected"));
	done(&p);
}

static void test_declined(void)
{
	struct parsed p;

	parse(&p, RS "{'type': 'preamble', 'version': 2, "
		     "'extensions': {'my.tracer': {'piano': {}}}}" EVENT(STRUCT("")));
	CHECK(p.result == -EPROTO && strstr(p.seen.said, "'piano' of 'my.tracer'"));
	done(&p);
	parse(&p, RS "{'type': 'preamble', 'version': 3}");
	CHECK(p.result == -EPROTO && strstr(p.seen.said, "CTF 3"));
	done(&p);
	parse(&p, EVENT(STRUCT("")) EVENT(STRUCT("")));
	CHECK(p.result == 0 && p.seen.problems == 1 && strstr(p.seen.said, "no preamble"));
	done(&p);
}

/* Aliases of aliases: deeper than any stack, or wider than any memory. */
static void test_bounds(void)
{
	static const char *const links[] = {
		"{'type': 'static-length-array', 'length': 2, 'element-field-class': 'a%u'}",
		STRUCT(MEMBER("x", "'a%u'") "," MEMBER("y", "'a%u'")),
	};
	const uint32_t nr = 30000;
	char *text = malloc(300u * nr);
	struct parsed p;

	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		size_t len = (size_t)sprintf(text,
					     "%s" RS
					     "{'type': 'field-class-alias', 'name': 'a0', "
					     "'field-class': %s}\n",
					     STREAM, STRUCT(MEMBER("n", UINT(8, ""))));

		for (uint32_t k = 1; k < (i ? 40 : nr); k++) {
			char class[200];

			snprintf(class, sizeof(class), links[i], k - 1, k - 1);
			len += (size_t)sprintf(text + len,
					       RS "{'type': 'field-class-alias', "
						  "'name': 'a%u', 'field-class': %s}\n",
					       k, class);
		}
		len += (size_t)sprintf(text + len,
				       EVENT("{'type': 'structure', 'member-classes': ["
					     "{'name': 'm', 'field-class': 'a%u'}]}"),
				       i ? 39u : nr - 1);
		parse_len(&p, text, len);
		CHECK(p.result == 0 && p.seen.problems == 1 && strstr(p.seen.said, "too deep"));
		done(&p);
	}
	free(text);
}

int main(void)
{
	test_json();
	test_no_json();
	test_many_values();
	test_plans();
	test_locations();
	test_numbers();
	test_wide_strings();
	test_errors();
	test_place();
	test_declined();
	test_bounds();
	return 0;
}
