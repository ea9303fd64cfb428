/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Triggers of points: each event, or pairs that take too long, by key and by thread; from threads,
 * from signal handlers, across fork(); a full table, full records, and a process that is killed.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ltt/tracepoint.h>

#include "check.h"
#include "ltt_fired.h"
#include "ltt_ring.h"
#include "tracer/emit/trigger.h"
#include "tracer/ring/context.h"
#include "tracer/ring/ring.h"
#include "tracer/site/site.h"
#include "tracer_alone.h"

enum { THREADS = 4, EVENTS = 20000, SIGNALS = 300, SLOT = 7, GENERATION = 3 };

#define LONG UINT64_MAX /* no pair takes so long */
#if defined(__SANITIZE_THREAD__)
#define UNDER_TSAN 1
#elif defined(__has_feature)
#define UNDER_TSAN __has_feature(thread_sanitizer)
#else
#define UNDER_TSAN 0
#endif

LTT_TRACEPOINT(t, begin, (int64_t id, const char *name), LTT_INFO, ltt_int(int64_t, id, id),
	       ltt_string(name, name))
LTT_TRACEPOINT(t, end, (const char *name, int32_t id, double cost), LTT_INFO,
	       ltt_string(name, name), ltt_int(int32_t, id, id), ltt_float(double, cost, cost),
	       ltt_int(uint8_t, small, 200))

/* Payloads of one word. */
LTT_TRACEPOINT(t, short_begin, (int32_t id), LTT_INFO, ltt_int(int32_t, id, id))
LTT_TRACEPOINT(t, short_end, (int64_t id), LTT_INFO, ltt_int(int64_t, id, id))
LTT_TRACEPOINT(t, short_positive, (uint32_t id), LTT_INFO, ltt_int(uint32_t, id, id))

static struct ltt_fired *fired;
static struct pairing *pairs;
static uint32_t begin_id, end_id, short_begin_id, short_end_id, short_positive_id;

static void added(const struct point *point, void *data)
{
	(void)data;
	if (strcmp(point->event->name, "t:begin") == 0)
		begin_id = point->id;
	if (strcmp(point->event->name, "t:end") == 0)
		end_id = point->id;
	if (strcmp(point->event->name, "t:short_begin") == 0)
		short_begin_id = point->id;
	if (strcmp(point->event->name, "t:short_end") == 0)
		short_end_id = point->id;
	if (strcmp(point->event->name, "t:short_positive") == 0)
		short_positive_id = point->id;
}

static struct trigger_spec spec_of(enum trigger_role role, uint32_t key, uint64_t threshold)
{
	return (struct trigger_spec){ .fired = fired,
				      .program = 99,
				      .slot = SLOT,
				      .generation = GENERATION,
				      .role = role,
				      .clock = LTT_CLOCK_MONOTONIC,
				      .threshold = threshold,
				      .key = key,
				      .pairs = pairs };
}

static const struct ltt_fired_slot *counts(void)
{
	return &fired->slot[SLOT];
}

static uint32_t ready(void)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < LTT_FIRED_RECORDS; i++)
		nr += LTT_FIRED_STEP(fired->state[i]) == LTT_FIRED_READY &&
		      LTT_FIRED_SLOT(fired->state[i]) == SLOT;
	return nr;
}

static const struct ltt_fired_record *record(void)
{
	for (uint32_t i = 0; i < LTT_FIRED_RECORDS; i++)
		if (LTT_FIRED_STEP(fired->state[i]) == LTT_FIRED_READY)
			return &fired->record[i];
	return NULL;
}

static void clear(void)
{
	memset(fired, 0, sizeof(*fired));
}

static void watch_pair(uint32_t begin_key, uint32_t end_key, uint64_t threshold)
{
	struct trigger_spec begin = spec_of(TRIGGER_BEGIN, begin_key, 0);
	struct trigger_spec end = spec_of(TRIGGER_END, end_key, threshold);

	clear();
	end.nr_captures = 1;
	end.captures[0] = 1;
	CHECK_IS(site_watch(begin_id, &begin), ==, 0);
	CHECK_IS(site_watch(end_id, &end), ==, 0);
}

