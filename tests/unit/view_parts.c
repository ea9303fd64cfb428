/* SPDX-License-Identifier: GPL-2.0-only */
/* The small parts: clocks to the nanosecond, numbers and strings as written, more streams than
 * descriptors, events larger than one read, remarks in metadata, traces that are moved while they
 * are searched for. */
#include <fcntl.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/dir.h"
#include "base/mem.h"
#include "lib/view_make.h"
#include "read/clock/clock.h"
#include "read/find.h"
#include "read/metadata.h"
#include "show/pen.h"
#include "trace/metadata.h"

static uint64_t random64(void)
{
	static uint64_t state = 0x9e3779b97f4a7c15;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* --- clocks --------------------------------------------------------------- */

static void test_cycles(void)
{
	static const uint64_t freqs[] = { 1,	    999,	 1000000000,	  2399999123,
					  24000000, 19000000001, (1ull << 62) - 1 };

	for (size_t i = 0; i < sizeof(freqs) / sizeof(freqs[0]); i++) {
		struct ctf_clock clock = { .freq = freqs[i] };

		clock_finish(&clock);
		for (int k = 0; k < 10000; k++) {
			uint64_t v = random64() >> (random64() % 64);
			unsigned __int128 ns = (unsigned __int128)v * 1000000000 / freqs[i];

			if (ns < INT64_MAX)
				CHECK_IS(clock_cycles_to_ns(freqs[i], v), ==, (int64_t)ns);
			CHECK_IS(clock_ns(&clock, v), ==, clock_cycles_to_ns(freqs[i], v));
		}
	}
}

static void test_offsets(void)
{
	struct ctf_clock clock = { .freq = 1000, .offset_s = 5, .offset = 250 };

	clock_finish(&clock);
	CHECK(clock_ns(&clock, 0) == 5250000000 && clock_ns(&clock, 1001) == 6251000000);
	clock.offset_s = -2;
	clock.offset = -500;
	clock_finish(&clock);
	CHECK(clock_ns(&clock, 0) == -2500000000 && clock_ns(&clock, 2501) == 1000000);
	CHECK_IS(clock_ns(NULL, 77), ==, 77);
}

static void test_extend(void)
{
	CHECK_IS(clock_extend(0x12345678, 0x7ffffff, 27), ==, 0x17ffffff);
	CHECK_IS(clock_extend(0x17ffffff, 0, 27), ==, 0x18000000);
	CHECK_IS(clock_extend(0x17ffffff, 0x7ffffff, 27), ==, 0x17ffffff);
	CHECK_IS(clock_extend(99, 5, 64), ==, 5);
	for (int k = 0; k < 10000; k++) {
		unsigned bits = 1 + random64() % 63;
		uint64_t last = random64() >> 2, step = random64() & ((1ull << bits) - 1);
		uint64_t low = (last + step) & ((1ull << bits) - 1);

		CHECK_IS(clock_extend(last, low, bits), ==, last + step);
	}
}

/* --- numbers and strings -------------------------------------------------- */

static const char *written(struct pen *pen)
{
	pen_char(pen, 0);
	pen->used = 0;
	return pen->buf;
}

static void check_double(struct pen *pen, double v)
{
	pen_double(pen, v, 64);
	CHECK_IS(strtod(written(pen), NULL), ==, v);
	pen_double(pen, (float)v, 32);
	CHECK_IS(strtof(written(pen), NULL), ==, (float)v);
}

static void test_doubles(struct pen *pen)
{
	static const double some[] = { 0,
				       1,
				       0.1,
				       0.5,
				       1.1,
				       123456.789,
				       1e15,
				       1e16,
				       1e300,
				       5e-324,
				       9007199254740993.0,
				       0.30000000000000004,
				       16777217,
				       1e-4,
				       1e-5,
				       99999.95,
				       0.000001 };

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		check_double(pen, some[i]);
		check_double(pen, -some[i]);
	}
	for (int k = 0; k < 100000; k++) {
		uint64_t bits = random64();
		double v;

		memcpy(&v, &bits, 8);
		if (isfinite(v))
			check_double(pen, v);
		check_double(pen, (int32_t)bits / 1000.0);
		check_double(pen, (int64_t)bits / 64.0);
	}
	pen_double(pen, 0.1f, 32);
	check_same("float", written(pen), "0.1");
	pen_double(pen, -0.0, 64);
	check_same("minus zero", written(pen), "-0");
	pen_double(pen, NAN, 64);
	CHECK(strstr(written(pen), "nan"));
}

