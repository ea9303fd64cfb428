/* SPDX-License-Identifier: GPL-2.0-only */
/* Metadata: packed in either byte order, wrong in many ways, bounded in all. */
#include <time.h>

#include "lib/view_make.h"
#include "read/metadata.h"
#include "read/tsdl/tsdl.h"
#include "read/decode/value.h"

struct parsed {
	struct arena arena;
	struct reporter reporter;
	struct ctf_trace_class *tc;
	struct seen seen;
	int result;
};

static void parse_len(struct parsed *p, const char *text, size_t len)
{
	memset(p, 0, sizeof(*p));
	p->reporter = (struct reporter){ .fn = note_problem, .priv = &p->seen };
	p->result = tsdl_parse(text, len, "m", &p->arena, &p->reporter, &p->tc);
}

static void parse(struct parsed *p, const char *text)
{
	parse_len(p, text, strlen(text));
}

static void done(struct parsed *p)
{
	arena_fini(&p->arena);
}

#define STREAM "stream { event.header := struct { uint8_t id; }; };\n"
#define U8 "typealias integer { size = 8; } := uint8_t;\n"

static const struct ctf_event_class *event_of(const struct parsed *p, uint64_t id)
{
	return stream_class_event(p->tc->streams, id);
}

/* --- valid metadata --------------------------------------------------- */

static void test_names(void)
{
	struct parsed p;

	parse(&p, U8 "typealias integer { size = 64; } := unsigned long int;\n" STREAM
		     "event { id = 1; name = \"a\\\"\\x41\\102\\n\"; fields := struct {\n"
		     "  unsigned long int x; const uint8_t y, z[2]; } align(32); };\n"
		     "event { name = \"second\"; id = 9000; };\n"
		     "event { name = \"third\"; id = 0xffffffffffffffffu; };\n");
	CHECK(p.result == 0 && p.seen.problems == 0);
	check_same("name", event_of(&p, 1)->name, "a\"AB\n");
	CHECK_IS(event_of(&p, 1)->fields->nr_fields, ==, 3);
	CHECK_IS(event_of(&p, 1)->fields->align, ==, 32);
	CHECK_IS(event_of(&p, 1)->fields->fixed_bits, ==, 64 + 8 + 16);
	check_same("name", event_of(&p, 9000)->name, "second");
	check_same("name", event_of(&p, UINT64_MAX)->name, "third");
	CHECK(!event_of(&p, 0) && !event_of(&p, 8999) && !event_of(&p, 9001));
	done(&p);
}

static void test_scopes(void)
{
	struct parsed p;

	/* an inner name hides an outer one, and ends with its block */
	parse(&p, U8 STREAM
	      "event { id = 1; name = \"a\"; typealias integer { size = 16; } := uint8_t;\n"
	      "  fields := struct { uint8_t x; }; };\n"
	      "event { id = 2; name = \"b\"; fields := struct { uint8_t x; }; };\n");
	CHECK(p.result == 0 && p.seen.problems == 0);
	CHECK_IS(event_of(&p, 1)->fields->fixed_bits, ==, 16);
	CHECK_IS(event_of(&p, 2)->fields->fixed_bits, ==, 8);
	done(&p);
}

/* A type with a reference means something else in each place. */
static void test_references(void)
{
	static const uint8_t bytes[] = { 2, 'a', 'b', 1, 'c' };
	struct parsed p;
	struct values values = { 0 };
	struct reader r = { .bytes = bytes, .end = sizeof(bytes) * 8, .values = &values };

	parse(&p, U8 STREAM "struct s { uint8_t n; uint8_t data[n]; };\n"
			    "event { id = 1; name = \"a\"; fields := struct {\n"
			    "  struct s one; struct s two; }; };\n");
	CHECK(p.result == 0 && p.seen.problems == 0);
	r.slots = calloc(p.tc->nr_slots, sizeof(*r.slots));
	CHECK(reader_struct(&r, event_of(&p, 1)->fields) == READ_OK && r.pos == r.end);
	CHECK(values.nr == 7 && values.at[3].count == 2 && values.at[6].count == 1);
	r.end -= 8;
	r.pos = 0;
	CHECK_IS(reader_struct(&r, event_of(&p, 1)->fields), ==, READ_SHORT);
	r.values = NULL;
	r.pos = 0;
	CHECK_IS(reader_struct(&r, event_of(&p, 1)->fields), ==, READ_SHORT);
	values_fini(&values);
	free(r.slots);
	done(&p);
}

/* --- invalid metadata, and its cost ------------------------------------- */

