/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cost of an event from the site to the ring, beside a bare read of the clock
 * and the ring alone. Prints figures; asserts that every event is accounted for.
 * As a test it runs briefly; `tracepoint_bench MILLION` takes so many events a figure.
 */
#include <string.h>

#include <ltt/log.h>
#include <ltt/marker.h>
#include <ltt/probe.h>
#include <ltt/tracepoint.h>

#include "lib/tracer/armed_set.h"
#include "ltt_counts.h"
#include "tracer/emit/counter.h"
#include "tracer/emit/keys.h"
#include "tracer/emit/trigger.h"
#include "tracer_alone.h"

#define SLICE 1000u /* events: short, so that the best of many had the CPU to itself */

LTT_TRACEPOINT(bench, small, (int x), LTT_INFO, ltt_int(int, x, x))
LTT_TRACEPOINT(bench, done, (int x), LTT_INFO, ltt_int(int, x, x))
LTT_TRACEPOINT(bench, text, (uint64_t a, uint32_t b, const char *s), LTT_INFO,
	       ltt_int(uint64_t, a, a), ltt_int(uint32_t, b, b), ltt_string(s, s))

static uint64_t slices = 1000;
static const char *volatile text = "sixteen letters";

static void run_clock(void)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < SLICE; i++) {
#if defined(__x86_64__)
		sum += __builtin_ia32_rdtsc();
#else
		sum += testset_now_ns();
#endif
		__asm__ volatile("" : "+r"(sum));
	}
}

static void run_small(void)
{
	for (uint64_t i = 0; i < SLICE; i++)
		ltt_trace(bench, small, (int)i);
}

static void run_few(void)
{
	for (uint64_t i = 0; i < SLICE; i++)
		ltt_trace(bench, small, (int)(i % 16));
}

static void run_pairs(void)
{
	for (uint64_t i = 0; i < SLICE; i++) {
		ltt_trace(bench, small, (int)i);
		ltt_trace(bench, done, (int)i);
	}
}

static void run_text(void)
{
	for (uint64_t i = 0; i < SLICE; i++)
		ltt_trace(bench, text, i, (uint32_t)i, text);
}

static void run_marker(void)
{
	for (uint64_t i = 0; i < SLICE; i++)
		trace_mark(bench_small, "x %d", (int)i);
}

static void run_marker_text(void)
{
	for (uint64_t i = 0; i < SLICE; i++)
		trace_mark(bench_text, "a %ld b %d s %s", (long)i, (int)i, text);
}

static void run_tracef(void)
{
	for (uint64_t i = 0; i < SLICE; i++)
		ltt_tracef("number %d", (int)i);
}

static double best_ns(void (*run)(void))
{
	double best = 1e9;

	for (uint64_t i = 0; i < slices; i++) {
		uint64_t begin = testset_now_ns();

		run();
		double ns = (double)(testset_now_ns() - begin) / SLICE;
		best = ns < best ? ns : best;
	}
	return best;
}

static uint32_t point_ids[64];
static uint32_t nr_ids, small_id, done_id;

static void added(const struct point *point, void *data)
{
	(void)data;
	if (strstr(point->event->name, "bench") ||
	    strcmp(point->event->name, "ltt_tracef:event") == 0)
		point_ids[nr_ids++] = point->id;
	if (strcmp(point->event->name, "bench:small") == 0)
		small_id = point->id;
	if (strcmp(point->event->name, "bench:done") == 0)
		done_id = point->id;
}

static void measure_all(const char *what)
{
	printf("%-24s", what);
	printf(" %7.2f", best_ns(run_small));
	printf(" %7.2f", best_ns(run_text));
	printf(" %7.2f", best_ns(run_marker));
	printf(" %7.2f", best_ns(run_marker_text));
	printf(" %7.2f\n", best_ns(run_tracef));
}

static void ignore(void *priv, const struct ltt_event_view *view)
{
	(void)priv;
	(void)view;
}

static int64_t seen;

static void read_field(void *priv, const struct ltt_event_view *view)
{
	int64_t x = 0;

	(void)priv;
	(void)!ltt_view_int(view, ltt_view_field(view, "x"), &x);
	seen += x;
}

static void read_argument(void *data, int x)
{
	*(int64_t *)data += x;
}

static void measure_probe(const char *what, ltt_probe_call call)
{
	struct ltt_probe *probe;

	CHECK(ltt_probe_register("bench:small", NULL, call, NULL, &probe) == 0, "probe");
	CHECK(ltt_probe_arm(probe) == 1, "arm");
	printf("%-24s %7.2f\n", what, best_ns(run_small));
	ltt_probe_unregister(probe);
	CHECK(ltt_probe_synchronize() == 0, "synchronize");
}

static void measure_probes(void)
{
	measure_probe("a probe", ignore);
	measure_probe("that reads a field", read_field);
	CHECK(ltt_register_trace(bench, small, read_argument, &seen) == 1, "typed probe");
	printf("%-24s %7.2f\n", "a typed probe", best_ns(run_small));
	CHECK(ltt_unregister_trace(bench, small, read_argument, &seen) == 0, "typed probe");
	CHECK(seen == (int64_t)(2 * slices * (SLICE * (SLICE - 1) / 2)), "%lld", (long long)seen);
}

