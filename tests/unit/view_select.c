/* SPDX-License-Identifier: GPL-2.0-only */
/* Selection, order and style of the events that are shown, and the summary at the end. */
#include <inttypes.h>
#include <json-c/json.h>
#include <time.h>

#include "lib/view_make.h"

#define BASE 1000000000000000000ll

static const char metadata[] = MAKE_HEAD MAKE_NUMBER("web:request", 1) MAKE_NUMBER("web:reply", 2)
	MAKE_NUMBER("db:query", 3) MAKE_NUMBER("odd\\033[1m\\\"name", 4);

/* --- merging -------------------------------------------------------------- */

#define STREAMS 7
#define TRACES 3

/* Numbers count up in time over all streams of all traces. */
static unsigned make_many(const char *dir)
{
	struct maker m[TRACES * STREAMS] = { { .cpu = 0 } };
	unsigned n = 0, which = 1;

	for (unsigned i = 0; i < TRACES * STREAMS; i++) {
		m[i].cpu = i % STREAMS;
		packet_open(&m[i], 0);
	}
	for (; n < 5000; n++) {
		struct maker *to;

		which = which * 1103515245 + 12345;
		to = &m[(which >> 16) % (TRACES * STREAMS)];
		if (!((which >> 8) % 50)) {
			packet_close(to, 10 * n);
			packet_open(to, 10 * n);
		}
		put(event(to, 1, 10 * n), n, 4);
	}
	for (unsigned i = 0; i < TRACES * STREAMS; i++) {
		char name[64];

		packet_close(&m[i], 10 * n);
		snprintf(name, sizeof(name), "ust/uid/%u/64-bit/metadata", i / STREAMS);
		make_file(dir, name, metadata, sizeof(metadata) - 1);
		snprintf(name, sizeof(name), "ust/uid/%u/64-bit/ch_%u", i / STREAMS, i % STREAMS);
		make_file(dir, name, m[i].out.at, m[i].out.len);
		bytes_fini(&m[i].out);
	}
	return n;
}

static void test_merge(const char *dir)
{
	struct view_style style = { .format = VIEW_JSON };
	unsigned nr = make_many(dir);
	struct seen seen;
	char *at;

	CHECK_IS(see_style(&seen, dir, NULL, &style), ==, 0);
	CHECK(seen.problems == 0 && seen.sum->events == nr);
	CHECK(seen.sum->nr_traces == TRACES && seen.sum->nr_streams == TRACES * STREAMS);
	at = seen.text;
	for (unsigned n = 0; n < nr; n++, at = strchr(at, '\n') + 1) {
		char want[32];

		snprintf(want, sizeof(want), "{\"n\":%u}}\n", n);
		CHECK(!strncmp(strchr(at, '\n') + 1 - strlen(want), want, strlen(want)));
	}
	CHECK(!*at);
	check_same("label", seen.sum->streams[STREAMS].trace, "ust/uid/1/64-bit");
	seen_fini(&seen);
}

/* --- selecting ------------------------------------------------------------ */

static void make_one(const char *dir)
{
	struct maker m = { .cpu = 0 };

	packet_open(&m, 0);
	for (unsigned i = 0; i < 30; i++)
		put(event(&m, 1 + i % 3, i * 1000000000ull), i, 4);
	put(event(&m, 4, 30000000000ull), 30, 4);
	packet_close(&m, 30000000000ull);
	make_file(dir, "metadata", metadata, sizeof(metadata) - 1);
	make_file(dir, "ch_0", m.out.at, m.out.len);
	bytes_fini(&m.out);
}

static void check_count(const char *dir, const struct view_select *select, uint64_t want)
{
	struct seen seen;

	CHECK_IS(see_style(&seen, dir, select, NULL), ==, 0);
	CHECK(seen.sum->events == want && count_text(seen.text, "\n") == want);
	seen_fini(&seen);
	CHECK_IS(view_open(dir, note_problem, &seen, &seen.view), ==, 0); /* counted the same */
	CHECK(view_scan(seen.view, select) == 0 && view_summary(seen.view, &seen.sum) == 0);
	CHECK_IS(seen.sum->events, ==, want);
	seen_fini(&seen);
}