static void unwatch_pair(void)
{
	CHECK_IS(site_unwatch(begin_id, fired, SLOT, TRIGGER_BEGIN), ==, 0);
	CHECK_IS(site_unwatch(end_id, fired, SLOT, TRIGGER_END), ==, 0);
	CHECK(!ltt_enabled(t, begin) && !ltt_enabled(t, end));
	pairing_release(pairs);
	CHECK(pairing_new() == pairs);
}

static void nap(long ns)
{
	const struct timespec time = { ns / 1000000000, ns % 1000000000 };

	nanosleep(&time, NULL);
}

/* --- each event ------------------------------------------------------------------- */

static void match(void)
{
	struct trigger_spec spec = spec_of(TRIGGER_MATCH, TRIGGER_BY_THREAD, 0);
	const struct ltt_fired_record *r;
	char longer[100];

	clear();
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	spec.nr_captures = 6;
	memcpy(spec.captures, (uint32_t[]){ 0, 1, 2, 3, TRIGGER_NO_FIELD, 77 }, 6 * 4);
	CHECK_IS(site_watch(end_id, &spec), ==, 0);
	errno = 77;
	ltt_trace(t, end, "web", -5, 2.5);
	CHECK_IS(errno, ==, 77);
	CHECK(counts()->fired == 1 && ready() == 1 && fired->bell);
	r = record();
	CHECK(r->pid == (uint32_t)getpid() && r->tid == (uint32_t)getpid() && r->at_ns);
	CHECK(r->program == 99 && r->generation == GENERATION && r->nr_values == 6);
	CHECK(strcmp(r->event, "t:end") == 0 && strstr(r->comm, "tracepoint"));
	CHECK(r->kind[0] == LTT_FIRED_STRING && r->bytes[0] == 3);
	CHECK(memcmp(r->value[0].text, "web", 3) == 0);
	CHECK(r->kind[1] == LTT_FIRED_SIGNED && (int64_t)r->value[1].bits == -5);
	CHECK(r->kind[2] == LTT_FIRED_DOUBLE && r->value[2].real == 2.5);
	CHECK(r->kind[3] == LTT_FIRED_UNSIGNED && r->value[3].bits == 200);
	CHECK(r->kind[4] == LTT_FIRED_NONE && r->kind[5] == LTT_FIRED_NONE);
	clear();
	ltt_trace(t, end, longer, 1, 1);
	r = record();
	CHECK(r && r->kind[0] == LTT_FIRED_CUT && r->bytes[0] == LTT_FIRED_TEXT);
	CHECK_IS(site_watch(end_id, &spec), ==, 0); /* replaces, and is not a second one */
	ltt_trace(t, end, "", 1, 1);
	CHECK_IS(counts()->fired, ==, 2);
	for (uint32_t i = 0; i < 2 * LTT_FIRED_RECORDS; i++)
		ltt_trace(t, end, "", 1, 1);
	CHECK(counts()->fired == 2 + 2 * LTT_FIRED_RECORDS && ready() == LTT_FIRED_RECORDS);
	CHECK_IS(site_unwatch(end_id, fired, SLOT, TRIGGER_MATCH), ==, 0);
	CHECK_IS(site_unwatch(end_id, fired, SLOT, TRIGGER_MATCH), ==, -ENOENT);
	CHECK_IS(site_watch(999999, &spec), ==, -ENOENT);
	ltt_trace(t, end, "", 1, 1);
	CHECK_IS(counts()->fired, ==, 2 + 2 * LTT_FIRED_RECORDS);
}

static void count(void)
{
	const struct trigger_spec spec = spec_of(TRIGGER_COUNT, TRIGGER_BY_THREAD, 0);

	clear();
	CHECK_IS(site_watch(end_id, &spec), ==, 0);
	for (int i = 0; i < 1000; i++)
		ltt_trace(t, end, "", i, 1);
	CHECK(counts()->fired == 1000 && !ready() && !fired->bell && !fired->next);
	CHECK_IS(site_unwatch(end_id, fired, SLOT, TRIGGER_COUNT), ==, 0);
}

