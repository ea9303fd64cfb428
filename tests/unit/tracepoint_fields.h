/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every kind of field, recorded by the macros and read by a probe. Each program that includes this
 * file compiles it: the subject is the expansion of the macros in C and in C++.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <ltt/probe.h>
#include <ltt/tracepoint.h>

#include "check.h"
#include "lib/tracer/seen.h"
#include "tracer_alone.h"

enum colour { RED, GREEN, BLUE = 7 };

LTT_ENUM(t, colour, ltt_value("RED", RED), ltt_auto("GREEN"), ltt_range("OTHER", 2, 6),
	 ltt_auto("BLUE"), ltt_value("MINUS", -5), ltt_auto("FOUR"))

LTT_TRACEPOINT(t, integers,
	       (int8_t i8, int16_t i16, int32_t i32, int64_t i64, uint8_t u8, uint16_t u16,
		uint32_t u32, uint64_t u64, bool yes),
	       LTT_WARNING, ltt_int(int8_t, i8, i8), ltt_int(int16_t, i16, i16),
	       ltt_int(int32_t, i32, i32), ltt_int(int64_t, i64, i64), ltt_int(uint8_t, u8, u8),
	       ltt_hex(uint16_t, u16, u16), ltt_oct(uint32_t, u32, u32),
	       ltt_bin(uint64_t, u64, u64), ltt_int(bool, yes, yes),
	       ltt_ptr(address, (uintptr_t)0x1234))

LTT_TRACEPOINT(t, network, (uint16_t port, uint32_t host), LTT_INFO, ltt_net(uint16_t, port, port),
	       ltt_net_hex(uint32_t, host, host), ltt_net(int16_t, minus, (int16_t)htons(0xfffe)))

LTT_TRACEPOINT(t, floats, (float f, double d), LTT_INFO, ltt_float(float, f, f),
	       ltt_float(double, d, d))

LTT_TRACEPOINT(t, strings, (const char *a, const char *b), LTT_INFO, ltt_string(a, a),
	       ltt_string(b, b), ltt_int(int, behind, 42))

LTT_TRACEPOINT(t, arrays, (const int32_t *n, const double *d, const char *text), LTT_INFO,
	       ltt_array(int32_t, n, n, 3), ltt_array_hex(int32_t, hex, n, 2),
	       ltt_array(double, d, d, 2), ltt_array_text(text, text, 4), ltt_int(int, behind, 42))

LTT_TRACEPOINT(t, sequences,
	       (const uint16_t *n, size_t nr, const float *f, const char *text, int len), LTT_INFO,
	       ltt_sequence(uint16_t, n, n, uint8_t, nr),
	       ltt_sequence_hex(uint16_t, hex, n, uint64_t, nr),
	       ltt_sequence(float, f, f, uint16_t, 2), ltt_sequence_text(text, text, uint32_t, len),
	       ltt_int(int, behind, 42))

LTT_TRACEPOINT(t, enums, (int a, enum colour b), LTT_INFO, ltt_enum(int8_t, t, colour, a, a),
	       ltt_enum(uint32_t, t, colour, b, b))

LTT_TRACEPOINT(t, filtered, (int a, const char *s, int b), LTT_INFO,
	       ltt_nowrite(ltt_string(hidden, s)), ltt_int(int, a, a),
	       ltt_nowrite(ltt_int(int, b, b)), ltt_string(s, s))

LTT_TRACEPOINT(t, nothing, (), LTT_INFO)
LTT_TRACEPOINT(t, nothing_void, (void), LTT_INFO)
LTT_TRACEPOINT(t, default_, (int x), LTT_INFO, ltt_int(int, default, x), ltt_int(int, errno, x))

#define COMMON_FIELDS ltt_int(int, one, 1), ltt_int(int, two, 2)
LTT_TRACEPOINT(t, common, (int x), LTT_INFO, COMMON_FIELDS, ltt_int(int, three, x))

LTT_EVENT_CLASS(t, shape, (int x, const char *name), ltt_int(int, x, x), ltt_string(name, name))
LTT_EVENT(t, shape, square, LTT_ERR)
LTT_EVENT(t, shape, circle, LTT_DEBUG)