static void test_integers(struct pen *pen)
{
	char want[128];

	for (int k = 0; k < 10000; k++) {
		uint64_t v = random64() >> (random64() % 64);

		pen_i64(pen, (int64_t)v);
		pen_char(pen, ' ');
		pen_u64(pen, v);
		pen_char(pen, ' ');
		pen_power2(pen, v, 4);
		pen_char(pen, ' ');
		pen_power2(pen, v, 3);
		pen_char(pen, ' ');
		pen_digits(pen, v % 1000, 9);
		snprintf(want, sizeof(want), "%lld %llu %llX %llo %09u", (long long)v,
			 (unsigned long long)v, (unsigned long long)v, (unsigned long long)v,
			 (unsigned)(v % 1000));
		check_same("integers", written(pen), want);
	}
	pen_i64(pen, INT64_MIN);
	check_same("least", written(pen), "-9223372036854775808");
}

/* A double has each integer up to 2^53-1. */
static void test_json_integers(struct pen *pen)
{
	static const int64_t most = (INT64_C(1) << 53) - 1;

	pen_json_u64(pen, (uint64_t)most);
	check_same("most", written(pen), "9007199254740991");
	pen_json_u64(pen, (uint64_t)most + 1);
	check_same("beyond", written(pen), "\"9007199254740992\"");
	pen_json_u64(pen, UINT64_MAX);
	check_same("most of all", written(pen), "\"18446744073709551615\"");
	pen_json_i64(pen, -most);
	check_same("least", written(pen), "-9007199254740991");
	pen_json_i64(pen, -most - 1);
	check_same("below", written(pen), "\"-9007199254740992\"");
	pen_json_i64(pen, most + 1);
	check_same("beyond, signed", written(pen), "\"9007199254740992\"");
	pen_json_time(pen, 5);
	check_same("time", written(pen), "\"5\"");
}

static void test_strings(struct pen *pen)
{
	static const struct {
		const char *in, *text, *json;
	} cases[] = {
		{ "plain", "\"plain\"", "\"plain\"" },
		{ "\"\\", "\"\\\"\\\\\"", "\"\\\"\\\\\"" },
		{ "\033[31m\r\n", "\"\\x1b[31m\\r\\n\"", "\"\\u001b[31m\\u000d\\u000a\"" },
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
		  "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
		  "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"" },
		{ "\xc2\x9b"
		  "2J",
		  "\"\\xc2\\x9b2J\"", "\"\\u009b2J\"" }, /* C1 */
		{ "a\xe2\x80\xae"
		  "b",
		  "\"a\\xe2\\x80\\xaeb\"", "\"a\\u202eb\"" }, /* reversal */
		{ "a\xf3\xa0\x81\x81"
		  "b",
		  "\"a\\xf3\\xa0\\x81\\x81"
		  "b\"",
		  "\"a\\udb40\\udc41"
		  "b\"" }, /* an invisible tag */
		{ "\xff\xc3", "\"\\xff\\xc3\"",
		  "{\"text\":\"\\ufffd\\ufffd\",\"hex\":\"ffc3\"}" },
		{ "\xc0\xaf\xed\xa0\x80", "\"\\xc0\\xaf\\xed\\xa0\\x80\"",
		  "{\"text\":\"\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\",\"hex\":\"c0afeda080\"}" },
		/* too long, surrogate */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pen_quoted(pen, (const uint8_t *)cases[i].in, strlen(cases[i].in));
		check_same(cases[i].in, written(pen), cases[i].text);
		pen_json(pen, (const uint8_t *)cases[i].in, strlen(cases[i].in));
		check_same(cases[i].in, written(pen), cases[i].json);
	}
}