static void test_errors(void)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "event { id = 5; fields := struct { nosuch_t x; }; };", "'nosuch_t'" },
		{ "event { id = 5; fields := struct { uint8_t x[len]; }; };", "'len'" },
		{ "event { id = 5; fields := struct { string s; uint8_t x[s]; }; };", "'s'" },
		{ "event { id = 5; fields := struct { variant <t> { uint8_t a; } v; }; };", "'t'" },
		{ "event { id = 5; fields := struct { uint8_t t; variant <t> { uint8_t a; } v; }; };",
		  "not an enumeration" },
		{ "event { id = 5; fields := struct { variant { uint8_t a; } v; }; };", "no tag" },
		{ "event { id = 5; fields := uint8_t; };", "not a struct" },
		{ "event { id = 5; fields := struct { integer { size = 65; } x; }; };", "65 bits" },
		{ "event { id = 5; fields := struct { integer { size = 0; } x; }; };", "0 bits" },
		{ "event { id = 5; fields := struct { integer { align = 8; } x; }; };", "no size" },
		{ "event { id = 5; fields := struct { integer { size = 8; align = 3; } x; }; };",
		  "power of two" },
		{ "event { id = 5; fields := struct { uint8_t x; } align(0); };", "power of two" },
		{ "event { id = 5; fields := struct { integer { size = 8; base = 7; } x; }; };",
		  "base" },
		{ "event { id = 5; fields := struct { integer { size = 8; base = \"\"; } x; }; };",
		  "base" },
		{ "event { id = 5; fields := struct { integer { size = 8; byte_order = \"\"; } x; }; };",
		  "byte order" },
		{ "event { id = 5; fields := struct { floating_point { exp_dig = 5; mant_dig = 11; } "
		  "x; }; };",
		  "floating point" },
		{ "event { id = 5; typealias string := str_t; fields := struct { enum : str_t { A } x; "
		  "}; };",
		  "container" },
		{ "event { id = 99999999999999999999; };", "expected" },
		{ "event { id 5; };", "'='" },
		{ "event { name = \"unterminated; };", "not complete" },
		{ "bogus { a = b; };", "'bogus'" },
		{ "struct nosuch;", "'nosuch'" },
		{ "typealias integer { size = 8; } ;", ":=" },
		{ "clock { freq = 0; name = x; };", "frequency" },
		{ "clock { freq = 5; };", "no name" },
		{ "trace { uuid = \"123\"; };", "UUID" },
		{ "trace { major = 2; };", "CTF 2" },
		{ "@", "begins no declaration" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[1024];
		struct parsed p;

		/* around it everything stays readable */
		snprintf(text, sizeof(text),
			 U8 "event { id = 3; name = \"before\"; };\n" STREAM "%s\n%s",
			 cases[i].text,
			 strstr(cases[i].says, "complete") ?
				 "" :
				 ";\nevent { id = 4; name = \"after\"; };\n");
		parse(&p, text);
		if (p.result || !p.seen.problems || !strstr(p.seen.said, cases[i].says) ||
		    !event_of(&p, 3) || event_of(&p, 5) ||
		    (!strstr(cases[i].says, "complete") && !event_of(&p, 4))) {
			fprintf(stderr, "%s\n  result %d, said: %s\n", cases[i].text, p.result,
				p.seen.said);
			exit(1);
		}
		done(&p);
	}
}

static void test_nothing(void)
{
	struct parsed p;

	parse(&p, ""); /* of a trace before its first packet */
	CHECK(p.result == 0 && p.seen.problems == 0 && !p.tc->streams);
	done(&p);
	parse_len(&p, "/* CTF 1.8 */\0\xff", 15);
	CHECK(p.seen.problems);
	done(&p);
}

/* --- bounds --------------------------------------------------------------- */

static void repeat(struct bytes *b, const char *text, unsigned times)
{
	while (times--)
		put_raw(b, text, strlen(text));
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts); /* the machine may be busy */
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void check_bounded(const char *what, struct bytes *b, const char *says)
{
	double begin = now();
	struct parsed p;

	parse_len(&p, (char *)b->at, b->len);
	if (now() - begin > 20 || (says && !strstr(p.seen.said, says))) {
		fprintf(stderr, "%s: %.1f s, said: %s\n", what, now() - begin, p.seen.said);
		exit(1);
	}
	done(&p);
	b->len = 0;
}

static void test_bounds(void)
{
	struct bytes b = { 0 };
	char line[128];

	repeat(&b, "struct { ", 100000);
	check_bounded("nested structs", &b, "nested too deep");
	put_raw(&b, U8, strlen(U8));
	repeat(&b, STREAM "event { id = 0; fields := struct {", 1);
	repeat(&b, "struct { ", 40);
	repeat(&b, "uint8_t x; ", 1);
	repeat(&b, "} y; ", 40);
	repeat(&b, "}; };\n", 1);
	check_bounded("nested as deep as may be", &b, NULL);
	put_raw(&b, U8 "struct t0 { uint8_t n; uint8_t x[n]; };\n",
		strlen(U8) + strlen("struct t0 { uint8_t n; uint8_t x[n]; };\n"));
	for (int i = 1; i < 40; i++) { /* doubles each time */
		snprintf(line, sizeof(line), "struct t%d { struct t%d a; struct t%d b; };\n", i,
			 i - 1, i - 1);
		repeat(&b, line, 1);
	}
	repeat(&b, STREAM "event { id = 0; fields := struct t39; };\n", 1);
	check_bounded("exponential types", &b, "nested too deeply");
	repeat(&b, U8 STREAM "event { id = 0; fields := struct {", 1);
	repeat(&b, "uint8_t x; ", 5000);
	repeat(&b, "}; };\n", 1);
	check_bounded("too many fields", &b, "more than 4096");
	repeat(&b, U8, 1);
	repeat(&b, STREAM, 2000);
	check_bounded("too many streams", &b, "more than 1024");
	repeat(&b, "event { { ;\n};\n", 50000);
	check_bounded("unbalanced braces", &b, NULL);
	repeat(&b, "typealias integer { size = 8; } := uint8_t;\n", 50000);
	check_bounded("one name again and again", &b, NULL);
	for (int i = 0; i < 50000; i++) {
		snprintf(line, sizeof(line), "typealias integer { size = 8; } := t%d_t;\n", i);
		repeat(&b, line, 1);
	}
	check_bounded("many names", &b, NULL);
	repeat(&b,
	       U8 STREAM "event { fields := struct { uint8_t x[0xffffffffffffffff]; "
			 "struct { } y[0xffffffffffffffff]; }; };\n",
	       1);
	check_bounded("endless arrays", &b, NULL);
	repeat(&b, "/* ", 100000);
	check_bounded("comments", &b, NULL);
	bytes_fini(&b);
}