#define F(n) ltt_int(int, f##n, x + n)
LTT_TRACEPOINT(t, forty, (int x), LTT_INFO, F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8),
	       F(9), F(10), F(11), F(12), F(13), F(14), F(15), F(16), F(17), F(18), F(19), F(20),
	       F(21), F(22), F(23), F(24), F(25), F(26), F(27), F(28), F(29), F(30), F(31), F(32),
	       F(33), F(34), F(35), F(36), F(37), F(38), F(39))

/* --- the kinds ------------------------------------------------------------------ */

static void test_integers(void)
{
	struct ltt_probe *probe = seen_watch("t:integers");

	ltt_trace(t, integers, INT8_MIN, INT16_MIN, INT32_MIN, INT64_MIN, UINT8_MAX, UINT16_MAX,
		  UINT32_MAX, UINT64_MAX, true);
	CHECK(seen_int("i8") == INT8_MIN && seen_int("i16") == INT16_MIN);
	CHECK(seen_int("i32") == INT32_MIN && seen_int("i64") == INT64_MIN);
	CHECK(seen_uint("u8") == UINT8_MAX && seen_uint("u16") == UINT16_MAX);
	CHECK(seen_uint("u32") == UINT32_MAX && seen_uint("u64") == UINT64_MAX);
	CHECK(seen_int("yes") == 1 && seen_uint("address") == 0x1234);
	CHECK_IS(seen.view.len, ==, 1 + 2 + 4 + 8 + 1 + 2 + 4 + 8 + 1 + sizeof(void *));
	CHECK(seen_field("i8")->base == 10 && (seen_field("i8")->flags & LTT_FIELD_SIGNED));
	CHECK(seen_field("u16")->base == 16 && !seen_field("u16")->flags);
	CHECK(seen_field("u32")->base == 8 && seen_field("u64")->base == 2);
	CHECK(!(seen_field("yes")->flags & LTT_FIELD_SIGNED));
	CHECK_IS(seen.view.event->loglevel, ==, LTT_WARNING);
	CHECK_IS(strcmp(seen.view.event->name, "t:integers"), ==, 0);
	uint64_t none;
	CHECK_IS(ltt_view_uint(&seen.view, ltt_view_field(&seen.view, "i8"), &none), ==, -ERANGE);
	int64_t big;
	CHECK_IS(ltt_view_int(&seen.view, ltt_view_field(&seen.view, "u64"), &big), ==, -ERANGE);
	CHECK_IS(ltt_view_int(&seen.view, ltt_view_field(&seen.view, "absent"), &big), ==, -ENOENT);
	CHECK_IS(ltt_view_int(&seen.view, 99, &big), ==, -EINVAL);
	seen_unwatch(probe, 1);
}

static void test_network(void)
{
	struct ltt_probe *probe = seen_watch("t:network");

	ltt_trace(t, network, htons(8080), htonl(0x7f000001));
	CHECK(seen_uint("port") == 8080 && seen_uint("host") == 0x7f000001 &&
	      seen_int("minus") == -2);
	CHECK(seen.payload[0] == 8080 >> 8 && seen.payload[1] == (8080 & 255));
	CHECK(seen_field("port")->flags == LTT_FIELD_BIG_ENDIAN && seen_field("host")->base == 16);
	seen_unwatch(probe, 1);
}

static void test_floats(void)
{
	struct ltt_probe *probe = seen_watch("t:floats");

	ltt_trace(t, floats, 1.5f, -1e300);
	CHECK(seen_float("f") == 1.5 && seen_float("d") == -1e300);
	CHECK(seen_field("f")->kind == LTT_KIND_FLOAT && seen_field("f")->size_bits == 32);
	ltt_trace(t, floats, INFINITY, NAN);
	CHECK(isinf(seen_float("f")) && isnan(seen_float("d")));
	seen_unwatch(probe, 2);
}

