/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Small events, which travel in a register: a session that records all the time misses none and
 * records none twice while a second session and a probe are added and removed, with threads and
 * signal handlers that trace; every size of a word is recorded as it is.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>

#include <ltt/probe.h>
#include <ltt/tracepoint.h>

#include "lib/tracer/armed_set.h"
#include "tracer_alone.h"

#define THREADS 3u
#define EVENTS 400000u

LTT_TRACEPOINT(word, four, (uint32_t x), LTT_INFO, ltt_int(uint32_t, x, x))
LTT_TRACEPOINT(word, one, (int8_t x), LTT_INFO, ltt_int(int8_t, x, x))
LTT_TRACEPOINT(word, eight, (uint16_t a, bool b, int8_t c, float d), LTT_INFO,
	       ltt_int(uint16_t, a, a), ltt_int(bool, b, b), ltt_int(int8_t, c, c),
	       ltt_float(float, d, d))

static uint32_t point_ids[8];
static uint32_t nr_ids;
static uint64_t emitted;

static void added(const struct point *point, void *data)
{
	(void)data;
	if (strncmp(point->event->name, "word:", 5) == 0)
		point_ids[nr_ids++] = point->id;
}

static void *emit(void *arg)
{
	(void)arg;
	for (uint32_t i = 0; i < EVENTS; i++) {
		ltt_trace(word, four, i);
		__atomic_add_fetch(&emitted, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void tick(int signo)
{
	(void)signo;
	ltt_trace(word, one, -1);
	__atomic_add_fetch(&emitted, 1, __ATOMIC_RELAXED);
}

static void ignore(void *priv, const struct ltt_event_view *view)
{
	(void)view;
	__atomic_add_fetch((uint64_t *)priv, 1, __ATOMIC_RELAXED);
}

static void others_come_and_go(void)
{
	static uint64_t called;
	struct ltt_probe *probe;
	struct ring_set *set;
	struct testset t;

	set = armed_set_make(&t, 2, ring_init() != RING_RSEQ, point_ids, nr_ids);
	CHECK(ltt_probe_register("word:four", NULL, ignore, &called, &probe) == 0, "probe");
	CHECK(ltt_probe_arm(probe) == 1, "arm");
	ltt_probe_unregister(probe);
	CHECK(ltt_probe_synchronize() == 0, "synchronize");
	armed_set_free(&t, set);
}

static void exact(void)
{
	struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { 0 };
	pthread_t thread[THREADS];
	struct ring_set *set;
	struct testset t;

	set = armed_set_make(&t, 1, ring_init() != RING_RSEQ, point_ids, nr_ids);
	signal(SIGALRM, tick);
	CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0, "timer");
	for (uint32_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&thread[i], NULL, emit, NULL) == 0, "thread");
	for (int i = 0; i < 200; i++)
		others_come_and_go();
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0, "timer");
	CHECK(testset_accounted(&t) == emitted, "%llu of %llu",
	      (unsigned long long)testset_accounted(&t), (unsigned long long)emitted);
	armed_set_free(&t, set);
}

static uint8_t seen[64];
static size_t nr_seen;

static void look(void *priv, const struct ltt_event_view *view)
{
	(void)priv;
	nr_seen = view->len;
	memcpy(seen, view->payload, view->len);
}

/* A probe uses the slow path: it sees the word stored to memory. */
static void bytes(void)
{
	static const uint8_t want[8] = { 0x34, 0x12, 1, 0xfe, 0, 0, 0x80, 0x3f };
	struct ltt_probe *probe;

	CHECK(ltt_probe_register("word:eight", NULL, look, NULL, &probe) == 0, "probe");
	CHECK(ltt_probe_arm(probe) == 1, "arm");
	ltt_trace(word, eight, 0x1234, true, -2, 1.0f);
	CHECK(nr_seen == 8 && memcmp(seen, want, 8) == 0, "eight");
	ltt_probe_unregister(probe);
	CHECK(ltt_probe_synchronize() == 0, "synchronize");
	CHECK(ltt_probe_register("word:one", NULL, look, NULL, &probe) == 0, "probe");
	CHECK(ltt_probe_arm(probe) == 1, "arm");
	ltt_trace(word, one, -3);
	CHECK(nr_seen == 1 && seen[0] == 0xfd, "one");
	ltt_probe_unregister(probe);
	CHECK(ltt_probe_synchronize() == 0, "synchronize");
}

int main(void)
{
	static const struct point_listener listener = { .added = added };

	ring_init();
	site_listen(&listener);
	CHECK(nr_ids == 3, "%u points", nr_ids);
	bytes();
	exact();
	return 0;
}