/* Arrays of nothing: any number of elements, no bits. */
static void test_empty_elements(void)
{
	static const uint8_t bytes[16] = { 255, 255, 255, 255 };
	struct values values = { 0 };
	struct reader r = { .bytes = bytes, .end = 128, .values = &values };
	struct parsed p;

	parse(&p, U8
	      "typealias integer { size = 32; } := uint32_t;\n" STREAM
	      "event { id = 1; fields := struct { uint32_t n; struct { } x[n]; }; };\n"
	      "event { id = 2; fields := struct { uint32_t n; struct { string s[0]; } x[n]; }; };\n");
	CHECK(p.result == 0 && p.seen.problems == 0);
	r.slots = calloc(p.tc->nr_slots, sizeof(*r.slots));
	for (int id = 1; id <= 2; id++) {
		r.values = &values;
		r.pos = 0;
		CHECK_IS(reader_struct(&r, event_of(&p, id)->fields), ==, READ_DAMAGED);
		CHECK_IS(values.nr, <, READ_MAX_STEPS + 8);
		r.values = NULL;
		r.pos = 0;
		CHECK_IS(reader_struct(&r, event_of(&p, id)->fields), ==, READ_DAMAGED);
	}
	values_fini(&values);
	free(r.slots);
	done(&p);
}

/* --- packets -------------------------------------------------------------- */

static void packet(struct bytes *b, const char *text, size_t len, size_t padding, unsigned major)
{
	put(b, 0x75d11d57, 4);
	put_raw(b, MAKE_UUID, 16);
	put(b, 0, 4);
	put(b, (37 + len) * 8, 4);
	put(b, (37 + len + padding) * 8, 4);
	put(b, 0, 1);
	put(b, 0, 1);
	put(b, 0, 1);
	put(b, major, 1);
	put(b, 8, 1);
	put_raw(b, text, len);
	for (size_t i = 0; i < padding; i++)
		put(b, 0, 1);
}

static void check_unpacked(const struct bytes *b, size_t len, const char *want, unsigned problems)
{
	struct seen seen = { 0 };
	struct reporter reporter = { .fn = note_problem, .priv = &seen };
	char *text = malloc(len + 1);

	memcpy(text, b->at, len);
	CHECK_IS(metadata_unpack(text, &len, "m", &reporter), ==, 0);
	text[len] = 0;
	check_same("unpacked", text, want);
	CHECK_IS(reporter.count, ==, problems); /* notes are none */
	free(text);
}

static void test_packets(void)
{
	for (int big = 0; big < 2; big++) {
		struct bytes b = { .big = big };
		size_t second, len;
		struct reporter silent = { 0 };

		packet(&b, "/* CTF 1.8 */ tr", 16, 100, 1);
		second = b.len;
		packet(&b, "ace { };", 8, 0, 1);
		packet(&b, "end", 3, 5, 1);
		check_unpacked(&b, b.len, "/* CTF 1.8 */ trace { };end", 0);
		check_unpacked(&b, b.len - 7, "/* CTF 1.8 */ trace { };e", 0); /* cut */
		b.at[second] ^= 1;
		check_unpacked(&b, b.len, "/* CTF 1.8 */ trend", 1);
		b.at[second] ^= 1;
		b.at[second + 32] = 1; /* compressed */
		check_unpacked(&b, b.len, "/* CTF 1.8 */ trend", 1);
		b.len = 0;
		packet(&b, "\x1e{}", 3, 0, 2); /* CTF 2 */
		check_unpacked(&b, b.len, "\x1e{}", 0);
		b.len = 0;
		packet(&b, "{}", 2, 0, 3);
		len = b.len;
		CHECK_IS(metadata_unpack((char *)b.at, &len, "m", &silent), ==, -EPROTO);
		bytes_fini(&b);
	}
}

int main(void)
{
	test_names();
	test_scopes();
	test_references();
	test_errors();
	test_nothing();
	test_bounds();
	test_empty_elements();
	test_packets();
	return 0;
}