/* --- pairs ------------------------------------------------------------------------ */

static void by_key(void)
{
	watch_pair(0, 1, 1000000000);
	for (int i = 0; i < 1000; i++) { /* integers of different widths are the same key */
		ltt_trace(t, begin, -i, "");
		ltt_trace(t, begin, 5000, "");
		ltt_trace(t, end, "", -i, 1);
	}
	CHECK_IS(counts()->fired, ==, 0);
	ltt_trace(t, begin, 17, "");
	ltt_trace(t, begin, 18, "");
	nap(1100000000);
	ltt_trace(t, end, "", 19, 1);
	ltt_trace(t, begin, 18, ""); /* begins again */
	ltt_trace(t, end, "", 18, 1);
	CHECK_IS(counts()->fired, ==, 0);
	ltt_trace(t, end, "", 17, 1);
	ltt_trace(t, end, "", 17, 1);
	CHECK(counts()->fired == 1 && ready() == 1 && !counts()->evicted && !counts()->missed);
	CHECK(record()->duration > 1000000000 && record()->value[0].bits == 17);
	unwatch_pair();
}

static void by_text(void)
{
	char first[200], second[200];

	memset(first, 'a', sizeof(first));
	memcpy(second, first, sizeof(first));
	first[199] = second[199] = '\0';
	second[150] = 'b';
	watch_pair(1, 0, 0);
	ltt_trace(t, begin, 1, first);
	ltt_trace(t, end, second, 1, 1);
	ltt_trace(t, end, "a", 1, 1);
	CHECK_IS(counts()->fired, ==, 0);
	ltt_trace(t, end, first, 1, 1);
	CHECK_IS(counts()->fired, ==, 1);
	ltt_trace(t, begin, 1, "");
	ltt_trace(t, end, "", 1, 1);
	CHECK_IS(counts()->fired, ==, 2);
	unwatch_pair();
}

static void *emit_end(void *arg)
{
	(void)arg;
	ltt_trace(t, end, "", 1, 1);
	return NULL;
}

/* Those of a thread nest; another thread's end is not its own. */
static void by_thread(void)
{
	pthread_t thread;

	watch_pair(TRIGGER_BY_THREAD, TRIGGER_BY_THREAD, 1000000000);
	ltt_trace(t, begin, 1, "");
	nap(1100000000);
	CHECK_IS(pthread_create(&thread, NULL, emit_end, NULL), ==, 0);
	pthread_join(thread, NULL);
	for (int i = 0; i < 6; i++)
		ltt_trace(t, begin, i, "");
	for (int i = 0; i < 6; i++)
		ltt_trace(t, end, "", i, 1);
	CHECK_IS(counts()->fired, ==, 0);
	ltt_trace(t, end, "", 1, 1);
	CHECK(counts()->fired == 1 && !counts()->evicted);
	ltt_trace(t, end, "", 1, 1);
	CHECK_IS(counts()->fired, ==, 1);
	unwatch_pair();
}

/* The oldest begins go, and are counted; three quarters of the table are kept without a loss. */
static void full(void)
{
	const int fits = 3072, all = 20000;
	uint64_t taken;

	watch_pair(0, 1, 0);
	for (int i = 0; i < fits; i++)
		ltt_trace(t, begin, i, "");
	CHECK_IS(counts()->evicted, ==, 0);
	for (int i = fits; i < all; i++)
		ltt_trace(t, begin, i, "");
	CHECK_IS(counts()->evicted, >=, (uint64_t)all - 4096);
	for (int i = all - 1000; i < all; i++)
		ltt_trace(t, end, "", i, 1);
	taken = counts()->fired;
	CHECK_IS(taken, >=, 990);
	for (int i = 0; i < all; i++)
		ltt_trace(t, end, "", i, 1);
	CHECK_IS(counts()->fired + counts()->evicted, ==, (uint64_t)all);
	unwatch_pair();
}