static void check_hidden(const char *dir, const struct view_select *select, uint64_t want)
{
	struct seen seen;

	CHECK_IS(see_style(&seen, dir, select, NULL), ==, 0);
	CHECK(seen.sum->hidden == want && seen.sum->nr_names == 2);
	CHECK(!count_text(seen.text, "web:"));
	seen_fini(&seen);
}

/* A hidden event is counted only where it would have been shown. */
static void test_hidden(const char *dir)
{
	struct view_select some = { .hidden = "web:*,nothing" };

	check_count(dir, &some, 11);
	check_hidden(dir, &some, 20);
	some.names = "web:request,db:query,odd*";
	check_count(dir, &some, 11);
	check_hidden(dir, &some, 10);
	some = (struct view_select){ .hidden = "web:*",
				     .has_begin = true,
				     .begin_ns = BASE + 27 * 1000000000ll };
	check_hidden(dir, &some, 2); /* 27 and 28; 29 and 30 are others */
	some.has_begin = false;
	some.limit = 11;
	check_hidden(dir, &some, 20);
	some.hidden = "*";
	check_count(dir, &some, 0);
}

static void test_select(const char *dir)
{
	struct view_select none = { 0 }, some = { .names = "web:*" };

	make_one(dir);
	check_count(dir, &none, 31);
	check_count(dir, &some, 20);
	some.names = "web:reply,db:*";
	check_count(dir, &some, 20);
	some.names = "nothing";
	check_count(dir, &some, 0);
	some = (struct view_select){ .limit = 4 };
	check_count(dir, &some, 4);
	some.names = "db:query";
	check_count(dir, &some, 4);
	some = (struct view_select){ .has_begin = true, .begin_ns = BASE + 10 * 1000000000ll };
	check_count(dir, &some, 21);
	some.has_end = true;
	some.end_ns = BASE + 12 * 1000000000ll;
	check_count(dir, &some, 3);
	some.begin_ns = some.end_ns + 1;
	check_count(dir, &some, 0);
}

/* --- times ---------------------------------------------------------------- */

static void test_times(const char *dir)
{
	static const struct {
		const char *text;
		int64_t ns; /* -1: no time */
	} times[] = {
		{ "1000000005", BASE + 5000000000ll },
		{ "1000000005.25", BASE + 5250000000ll },
		{ "1000000005.000000001", BASE + 5000000001ll },
		{ "01:46:45", BASE + 5000000000ll }, /* on the trace's day */
		{ "01:46:45.5", BASE + 5500000000ll },
		{ "01:47", BASE + 20000000000ll },
		{ "2001-09-09 01:46:45", BASE + 5000000000ll },
		{ "2001-09-09T01:46:45.000000009", BASE + 5000000009ll },
		{ "2001-09-10", 1000080000000000000ll },
		{ "2000-02-29", 951782400000000000ll },
		{ "2001-02-29", -1 },
		{ "2001-13-01", -1 },
		{ "2001-00-01", -1 },
		{ "", -1 },
		{ "soon", -1 },
		{ "12:", -1 },
		{ "25:00", -1 },
		{ "12:61", -1 },
		{ "1000x", -1 },
		{ "1000.5x", -1 },
		{ "-5", -1 },
		{ "2001-09-09 x", -1 },
		{ "99999999999999999999", -1 },
		{ "01:46:45.5:", -1 },
	};
	struct seen seen = { 0 };
	int64_t ns;

	CHECK_IS(view_open(dir, note_problem, &seen, &seen.view), ==, 0);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		int r = view_parse_time(seen.view, times[i].text, true, &ns);

		if (times[i].ns < 0 ? r == -EINVAL : !r && ns == times[i].ns)
			continue;
		fprintf(stderr, "'%s' is read as %" PRId64 " (%d)\n", times[i].text, ns, r);
		exit(1);
	}
	seen_fini(&seen);
}

