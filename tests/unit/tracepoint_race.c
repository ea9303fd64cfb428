/* SPDX-License-Identifier: GPL-2.0-only */
/* A string that another thread changes while it is recorded: the payload always
 * parses, with any part of the string in it. */
#include <pthread.h>
#include <string.h>

#include <ltt/marker.h>
#include <ltt/probe.h>
#include <ltt/tracepoint.h>

#include "check.h"
#include "tracer_alone.h"

enum { EVENTS = 20000, ROUNDS = 100, ENOUGH = 100, LENGTH = 64 };

LTT_TRACEPOINT(r, text, (const char *s), LTT_INFO, ltt_string(a, s), ltt_int(int, behind, 42),
	       ltt_string(b, s), ltt_int(int, last, 43))

static char text[LENGTH + 1];
static int stop;
static int calls, cut;

__attribute__((no_sanitize("thread"))) static void change(unsigned int n)
{
	/* Never a string without an end: byte LENGTH stays 0. */
	((volatile char *)text)[n % LENGTH] = (char)(n % 7 ? 'a' + n % 26 : '\0');
}

static void *change_all_the_time(void *arg)
{
	unsigned int n = 1;

	(void)arg;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		n = n * 1103515245 + 12345;
		change(n >> 8);
	}
	return NULL;
}

static void check_view(void *priv, const struct ltt_event_view *view)
{
	int64_t behind = 0, last = 0;
	const char *a, *b;
	size_t a_len, b_len;

	(void)priv;
	CHECK(ltt_view_string(view, 0, &a, &a_len) == 0 && strlen(a) == a_len);
	CHECK(ltt_view_int(view, 1, &behind) == 0 && behind == 42);
	CHECK(ltt_view_string(view, 2, &b, &b_len) == 0 && strlen(b) == b_len);
	CHECK(ltt_view_int(view, 3, &last) == 0 && last == 43);
	CHECK(a_len <= LENGTH && b_len <= LENGTH);
	CHECK_IS(view->len, ==, a_len + 1 + b_len + 1 + 2 * sizeof(int));
	calls++;
	cut += a_len != b_len;
}

__attribute__((no_sanitize("thread"))) static void emit_all(void)
{
	for (int i = 0; i < EVENTS; i++) {
		ltt_trace(r, text, text);
		trace_mark(r_text, "a %s behind %d b %s last %d", text, 42, text, 43);
	}
}

int main(void)
{
	struct ltt_probe *tracepoint = NULL, *marker = NULL;
	pthread_t changer;
	int rounds = 0;

	CHECK_IS(ltt_probe_register("r:text", NULL, check_view, NULL, &tracepoint), ==, 0);
	CHECK_IS(ltt_probe_register("r_text", NULL, check_view, NULL, &marker), ==, 0);
	CHECK(ltt_probe_arm(tracepoint) == 1 && ltt_probe_arm(marker) == 1);
	CHECK_IS(pthread_create(&changer, NULL, change_all_the_time, NULL), ==, 0);
	/* Until the threads have met often enough; on a busy machine they may not. */
	do {
		emit_all();
		rounds++;
	} while (cut < ENOUGH && rounds < ROUNDS);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(changer, NULL);
	CHECK_IS(calls, ==, 2 * EVENTS * rounds);
	printf("%d of %d strings changed between two reads\n", cut, calls);
	return 0;
}