static void *emit_pairs(void *arg)
{
	int first = (int)(intptr_t)arg * EVENTS;

	for (int i = first; i < first + EVENTS; i++) {
		ltt_trace(t, begin, i, "");
		ltt_trace(t, end, "", i, 1);
	}
	return NULL;
}

static volatile sig_atomic_t handled;

static void on_signal(int signo)
{
	(void)signo;
	ltt_trace(t, begin, -1 - handled, "");
	ltt_trace(t, end, "", -1 - handled, 1);
	handled++;
}

static void from_threads(uint32_t begin_key, uint32_t end_key)
{
	pthread_t threads[THREADS];

	watch_pair(begin_key, end_key, 0);
	handled = 0;
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < THREADS; i++)
		CHECK_IS(pthread_create(&threads[i], NULL, emit_pairs, (void *)(intptr_t)i), ==, 0);
	for (int i = 0; i < SIGNALS; i++)
		CHECK_IS(pthread_kill(threads[0], SIGUSR1), <=, ESRCH);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK_IS(counts()->fired, ==, (uint64_t)(THREADS * EVENTS + handled));
	CHECK(!counts()->evicted && !counts()->missed);
	unwatch_pair();
}

/* --- pairs of short events -------------------------------------------------------- */

static void watch_short(uint32_t point, enum trigger_role role, uint32_t key, uint64_t threshold)
{
	struct trigger_spec spec = spec_of(role, key, threshold);

	spec.clock = LTT_CLOCK_CYCLES;
	spec.nr_captures = 1;
	CHECK_IS(site_watch(point, &spec), ==, 0);
}

static void unwatch_short(void)
{
	CHECK_IS(site_unwatch(short_begin_id, fired, SLOT, TRIGGER_BEGIN), ==, 0);
	CHECK_IS(site_unwatch(short_end_id, fired, SLOT, TRIGGER_END), ==, 0);
	CHECK(!ltt_enabled(t, short_begin) && !ltt_enabled(t, short_end));
	pairing_release(pairs);
	CHECK(pairing_new() == pairs);
}

/* Of all signs and widths; also if another trigger comes and goes. */
static void by_short_key(void)
{
	const struct trigger_spec match = spec_of(TRIGGER_COUNT, TRIGGER_BY_THREAD, 0);

	clear();
	watch_short(short_begin_id, TRIGGER_BEGIN, 0, 0);
	watch_short(short_end_id, TRIGGER_END, 0, LONG);
	watch_short(short_positive_id, TRIGGER_END, 0, 0);
	for (int i = -1000; i < 1000; i++) {
		ltt_trace(t, short_begin, i);
		ltt_trace(t, short_end, i);
	}
	watch_short(short_end_id, TRIGGER_END, 0, 0);
	for (int i = -1000; i < 1000; i++)
		ltt_trace(t, short_end, i);
	ltt_trace(t, short_begin, -5);
	ltt_trace(t, short_positive, (uint32_t)-5);
	CHECK_IS(counts()->fired, ==, 0);
	ltt_trace(t, short_end, -5);
	CHECK_IS(counts()->fired, ==, 1);
	CHECK(record()->kind[0] == LTT_FIRED_SIGNED && (int64_t)record()->value[0].bits == -5);
	ltt_trace(t, short_begin, 5);
	ltt_trace(t, short_positive, 5);
	CHECK_IS(counts()->fired, ==, 2);
	CHECK_IS(site_watch(short_begin_id, &match), ==, 0);
	ltt_trace(t, short_begin, 7);
	CHECK_IS(counts()->fired, ==, 3);
	CHECK_IS(site_unwatch(short_begin_id, fired, SLOT, TRIGGER_COUNT), ==, 0);
	ltt_trace(t, short_begin, 8);
	ltt_trace(t, short_end, 7);
	ltt_trace(t, short_end, 8);
	CHECK_IS(counts()->fired, ==, 5);
	CHECK(!counts()->evicted && !counts()->missed);
	CHECK_IS(site_unwatch(short_positive_id, fired, SLOT, TRIGGER_END), ==, 0);
	unwatch_short();
}