/* --- many and large ------------------------------------------------------- */

static const char metadata[] = MAKE_HEAD MAKE_NUMBER(
	"t:n",
	1) "event { id = 2; stream_id = 0; name = \"t:big\"; fields := struct { string _s; }; };\n";

#define FILES 150

/* All open at once, as they overlap in time. */
static void test_descriptors(const char *dir)
{
	struct rlimit limit;
	struct seen seen;
	char name[32];

	make_file(dir, "metadata", metadata, sizeof(metadata) - 1);
	for (unsigned i = 0; i < FILES; i++) {
		struct maker m = { .cpu = i };

		packet_open(&m, 0);
		put(event(&m, 1, i), i, 4);
		put(event(&m, 1, 1000 + i), 1000 + i, 4);
		packet_close(&m, 2000);
		snprintf(name, sizeof(name), "ch_%u", i);
		make_file(dir, name, m.out.at, m.out.len);
		bytes_fini(&m.out);
	}
	CHECK_IS(getrlimit(RLIMIT_NOFILE, &limit), ==, 0);
	limit.rlim_cur = 40;
	CHECK_IS(setrlimit(RLIMIT_NOFILE, &limit), ==, 0);
	CHECK_IS(see(&seen, dir), ==, 0);
	CHECK(seen.problems == 0 && seen.sum->events == 2 * FILES);
	seen_fini(&seen);
}

/* Packets and events that are larger than a window. */
static void test_large(const char *dir)
{
	struct maker m = { .cpu = 0 };
	size_t len = 3 << 20;
	char *text = malloc(len);
	struct seen seen;

	memset(text, 'x', len);
	text[len - 1] = 0;
	packet_open(&m, 0);
	for (unsigned i = 0; i < 200000; i++)
		put(event(&m, 1, i), i, 4);
	put_str(event(&m, 2, 200000), text);
	for (unsigned i = 200001; i < 400000; i++)
		put(event(&m, 1, i), i, 4);
	packet_close(&m, 400000);
	make_file(dir, "metadata", metadata, sizeof(metadata) - 1);
	make_file(dir, "ch_0", m.out.at, m.out.len);
	CHECK_IS(see(&seen, dir), ==, 0);
	CHECK(seen.problems == 0 && seen.sum->events == 400000);
	CHECK(seen.len > len && count_text(seen.text, "{ n = 399999 }\n") == 1);
	CHECK(count_text(seen.text, "n = 200000 ") == 0 && strstr(seen.text, "xxx\" }\n"));
	seen_fini(&seen);
	bytes_fini(&m.out);
	free(text);
}

/* --- remarks -------------------------------------------------------------- */

static uint64_t lost_in(const char *text)
{
	struct metadata_remarks remarks;

	metadata_remarks(text, strlen(text), &remarks);
	metadata_remarks_fini(&remarks);
	return remarks.lost_buffers;
}