static void test_strings(void)
{
	static char longer[60001];
	struct ltt_probe *probe = seen_watch("t:strings");

	ltt_trace(t, strings, "", "hello, world: eight and more");
	CHECK(seen_is_text("a", "") && seen_is_text("b", "hello, world: eight and more"));
	CHECK_IS(seen_int("behind"), ==, 42);
	ltt_trace(t, strings, NULL, "\xc3\xa4\xff");
	CHECK(seen_is_text("a", "(null)") && seen_is_text("b", "\xc3\xa4\xff") &&
	      seen_int("behind") == 42);
	for (size_t len = 0; len < 40; len++) {
		memset(longer, 'x', len);
		longer[len] = '\0';
		ltt_trace(t, strings, longer, "end");
		CHECK(seen_is_text("a", longer) && seen_is_text("b", "end") &&
		      seen_int("behind") == 42);
	}
	for (size_t len = 490; len < 530; len++) {
		memset(longer, 'y', len);
		longer[len] = '\0';
		ltt_trace(t, strings, longer, "end");
		CHECK(seen_is_text("a", longer) && seen_is_text("b", "end") &&
		      seen_int("behind") == 42);
	}
	memset(longer, 'z', 60000);
	longer[60000] = '\0';
	ltt_trace(t, strings, longer, "end");
	CHECK(seen_is_text("a", longer) && seen_int("behind") == 42);
	seen_unwatch(probe, 2 + 40 + 40 + 1);
}

static void test_arrays(void)
{
	static const int32_t n[] = { 1, -2, 3 };
	static const double d[] = { 0.5, -0.25 };
	struct ltt_probe *probe = seen_watch("t:arrays");
	struct ltt_elements elements;

	ltt_trace(t, arrays, n, d, "ab\0d");
	elements = seen_elements("n");
	CHECK(elements.count == 3 && elements.size_bits == 32 && elements.is_signed);
	CHECK(memcmp(elements.data, n, sizeof(n)) == 0 && !elements.is_float);
	elements = seen_elements("hex");
	CHECK(elements.count == 2 && seen_field("hex")->base == 16);
	elements = seen_elements("d");
	CHECK(elements.count == 2 && elements.is_float && memcmp(elements.data, d, sizeof(d)) == 0);
	elements = seen_elements("text");
	CHECK(elements.count == 4 && memcmp(elements.data, "ab\0", 3) == 0);
	CHECK(seen_int("behind") == 42 && (seen_field("text")->flags & LTT_FIELD_TEXT));
	ltt_trace(t, arrays, NULL, d, "abcd");
	elements = seen_elements("n");
	CHECK(elements.count == 3 && memcmp(elements.data, "\0\0\0\0\0\0\0\0\0\0\0\0", 12) == 0);
	CHECK_IS(seen_int("behind"), ==, 42);
	seen_unwatch(probe, 2);
}

static void test_sequences(void)
{
	static uint16_t n[400];
	static const float f[] = { 1, 2 };
	struct ltt_probe *probe = seen_watch("t:sequences");

	for (uint16_t i = 0; i < 400; i++)
		n[i] = (uint16_t)(i * 3);
	ltt_trace(t, sequences, n, 5, f, "text", 3);
	CHECK(seen_elements("n").count == 5 && memcmp(seen_elements("n").data, n, 10) == 0);
	CHECK(seen_elements("hex").count == 5 && seen_elements("f").is_float);
	CHECK(seen_is_text("text", "tex") && seen_int("behind") == 42);
	ltt_trace(t, sequences, n, 300, f, "text", -1); /* 300 is more than its uint8_t holds */
	CHECK(seen_elements("n").count == 255 && seen_elements("hex").count == 300);
	CHECK_IS(memcmp(seen_elements("hex").data, n, 600), ==, 0);
	CHECK(seen_is_text("text", "") && seen_int("behind") == 42);
	ltt_trace(t, sequences, NULL, 300, NULL, NULL, 7);
	CHECK(seen_elements("n").count == 0 && seen_elements("f").count == 0 &&
	      seen_is_text("text", ""));
	CHECK_IS(seen_int("behind"), ==, 42);
	seen_unwatch(probe, 3);
}