static void by_short_thread(void)
{
	clear();
	watch_short(short_begin_id, TRIGGER_BEGIN, TRIGGER_BY_THREAD, 0);
	watch_short(short_end_id, TRIGGER_END, TRIGGER_BY_THREAD, LONG);
	for (int i = 0; i < 1000; i++) {
		ltt_trace(t, short_begin, i);
		ltt_trace(t, short_begin, i);
		ltt_trace(t, short_end, i);
		ltt_trace(t, short_end, i);
	}
	ltt_trace(t, short_begin, 1);
	watch_short(short_end_id, TRIGGER_END, TRIGGER_BY_THREAD, 0);
	ltt_trace(t, short_end, 1);
	ltt_trace(t, short_end, 1);
	CHECK(counts()->fired == 1 && !counts()->evicted && !counts()->missed);
	unwatch_short();
}

/* One begin of the thread has no end yet. */
static void *emit_short(void *arg)
{
	int first = (int)(intptr_t)arg * EVENTS;

	for (int i = first + 1; i < first + EVENTS; i++) {
		ltt_trace(t, short_begin, i);
		ltt_trace(t, short_end, i);
	}
	ltt_trace(t, short_begin, first);
	return NULL;
}

static void on_signal_short(int signo)
{
	(void)signo;
	ltt_trace(t, short_begin, -1 - handled);
	ltt_trace(t, short_end, -1 - handled);
	handled++;
}

static void short_from_threads(uint64_t threshold)
{
	pthread_t threads[THREADS];
	uint64_t at_once;

	clear();
	watch_short(short_begin_id, TRIGGER_BEGIN, 0, 0);
	watch_short(short_end_id, TRIGGER_END, 0, threshold);
	handled = 0;
	signal(SIGUSR1, on_signal_short);
	for (int i = 0; i < THREADS; i++)
		CHECK_IS(pthread_create(&threads[i], NULL, emit_short, (void *)(intptr_t)i), ==, 0);
	for (int i = 0; i < SIGNALS; i++)
		CHECK_IS(pthread_kill(threads[0], SIGUSR1), <=, ESRCH);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	at_once = threshold ? 0 : (uint64_t)(THREADS * (EVENTS - 1) + handled);
	CHECK_IS(counts()->fired, ==, at_once);
	watch_short(short_end_id, TRIGGER_END, 0, 0);
	for (int i = -handled; i < THREADS * EVENTS; i++)
		ltt_trace(t, short_end, i);
	CHECK_IS(counts()->fired, ==, at_once + THREADS);
	CHECK(!counts()->evicted && !counts()->missed);
	unwatch_short();
}

/* --- lives and deaths ------------------------------------------------------------- */

static bool ends;

static void *emit_until_end(void *arg)
{
	(void)arg;
	for (int i = 0; !__atomic_load_n(&ends, __ATOMIC_RELAXED); i++) {
		ltt_trace(t, begin, i, "some text");
		ltt_trace(t, end, "some text", i, 1);
	}
	return NULL;
}

/* Triggers of all roles come and go while threads hit them; late threads write into the memory of
 * triggers, and nowhere else. ThreadSanitizer does not know that this is meant. */