/* Texts of any bytes are returned unchanged; invalid remarks are left out. */
static void test_conflicts(void)
{
	static const char odd[] = "a\"*/\\\n\xc3\xa4 %d\\x41";
	static const char *const broken[] = {
		"/* marker refused: 1 */",
		"/* marker refused: 1 \"a\" \"b\" */",
		"/* marker refused: 1 \"a\" \"b\" \"c */",
		"/* marker refused: 1 \"a\"\"b\" \"c\" */",
		"/* marker refused: \"a\" \"b\" \"c\" ",
		"env { a = \"/* marker refused: 1 \\\"a\\\" \\\"b\\\" \\\"c\\\" */\"; };",
	};
	struct metadata_remarks remarks;
	char *one = metadata_marker("shop", odd, "", 7), *two = metadata_marker("x", "y", "z", 8);
	char *text = xasprintf("%sevent { id = 1; };%s%s", one, two, one);

	metadata_remarks(text, strlen(text), &remarks);
	CHECK(remarks.nr_conflicts == 2 && remarks.lost_buffers == 0);
	check_same("name", remarks.conflicts[0].name, "shop");
	check_same("refused", remarks.conflicts[0].refused, odd);
	check_same("armed", remarks.conflicts[0].armed, "");
	CHECK(remarks.conflicts[0].pid == 7 && remarks.conflicts[1].pid == 8);
	check_same("armed", remarks.conflicts[1].armed, "z");
	metadata_remarks_fini(&remarks);
	free(text);
	free(one);
	free(two);
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		metadata_remarks(broken[i], strlen(broken[i]), &remarks);
		CHECK_IS(remarks.nr_conflicts, ==, 0);
		metadata_remarks_fini(&remarks);
	}
}

/* A trace that claims more than a session keeps costs no more than that. */
static void test_many_conflicts(void)
{
	char *text = NULL;
	struct metadata_remarks remarks;
	size_t len;
	FILE *file = open_memstream(&text, &len);

	for (unsigned i = 0; i < VIEW_MAX_CONFLICTS + 50; i++)
		fprintf(file, "/* marker refused: 1 \"a\" \"%u\" \"c\" */", i);
	fclose(file);
	metadata_remarks(text, len, &remarks);
	CHECK_IS(remarks.nr_conflicts, ==, VIEW_MAX_CONFLICTS);
	metadata_remarks_fini(&remarks);
	free(text);
}

static void test_remarks(void)
{
	CHECK_IS(lost_in(""), ==, 0);
	CHECK(lost_in("/* buffer lost: 7 chan */") == 1);
	CHECK(lost_in("/* buffer lost: 7 chan */ /* buffer lost: 8 chan */") == 2);
	CHECK(lost_in("/* buffer lost: 7 a */\nevent { id = 1; };\n/* buffer lost: 7 a */") == 1);
	CHECK(lost_in("/* buffer lost: 7 a *//* buffer lost: 9 a *//* buffer found: 7 a */") == 1);
	CHECK(lost_in("/* buffer found: 7 a *//* buffer lost: 7 a */") == 1);
	/* text that is no remark */
	CHECK(lost_in("env { a = \"/* buffer lost: 7 a */\"; };") == 0);
	CHECK(lost_in("/* and /* buffer lost: 7 a */") == 0);
	/* cut, or spoilt */
	CHECK(lost_in("/* buffer lost: ") == 1);
	CHECK(lost_in("/* buffer lost: 99999999999999999999999999999999 */") == 1);
	CHECK(lost_in("\"/* buffer lost: 7 a */") == 0);
}

static uint64_t not_sampled_in(const char *text)
{
	struct metadata_remarks remarks;
	uint64_t nr;

	metadata_remarks(text, strlen(text), &remarks);
	nr = remarks.not_sampled;
	CHECK_IS(remarks.lost_buffers, ==, 0);
	metadata_remarks_fini(&remarks);
	return nr;
}

/* The N of "1 of N" in a remark; -1: there is none. */
static int64_t one_in(const char *text, uint64_t stream, uint64_t id)
{
	struct metadata_remarks remarks;
	const struct metadata_sampling *found;
	int64_t nr;

	metadata_remarks(text, strlen(text), &remarks);
	found = metadata_sampling_of(&remarks, stream, id);
	nr = found ? (int64_t)found->one_in : -1;
	metadata_remarks_fini(&remarks);
	return nr;
}

