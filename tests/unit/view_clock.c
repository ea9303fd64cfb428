/* SPDX-License-Identifier: GPL-2.0-only */
/* A trace whose clock jumps and changes its rate: times before and after are right, and in order;
 * lttctl verify names the changes. */
#include <string.h>

#include "lib/view_make.h"

#define BASE 1000000000000000000ll
#define MS 1000000ll

static char dir[128];

static void write_trace(const char *folder, const char *remarks, const uint64_t *ts, size_t nr)
{
	struct bytes metadata = { 0 };
	struct maker m = { .cpu = 0 };
	char name[64];

	put_raw(&metadata, MAKE_HEAD, sizeof(MAKE_HEAD) - 1);
	put_raw(&metadata, remarks, strlen(remarks));
	put_raw(&metadata, MAKE_NUMBER("t:n", 1), sizeof(MAKE_NUMBER("t:n", 1)) - 1);
	snprintf(name, sizeof(name), "%s/metadata", folder);
	make_file(dir, name, metadata.at, metadata.len);
	packet_open(&m, ts[0]);
	for (size_t i = 0; i < nr; i++)
		put(event(&m, 1, ts[i]), (uint32_t)i, 4);
	packet_close(&m, ts[nr - 1]);
	snprintf(name, sizeof(name), "%s/ch_0", folder);
	make_file(dir, name, m.out.at, m.out.len);
	bytes_fini(&m.out);
	bytes_fini(&metadata);
}

/* Times of the events, relative to BASE. */
static void check_times(const int64_t *want, size_t nr)
{
	struct view_style style = { .format = VIEW_JSON };
	struct seen seen;
	char *at;

	CHECK_IS(see_style(&seen, dir, NULL, &style), ==, 0);
	at = seen.text;
	for (size_t i = 0; i < nr; i++) {
		at = strstr(at, "\"ns\":\"");
		CHECK(at);
		at += 6;
		CHECK_IS(strtoll(at, NULL, 10) - BASE, ==, want[i]);
	}
	CHECK(!strstr(at, "\"ns\":"));
	CHECK_IS(seen.problems, ==, 0);
	seen_fini(&seen);
}

static uint64_t verify_into(struct seen *seen)
{
	const struct view_summary *sum;

	*seen = (struct seen){ 0 };
	CHECK_IS(view_open(dir, note_problem, seen, &seen->view), ==, 0);
	CHECK_IS(view_verify(seen->view), ==, 0);
	CHECK_IS(view_summary(seen->view, &sum), ==, 0);
	CHECK_IS(sum->problems, ==, 0);
	return sum->clock_changes;
}

/* Ahead by 60 s, of which 3 s may be between two readings: nothing is unsure. */
static void test_ahead(void)
{
	static const uint64_t ts[] = { 1000 * MS, 2000 * MS, 62500 * MS, 63000 * MS };
	static const int64_t want[] = { 1000 * MS, 2000 * MS, 2500 * MS, 3000 * MS };
	const char *jump = "/* clock: 32000000000 1000000000 999999940000000000 61000000000 "
			   "4000000000 60000000000 1000000000 1 */\n";
	struct seen seen;

	write_trace("a", jump, ts, 4);
	write_trace("b", jump, ts, 1); /* another trace of the same session */
	check_times((const int64_t[]){ 1000 * MS, 1000 * MS, 2000 * MS, 2500 * MS, 3000 * MS }, 5);
	CHECK_IS(verify_into(&seen), ==, 1);
	CHECK(strstr(seen.said, "the clock jumped by +60.000000 s at about 20010909T"));
	CHECK(strstr(seen.said, "; times before and after are right"));
	CHECK(!strstr(seen.said, "but for"));
	seen_fini(&seen);
	CHECK_IS(rm_rf_at(AT_FDCWD, dir), ==, 0);
	write_trace("a", "", ts, 4);
	CHECK_IS(verify_into(&seen), ==, 0);
	CHECK_IS(seen.said[0], ==, 0);
	seen_fini(&seen);
	write_trace("a", jump, ts, 4);
	check_times(want, 4);
}