/* --- styles --------------------------------------------------------------- */

static void check_style(const char *dir, struct view_style style, const char *want)
{
	struct view_select one = { .limit = 1 };
	struct seen seen;

	CHECK_IS(see_style(&seen, dir, &one, &style), ==, 0);
	check_same("style", seen.text, want);
	seen_fini(&seen);
}

#define REST    \
	" (+?." \
	"?????" \
	"????"  \
	") box web:request: { cpu_id = 0 }, { n = 0 }\n"

static void test_styles(const char *dir)
{
	struct view_select last = { .names = "odd*" };
	struct seen seen;

	check_style(dir, (struct view_style){ .clock_seconds = true },
		    "[1000000000.000000000]" REST);
	check_style(dir, (struct view_style){ .clock_date = true },
		    "[2001-09-09 01:46:40.000000000]" REST);
	check_style(dir, (struct view_style){ .loglevel = true },
		    "[01:46:40.000000000] (+?."
		    "?????"
		    "????"
		    ") box INFO (6) web:request: "
		    "{ cpu_id = 0 }, { n = 0 }\n");
	setenv("TZ", "XYZ-3", 1);
	tzset();
	check_style(dir, (struct view_style){ 0 }, "[04:46:40.000000000]" REST);
	check_style(dir, (struct view_style){ .clock_gmt = true }, "[01:46:40.000000000]" REST);
	setenv("TZ", "UTC", 1);
	tzset();
	CHECK_IS(see_style(&seen, dir, &last, &(struct view_style){ .color = true }), ==, 0);
	CHECK(strstr(seen.text, "odd\\x1b[1m\"name")); /* not into the terminal */
	CHECK(strstr(seen.text, "\033[1m\033[36modd"));
	seen_fini(&seen);
}

/* --- the end -------------------------------------------------------------- */

static void test_summary(const char *dir)
{
	struct view_style json = { .format = VIEW_JSON };
	json_object *object, *names;
	struct seen seen;
	char *text = NULL;
	size_t len;
	FILE *out;

	CHECK_IS(see(&seen, dir), ==, 0);
	out = open_memstream(&text, &len);
	CHECK(view_summary_print(seen.sum, NULL, out) == 0 && fclose(out) == 0);
	check_same("summary", text,
		   "events:  31 in 30 s (1 a second)\n"
		   "lost:    0 events\n"
		   "size:    650 bytes in 1 packet, 1 stream, 1 trace\n"
		   "          10  db:query\n"
		   "          10  web:reply\n"
		   "          10  web:request\n"
		   "           1  odd\\x1b[1m\"name\n");
	free(text);
	out = open_memstream(&text, &len);
	CHECK(view_summary_print(seen.sum, &json, out) == 0 && fclose(out) == 0);
	object = json_tokener_parse(text);
	CHECK(object);
	CHECK(json_object_object_get_ex(object, "result", &names));
	CHECK(json_object_object_get_ex(names, "names", &names));
	CHECK_IS(json_object_array_length(names), ==, 4);
	json_object_put(object);
	free(text);
	seen_fini(&seen);
}

static void test_full_disk(const char *dir)
{
	struct seen seen = { 0 };
	FILE *full = fopen("/dev/full", "w");

	if (!full)
		return;
	CHECK_IS(view_open(dir, note_problem, &seen, &seen.view), ==, 0);
	CHECK_IS(view_print(seen.view, NULL, NULL, full), ==, -ENOSPC);
	seen_fini(&seen);
	fclose(full);
}

int main(void)
{
	char dir[128];

	make_path(dir, sizeof(dir), make_tmp(), "many");
	test_merge(dir);
	make_path(dir, sizeof(dir), make_root, "one");
	test_select(dir);
	test_hidden(dir);
	test_times(dir);
	test_styles(dir);
	test_summary(dir);
	test_full_disk(dir);
	return 0;
}