static void test_samplings(void)
{
	CHECK(not_sampled_in("/* not sampled: 7 100 */") == 100);
	CHECK(not_sampled_in("/* not sampled: 7 100 */ /* not sampled: 8 5 */") == 105);
	CHECK(not_sampled_in(
		      "/* not sampled: 7 100 */ /* not sampled: 8 5 *//* not sampled: 7 200 */") ==
	      205);
	CHECK(not_sampled_in("/* not sampled: 7") == 0 &&
	      not_sampled_in("/* not sampled: */") == 0);
	CHECK(not_sampled_in("/* buffer found: 7 x */ /* not sampled: 7 3 */") == 3);
	CHECK(one_in("/* sampled: 0 3 1/64 */", 0, 3) == 64);
	CHECK(one_in("/* sampled: 0 3 1/64 by id */", 0, 3) == 64);
	CHECK(one_in("/* sampled: 2 9 1/5 *//* sampled: 0 3 1/64 *//* sampled: 1 3 1/7 */", 1, 3) ==
	      7);
	CHECK(one_in("/* sampled: 0 3 1/64, 5/s */", 0, 3) == 0);
	CHECK(one_in("/* sampled: 0 3 1/64 by id, first 5 */", 0, 3) == 0);
	CHECK(one_in("/* sampled: 0 3 by several rules */", 0, 3) == 0);
	CHECK(one_in("/* sampled: 0 3 1/99999999999 */", 0, 3) == 0);
	CHECK(one_in("/* sampled: 0 3 1/64 */", 0, 4) == -1 && one_in("/* sampled:", 0, 0) == -1);
	CHECK(one_in("/* sampled: 0 3", 0, 3) == 0);
}

/* --- the search --------------------------------------------------------- */

enum { PLACES = 8 };

static struct {
	char first[32], last[32]; /* in the order of the search */
	unsigned int found;
} moved;

/* As a rotation does, to a directory that is searched later. */
static int move_trace(void *priv, int dir_fd, const char *label, const struct find_names *files)
{
	char from[64], to[64];

	(void)priv, (void)label, (void)files;
	close(dir_fd);
	snprintf(from, sizeof(from), "places/%s/ust", moved.first);
	snprintf(to, sizeof(to), "places/%s/ust", moved.last);
	CHECK(moved.found++ > 0 || rename(from, to) == 0);
	return 0;
}

static void test_moved_trace(void)
{
	static const struct find_ops ops = { .trace = move_trace };
	struct reporter reporter = { 0 };
	AUTO_DIR DIR *dir = NULL;
	struct dirent *entry;
	char path[64];
	uint64_t found;

	CHECK(mkdir("places", 0700) == 0);
	for (int i = 0; i < PLACES; i++) {
		snprintf(path, sizeof(path), "places/%d", i);
		CHECK(mkdir(path, 0700) == 0);
	}
	dir = dir_open(AT_FDCWD, "places");
	while ((entry = dir_next(dir))) {
		if (!*moved.first)
			snprintf(moved.first, sizeof(moved.first), "%.31s", entry->d_name);
		snprintf(moved.last, sizeof(moved.last), "%.31s", entry->d_name);
	}
	snprintf(path, sizeof(path), "places/%s/ust", moved.first);
	CHECK(mkdir(path, 0700) == 0);
	snprintf(path, sizeof(path), "places/%s/ust/metadata", moved.first);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	CHECK_IS(find_traces("places", &reporter, &ops, NULL, &found), ==, 0);
	CHECK_IS(found, ==, 1);
	CHECK_IS(moved.found, ==, 1);
}

int main(void)
{
	char dir[128];
	struct pen pen;

	test_moved_trace();
	test_remarks();
	test_samplings();
	test_conflicts();
	test_many_conflicts();
	test_cycles();
	test_offsets();
	test_extend();
	pen_init(&pen, NULL);
	test_doubles(&pen);
	test_integers(&pen);
	test_json_integers(&pen);
	test_json_integers(&pen);
	test_strings(&pen);
	pen_fini(&pen);
	make_path(dir, sizeof(dir), make_tmp(), "large");
	test_large(dir);
	make_path(dir, sizeof(dir), make_root, "many");
	test_descriptors(dir);
	return 0;
}
