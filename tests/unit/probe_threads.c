/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes are registered, removed, armed and disarmed while threads trace at full speed. The data of
 * a probe is poisoned and freed behind ltt_probe_synchronize(): a call that comes later would see
 * it.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <ltt/marker.h>
#include <ltt/probe.h>
#include <ltt/tracepoint.h>

#include "check.h"
#include "tracer_alone.h"

enum { TRACERS = 3, ROUNDS = 400, ALIVE = 0x600d, DEAD = 0xdead };

LTT_TRACEPOINT(p, busy, (int x, const char *s), LTT_INFO, ltt_int(int, x, x), ltt_string(s, s))

struct state {
	int alive;
	unsigned long calls;
};

static int stop;
static int bad_calls;

static void check_alive(void *priv, const struct ltt_event_view *view)
{
	struct state *state = priv;
	int64_t x = 0;

	if (__atomic_load_n(&state->alive, __ATOMIC_ACQUIRE) != ALIVE ||
	    ltt_view_int(view, ltt_view_field(view, "x"), &x) < 0 || x != 7)
		__atomic_store_n(&bad_calls, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&state->calls, 1, __ATOMIC_RELAXED);
}

static unsigned long emitted, heard;

static void hear(void *priv, const struct ltt_event_view *view)
{
	(void)view;
	__atomic_add_fetch((unsigned long *)priv, 1, __ATOMIC_RELAXED);
}

static void *trace(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		ltt_trace(p, busy, 7, "text");
		__atomic_add_fetch(&emitted, 1, __ATOMIC_RELAXED);
		trace_mark(p_busy, "x %d", 7);
	}
	return NULL;
}

static void *list_all(void *arg);

static int ignore_probe(void *data, const struct ltt_probe_info *info)
{
	(void)info;
	++*(int *)data;
	return 0;
}

static void *list_all(void *arg)
{
	int seen = 0;

	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		ltt_probes_list(ignore_probe, &seen);
		usleep(100);
	}
	return NULL;
}

static void check_typed(void *data, int x, const char *text)
{
	struct state *state = data;

	if (__atomic_load_n(&state->alive, __ATOMIC_ACQUIRE) != ALIVE || x != 7 || text[3] != 't')
		__atomic_store_n(&bad_calls, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&state->calls, 1, __ATOMIC_RELAXED);
}

static void *churn_typed(void *arg)
{
	unsigned long calls = 0;

	for (int round = 0; round < ROUNDS; round++) {
		struct state *state = malloc(sizeof(*state));

		CHECK(state);
		*state = (struct state){ .alive = ALIVE };
		CHECK_IS(ltt_register_trace(p, busy, check_typed, state), ==, 1);
		if (round % 8 == 0)
			while (!__atomic_load_n(&state->calls, __ATOMIC_RELAXED))
				usleep(10);
		CHECK_IS(ltt_unregister_trace(p, busy, check_typed, state), ==, 0);
		CHECK_IS(ltt_probe_synchronize(), ==, 0);
		__atomic_store_n(&state->alive, DEAD, __ATOMIC_RELEASE);
		calls += state->calls;
		free(state);
	}
	CHECK_IS(calls, >, 0);
	return arg;
}

static unsigned long one_round(const char *name, int round)
{
	struct state *state = malloc(sizeof(*state));
	struct ltt_probe *probe = NULL;
	unsigned long calls;

	CHECK(state);
	*state = (struct state){ .alive = ALIVE };
	CHECK_IS(ltt_probe_register(name, NULL, check_alive, state, &probe), ==, 0);
	CHECK_IS(ltt_probe_arm(probe), ==, 1);
	if (round % 8 == 0)
		while (!__atomic_load_n(&state->calls, __ATOMIC_RELAXED))
			usleep(10);
	if (round % 2)
		CHECK_IS(ltt_probe_disarm(probe), ==, 0);
	ltt_probe_unregister(probe);
	CHECK_IS(ltt_probe_synchronize(), ==, 0);
	__atomic_store_n(&state->alive, DEAD, __ATOMIC_RELEASE);
	calls = state->calls;
	free(state);
	return calls;
}

static void *churn(void *name)
{
	unsigned long calls = 0;

	for (int round = 0; round < ROUNDS; round++)
		calls += one_round(name, round);
	CHECK_IS(calls, >, 0);
	return NULL;
}

int main(void)
{
	static char tracepoint[] = "p:busy", marker[] = "p_busy";
	struct ltt_probe *listener = NULL;
	pthread_t tracer[TRACERS], churner[3], typed[2], lister;

	CHECK_IS(ltt_probe_register(tracepoint, NULL, hear, &heard, &listener), ==, 0);
	CHECK_IS(ltt_probe_arm(listener), ==, 1);
	for (int i = 0; i < TRACERS; i++)
		CHECK_IS(pthread_create(&tracer[i], NULL, trace, NULL), ==, 0);
	CHECK_IS(pthread_create(&lister, NULL, list_all, NULL), ==, 0);
	for (int i = 0; i < 3; i++)
		CHECK_IS(pthread_create(&churner[i], NULL, churn, i ? tracepoint : marker), ==, 0);
	for (int i = 0; i < 2; i++)
		CHECK_IS(pthread_create(&typed[i], NULL, churn_typed, NULL), ==, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(churner[i], NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(typed[i], NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < TRACERS; i++)
		pthread_join(tracer[i], NULL);
	pthread_join(lister, NULL);
	CHECK_IS(heard, ==, emitted);
	ltt_probe_unregister(listener);
	CHECK(!bad_calls && !ltt_enabled(p, busy));
	return 0;
}