/* The time of day was set 5 s ahead, then 7 s back: times follow, in all segments. */
static void test_set(void)
{
	static const uint64_t ts[] = { 1000 * MS, 2000 * MS, 62500 * MS, 63000 * MS };
	static const int64_t want[] = { -1000 * MS, 0, 500 * MS, 1000 * MS };
	const char *remarks = "/* clock set: 5000000000 */\n"
			      "/* clock: 32000000000 1000000000 999999940000000000 61000000000 "
			      "4000000000 60000000000 1000000000 1 */\n"
			      "/* clock set: -2000000000 */\n/* clock set: x */\n";
	struct seen seen;

	CHECK_IS(rm_rf_at(AT_FDCWD, dir), ==, 0);
	write_trace("a", remarks, ts, 4);
	check_times(want, 4);
	CHECK_IS(verify_into(&seen), ==, 1);
	CHECK(strstr(seen.said, "the time of day was set 2.000 s back while it was recorded"));
	seen_fini(&seen);
}

/* Ahead by 1 s within 3 s: the order is kept, although times are wrong by up to 1 s. */
static void test_unsure(void)
{
	static const uint64_t ts[] = { 1000 * MS, 2900 * MS, 3100 * MS, 4500 * MS };
	static const int64_t want[] = { 1000 * MS, 2900 * MS, 3000 * MS, 3500 * MS };
	struct seen seen;

	write_trace("a",
		    "/* clock: 3000000000 1000000000 999999999000000000 2000000000 4000000000 "
		    "1000000000 1000000000 1 */\n",
		    ts, 4);
	check_times(want, 4);
	CHECK_IS(verify_into(&seen), ==, 1);
	CHECK(strstr(seen.said, "but for some within 2.0 s of it, which can be wrong by 1.000 s"));
	seen_fini(&seen);
}

/* Another rate, a suspension, which is no news, and comments that are no segments. */
static void test_more(void)
{
	static const uint64_t ts[] = { 1000 * MS, 3000 * MS, 7000 * MS };
	static const int64_t want[] = { 1000 * MS, 2500 * MS, 14500 * MS };
	struct seen seen;

	write_trace("a",
		    "/* clock: 2000000000 2000000000 1000000001000000000 2000000001 2000000000 0 "
		    "1000000000 2 */\n"
		    "/* clock: 2000000000 2000000000 1000000001000000000 2000000001 2000000000 0 "
		    "1000000000 2 */\n"
		    "/* clock: 5000000000 2000000000 1000000011000000000 5000000001 5000000000 "
		    "-10000000000 2000000000 3 */\n"
		    "/* clock: 1 0 1 1 1 1 1 1 */ /* clock: 1 1 1 1 1 1 1 9 */ /* clock: 1 1 */\n"
		    "/* clock: x */ /* clock: */",
		    ts, 3);
	check_times(want, 3);
	CHECK_IS(verify_into(&seen), ==, 1);
	CHECK(strstr(seen.said, "the clock runs at 2000000000 Hz, no longer at 1000000000 at"));
	seen_fini(&seen);
}

/* Back by 10 s: records have the time of the last one until that is added to the counter. The
 * relay's clock is two hours ahead, of both segments. */
static void test_back(void)
{
	static const uint64_t ts[] = { 1000 * MS, 4000 * MS, 4000 * MS, 5000 * MS };
	static const int64_t want[] = { 1000 * MS, 4000 * MS, 4000 * MS, 5000 * MS };
	static const char clocks[] = "1 7200000000000 5\n";
	const int64_t hours = 7200000 * MS;
	struct view_select all = { .limit = 0 };
	const struct view_summary *sum;
	struct seen seen;

	write_trace("a",
		    "/* clock: 4000000001 1000000000 1000000000000000000 1000000001 4000000001 "
		    "-10000000000 1000000000 1 */\n",
		    ts, 4);
	check_times(want, 4);
	CHECK_IS(verify_into(&seen), ==, 1);
	CHECK(strstr(seen.said, "jumped by -10.000000 s at about 20010909T014644+0000"));
	CHECK(strstr(seen.said, "have the time of the last one before in their buffer, or are "
				"early by up to 10.000 s"));
	seen_fini(&seen);
	make_file(dir, ".session", "", 0);
	make_file(dir, "clocks", clocks, sizeof(clocks) - 1);
	seen = (struct seen){ 0 };
	CHECK_IS(view_open_relay(dir, note_problem, &seen, &seen.view), ==, 0);
	CHECK_IS(view_scan(seen.view, &all), ==, 0);
	CHECK_IS(view_summary(seen.view, &sum), ==, 0);
	CHECK_IS(sum->first_ns, ==, BASE + hours + want[0]);
	CHECK_IS(sum->last_ns, ==, BASE + hours + want[3]);
	seen_fini(&seen);
}

int main(void)
{
	make_path(dir, sizeof(dir), make_tmp(), "trace");
	test_ahead();
	test_set();
	test_unsure();
	test_more();
	test_back();
	return 0;
}