static void test_enums(void)
{
	struct ltt_probe *probe = seen_watch("t:enums");
	const char *label;

	ltt_trace(t, enums, -5, BLUE);
	CHECK(seen_is_label("a", "MINUS") && seen_is_label("b", "BLUE") && seen_int("b") == 7);
	ltt_trace(t, enums, -4, GREEN);
	CHECK(seen_is_label("a", "FOUR") && seen_is_label("b", "GREEN"));
	ltt_trace(t, enums, 6, RED);
	CHECK(seen_is_label("a", "OTHER") && seen_is_label("b", "RED"));
	ltt_trace(t, enums, 99, RED);
	CHECK_IS(ltt_view_label(&seen.view, 0, &label), ==, -ENOENT);
	CHECK_IS(seen_field("a")->enumeration->nr_entries, ==, 6);
	CHECK_IS(strcmp(seen_field("a")->enumeration->name, "colour"), ==, 0);
	seen_unwatch(probe, 4);
}

static void test_nowrite(void)
{
	struct ltt_probe *probe = seen_watch("t:filtered");

	ltt_trace(t, filtered, 1, "both", 2);
	CHECK(seen_int("a") == 1 && seen_int("b") == 2 && seen_is_text("s", "both") &&
	      seen_is_text("hidden", "both"));
	CHECK(ltt_view_field(&seen.view, "a") == 0 && ltt_view_field(&seen.view, "s") == 1);
	CHECK_IS(seen_field("hidden")->flags, ==, LTT_FIELD_NOWRITE);
	CHECK_IS(seen_field("b")->flags, ==, (LTT_FIELD_NOWRITE | LTT_FIELD_SIGNED));
	CHECK_IS(seen_field("a")->flags, ==, LTT_FIELD_SIGNED);
	seen_unwatch(probe, 1);
}

static void test_shapes(void)
{
	struct ltt_probe *probe = seen_watch("t:nothing");

	ltt_trace(t, nothing);
	ltt_trace(t, nothing_void);
	CHECK(seen.view.len == 0 && seen.view.nr_fields == 0);
	seen_unwatch(probe, 1);

	probe = seen_watch("t:default_");
	ltt_trace(t, default_, 3);
	CHECK(seen_int("default") == 3 && seen_int("errno") == 3);
	seen_unwatch(probe, 1);

	probe = seen_watch("t:common");
	ltt_trace(t, common, 3);
	CHECK(seen_int("one") == 1 && seen_int("two") == 2 && seen_int("three") == 3);
	CHECK_IS(seen.view.nr_fields, ==, 3);
	seen_unwatch(probe, 1);

	probe = seen_watch("t:forty");
	ltt_trace(t, forty, 100);
	CHECK(seen.view.nr_fields == 40 && seen_int("f0") == 100 && seen_int("f39") == 139);
	CHECK_IS(strcmp(seen.view.fields[0].name, "f0"), ==, 0);
	seen_unwatch(probe, 1);
}

static void test_class(void)
{
	struct ltt_probe *probe = seen_watch("t:circle");

	ltt_trace(t, square, 1, "no");
	ltt_trace(t, circle, 2, "yes");
	CHECK(seen_int("x") == 2 && seen_is_text("name", "yes"));
	CHECK_IS(seen.view.event->loglevel, ==, LTT_DEBUG);
	seen_unwatch(probe, 1);
}

/* Arguments and fields are evaluated while a probe is armed, once, and never else. */
static int evaluated;

static int evaluate(void)
{
	return ++evaluated;
}

LTT_TRACEPOINT(t, lazy, (int x), LTT_INFO, ltt_int(int, x, x), ltt_int(int, y, evaluate()))

static void test_lazy(void)
{
	struct ltt_probe *probe;

	ltt_trace(t, lazy, evaluate());
	CHECK(evaluated == 0 && !ltt_enabled(t, lazy));
	probe = seen_watch("t:lazy");
	CHECK(ltt_enabled(t, lazy));
	errno = 1234;
	ltt_trace(t, lazy, evaluate());
	CHECK(errno == 1234 && evaluated == 2 && seen_int("x") == 1 && seen_int("y") == 2);
	seen_unwatch(probe, 1);
	ltt_trace(t, lazy, evaluate());
	CHECK(evaluated == 2 && !ltt_enabled(t, lazy));
}

static void test_all_fields(void)
{
	test_integers();
	test_network();
	test_floats();
	test_strings();
	test_arrays();
	test_sequences();
	test_enums();
	test_nowrite();
	test_shapes();
	test_class();
	test_lazy();
}