static void changing(void)
{
	const uint32_t keys[][2] = { { 0, 1 }, { 1, 0 }, { TRIGGER_BY_THREAD, TRIGGER_BY_THREAD } };
	pthread_t threads[THREADS];

	if (UNDER_TSAN)
		return;
	for (int i = 0; i < THREADS; i++)
		CHECK_IS(pthread_create(&threads[i], NULL, emit_until_end, NULL), ==, 0);
	for (int i = 0; i < 600; i++) {
		const uint32_t *key = keys[i % 3];
		struct trigger_spec match = spec_of(TRIGGER_MATCH, TRIGGER_BY_THREAD, 0);

		match.nr_captures = 2;
		match.captures[0] = 1;
		watch_pair(key[0], key[1], i % 2 ? LONG : 0);
		CHECK_IS(site_watch(end_id, &match), ==, 0);
		nap(20000);
		CHECK_IS(site_unwatch(end_id, fired, SLOT, TRIGGER_MATCH), ==, 0);
		CHECK_IS(site_unwatch(begin_id, fired, SLOT, TRIGGER_BEGIN), ==, 0);
		CHECK_IS(site_unwatch(end_id, fired, SLOT, TRIGGER_END), ==, 0);
		pairing_release(pairs);
		CHECK(pairing_new() == pairs);
	}
	__atomic_store_n(&ends, true, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (uint32_t i = 0; i < LTT_FIRED_SLOTS; i++)
		CHECK(i == SLOT || !fired->slot[i].fired);
}

/* The child has none of its parent's begins. */
static void across_fork(void)
{
	int status;
	pid_t pid;

	watch_pair(0, 1, 0);
	ltt_trace(t, begin, 1, "");
	pid = fork();
	if (pid == 0) {
		context_forget();
		pairings_after_fork_child();
		ltt_trace(t, end, "", 1, 1);
		CHECK_IS(counts()->fired, ==, 0);
		ltt_trace(t, begin, 2, "");
		ltt_trace(t, end, "", 2, 1);
		CHECK_IS(counts()->fired, ==, 1);
		_exit(0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(record()->pid == (uint32_t)pid);
	ltt_trace(t, end, "", 1, 1);
	CHECK_IS(counts()->fired, ==, 2);
	unwatch_pair();
}

/* Killed at any time: each firing has at most one record, and there is no record without. */
static void killed(void)
{
	const struct trigger_spec spec = spec_of(TRIGGER_MATCH, TRIGGER_BY_THREAD, 0);

	clear();
	CHECK_IS(site_watch(end_id, &spec), ==, 0);
	for (int round = 0; round < 30; round++) {
		pid_t pid = fork();
		uint32_t claimed = 0;
		uint64_t before;
		int status;

		CHECK_IS(pid, >=, 0);
		while (pid == 0)
			ltt_trace(t, end, "", 1, 1);
		while (!__atomic_load_n(&counts()->fired, __ATOMIC_ACQUIRE))
			;
		nap(10000 * round);
		CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
		for (uint32_t i = 0; i < LTT_FIRED_RECORDS; i++)
			claimed += LTT_FIRED_STEP(fired->state[i]) == LTT_FIRED_CLAIMED;
		CHECK(claimed <= 1 && ready() <= counts()->fired);
		before = counts()->fired;
		ltt_trace(t, end, "", 1, 1);
		CHECK_IS(counts()->fired, ==, before + 1);
		clear();
	}
	CHECK_IS(site_unwatch(end_id, fired, SLOT, TRIGGER_MATCH), ==, 0);
}

/* Fields that can't be keys. */
static void refusals(void)
{
	struct trigger_spec spec = spec_of(TRIGGER_END, 2, 0); /* a number that is not an integer */

	CHECK_IS(site_watch(end_id, &spec), ==, -EINVAL);
	spec.key = 99;
	CHECK_IS(site_watch(end_id, &spec), ==, -EINVAL);
	CHECK(!ltt_enabled(t, end));
}

int main(void)
{
	const struct point_listener listener = { .added = added };

	fired = mmap(NULL, sizeof(*fired), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	CHECK_IS(fired, !=, MAP_FAILED);
	ring_init();
	site_listen(&listener);
	CHECK(begin_id && end_id && short_begin_id && short_end_id && short_positive_id);
	pairs = pairing_new();
	CHECK(pairs);
	match();
	count();
	by_key();
	by_text();
	by_thread();
	full();
	from_threads(0, 1);
	from_threads(TRIGGER_BY_THREAD, TRIGGER_BY_THREAD);
	by_short_key();
	by_short_thread();
	short_from_threads(0);
	short_from_threads(LONG);
	changing();
	across_fork();
	killed();
	refusals();
	return 0;
}