static void measure_keyed(void)
{
	static uint64_t parts[64][LTT_COUNTS_REST_WORDS + 2 * 1024];
	static struct ltt_counts_slot slots[1024], more[1024];
	struct counter counter = { parts[0], sizeof(parts[0]), 63, COUNTER_HITS, 63, NULL, 0 };
	struct key_spec keys = { slots, 1024, 1, { 0, 0 }, KEYS_NO_VALUE };

	CHECK(site_count(small_id, &counter, &keys) == 0, "keys");
	printf("%-24s %7.2f\n", "counted by key", best_ns(run_few));
	printf("%-24s %7.2f\n", "with no room for it", best_ns(run_small));
	CHECK(site_uncount(small_id, counter.words) == 0, "uncount");
	keys.value = counter.field = 0;
	keys.slots = more;
	CHECK(site_count(small_id, &counter, &keys) == 0, "keys and values");
	printf("%-24s %7.2f\n", "a histogram by key", best_ns(run_few));
	CHECK(site_uncount(small_id, counter.words) == 0, "uncount");
}

/* Like the session daemon's memory, but private. */
static void measure_counted(void)
{
	static struct ltt_counts counts[64];
	struct counter counter = {
		(uint64_t *)counts, sizeof(*counts), 63, COUNTER_HITS, 63, NULL, 0
	};

	CHECK(small_id && site_count(small_id, &counter, NULL) == 0, "count");
	printf("%-24s %7.2f\n", "counted", best_ns(run_small));
	counter.words = &counts[0].sum;
	CHECK(site_count(done_id, &counter, NULL) == 0, "count");
	printf("%-24s %7.2f\n", "two counted", best_ns(run_pairs));
	CHECK(site_uncount(done_id, counter.words) == 0, "uncount");
	counter.words = &counts[0].count;
	CHECK(site_uncount(small_id, counter.words) == 0, "uncount");
	counter.field = 0;
	reader_synchronize();
	memset(counts, 0, sizeof(counts));
	CHECK(site_count(small_id, &counter, NULL) == 0, "histogram");
	printf("%-24s %7.2f\n", "a histogram", best_ns(run_small));
	CHECK(site_uncount(small_id, counter.words) == 0, "uncount");
	measure_keyed();
	reader_synchronize();
	for (int i = 1; i < 64; i++)
		counts[0].count += counts[i].count;
	CHECK(counts[0].count == slices * SLICE, "%llu", (unsigned long long)counts[0].count);
}

/* A begin and an end, which are close enough not to fire. */
static void measure_pairs(const char *what, uint32_t key)
{
	static struct ltt_fired fired;
	struct pairing *pairs = pairing_new();
	struct trigger_spec begin = { .fired = &fired,
				      .role = TRIGGER_BEGIN,
				      .clock = LTT_CLOCK_CYCLES,
				      .key = key,
				      .pairs = pairs };
	struct trigger_spec end = begin;

	end.role = TRIGGER_END;
	end.threshold = UINT64_MAX;
	CHECK(pairs && site_watch(small_id, &begin) == 0, "begin");
	CHECK(site_watch(done_id, &end) == 0, "end");
	printf("%-24s %7.2f\n", what, best_ns(run_pairs));
	CHECK(site_unwatch(small_id, &fired, 0, TRIGGER_BEGIN) == 0, "begin");
	CHECK(site_unwatch(done_id, &fired, 0, TRIGGER_END) == 0, "end");
	CHECK(!fired.slot[0].fired && !fired.slot[0].evicted && !fired.slot[0].missed, "firings");
	pairing_release(pairs);
}

int main(int argc, char **argv)
{
	static const struct point_listener listener = { .added = added };
	int exclusive = ring_init() != RING_RSEQ;
	struct ring_set *set, *second;
	struct testset t, u;

	if (argc > 1)
		slices = strtoull(argv[1], NULL, 0) * 1000000 / SLICE;
	site_listen(&listener);
	printf("%-24s %7.2f ns\n", "the clock alone", best_ns(run_clock));
	printf("%-24s %7s %7s %7s %7s %7s\n", "ns per event", "4", "8+4+16", "mark 4", "mark 28",
	       "tracef");
	measure_all("off");
	set = armed_set_make(&t, 1, exclusive, point_ids, nr_ids);
	measure_all("one session");
	CHECK(testset_accounted(&t) == 5 * slices * SLICE, "%llu",
	      (unsigned long long)testset_accounted(&t));
	second = armed_set_make(&u, 2, exclusive, point_ids, nr_ids);
	measure_all("two sessions");
	CHECK(testset_accounted(&t) == 10 * slices * SLICE &&
		      testset_accounted(&u) == 5 * slices * SLICE,
	      "two");
	armed_set_free(&t, set);
	armed_set_free(&u, second);
	measure_probes();
	measure_counted();
	measure_pairs("a pair by key", 0);
	measure_pairs("a pair by thread", TRIGGER_BY_THREAD);
	measure_all("off again");
	return 0;
}
