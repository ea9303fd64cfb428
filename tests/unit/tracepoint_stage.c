/* SPDX-License-Identifier: GPL-2.0-only */
/* Payloads too big for the stack: from more threads than there are slots, from
 * signal handlers, and across fork(). */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ltt/probe.h>
#include <ltt/tracepoint.h>

#include "check.h"
#include "tracer/site/site.h"
#include "tracer_alone.h"

enum { THREADS = 12, EVENTS = 300, STAGED = 20 };

LTT_TRACEPOINT(s, big, (const uint8_t *data, size_t len), LTT_INFO,
	       ltt_sequence(uint8_t, data, data, uint32_t, len))
LTT_TRACEPOINT(s, array, (const uint32_t *data), LTT_INFO, ltt_array(uint32_t, data, data, 1000))

static int calls;

static void check_same(void *priv, const struct ltt_event_view *view)
{
	struct ltt_elements elements;
	const uint8_t *data;

	(void)priv;
	CHECK_IS(ltt_view_elements(view, 0, &elements), ==, 0);
	data = elements.data;
	for (size_t i = 1; i < elements.count * (elements.size_bits / 8u); i++)
		CHECK_IS(data[i], ==, data[0]);
	__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
}

static struct ltt_probe *watch(const char *name)
{
	struct ltt_probe *probe = NULL;

	CHECK_IS(ltt_probe_register(name, NULL, check_same, NULL, &probe), ==, 0);
	CHECK_IS(ltt_probe_arm(probe), ==, 1);
	return probe;
}

static void *emit_big(void *arg)
{
	static __thread uint8_t data[60000];

	memset(data, *(int *)arg, sizeof(data));
	for (int i = 0; i < EVENTS; i++)
		ltt_trace(s, big, data, 600 + (size_t)i * 150);
	return NULL;
}

static uint8_t signal_data[4000];
static int signals;

static void on_signal(int signo)
{
	(void)signo;
	errno = 99;
	ltt_trace(s, big, signal_data, sizeof(signal_data));
	CHECK_IS(errno, ==, 99);
	__atomic_add_fetch(&signals, 1, __ATOMIC_RELAXED);
}

static void test_threads_and_signals(void)
{
	const struct itimerval on = { { 0, 200 }, { 0, 200 } }, off = { { 0, 0 }, { 0, 0 } };
	pthread_t thread[THREADS];
	int number[THREADS];

	memset(signal_data, 77, sizeof(signal_data));
	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &on, NULL);
	for (int i = 0; i < THREADS; i++) {
		number[i] = i;
		CHECK_IS(pthread_create(&thread[i], NULL, emit_big, &number[i]), ==, 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	setitimer(ITIMER_REAL, &off, NULL);
	CHECK_IS(calls, ==, THREADS * EVENTS + signals);
}

/* As an event within @depth others. */
static __attribute__((noinline)) void *stage_within(int depth, size_t len)
{
	void *staged = depth ? stage_within(depth - 1, len) : ltt_stage(&ltt_site_s__big, len);

	__asm__ volatile("" : "+r"(staged)); /* no jump instead of a call */
	return staged;
}

/* Events that a signal handler has left: their memory is used again. */
static void test_left(void)
{
	void *outer = ltt_stage(&ltt_site_s__big, 1000), *first = stage_within(1, 1000);

	CHECK(outer && first && first != outer);
	for (int i = 0; i < STAGED; i++)
		CHECK(stage_within(1, 1000) == first);
	CHECK(stage_within(2, 1000) != first);
	CHECK(ltt_stage(&ltt_site_s__big, 1000) == outer);
	ltt_unstage(outer);
	CHECK(stage_within(1, 1000) == outer); /* the first one that is free, or was left */
	ltt_unstage(outer);
	ltt_unstage(first);
}

/* All slots taken: more memory is mapped, and given back. */
static void test_more_than_slots(void)
{
	unsigned char *staged[STAGED];

	for (int i = 0; i < STAGED; i++) {
		staged[i] = stage_within(i, 65536);
		CHECK(staged[i]);
		memset(staged[i], i, 65536 + LTT_PAYLOAD_SLACK);
	}
	for (int i = 0; i < STAGED; i++)
		CHECK(staged[i][0] == i && staged[i][65535] == i);
	for (int i = 0; i < STAGED; i++)
		ltt_unstage(staged[i]);
	CHECK(!ltt_stage(&ltt_site_s__big, 65537));
}

static void *hold_slot(void *arg)
{
	int *pipes = arg;
	char byte;
	void *staged = ltt_stage(&ltt_site_s__big, 1000);

	CHECK(staged && write(pipes[1], "r", 1) == 1 && read(pipes[2], &byte, 1) == 1);
	ltt_unstage(staged);
	return NULL;
}

/* In a child the slots of threads that it does not have are free; its own is not. */
static void child(void *own, void *other)
{
	void *staged[8];

	site_after_fork_child();
	for (int i = 0; i < 7; i++) {
		staged[i] = stage_within(i, 1000);
		CHECK(staged[i] && staged[i] != own);
		if (staged[i] == other)
			_exit(0);
	}
	_exit(1);
}

static void test_fork(void)
{
	void *own = ltt_stage(&ltt_site_s__big, 1000), *other;
	int pipes[4], status;
	pthread_t thread;
	pid_t pid;

	/* The thread takes the next free slot, the one that is staged and given back here. */
	other = stage_within(1, 1000);
	ltt_unstage(other);
	CHECK(pipe(pipes) == 0 && pipe(pipes + 2) == 0);
	CHECK_IS(pthread_create(&thread, NULL, hold_slot, pipes), ==, 0);
	CHECK_IS(read(pipes[0], &status, 1), ==, 1);
	site_before_fork();
	pid = fork();
	if (pid == 0)
		child(own, other);
	site_after_fork_parent();
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK_IS(write(pipes[3], "g", 1), ==, 1);
	pthread_join(thread, NULL);
	ltt_unstage(own);
}

int main(void)
{
	struct ltt_probe *big = watch("s:big"), *array = watch("s:array");
	static uint32_t zeros[1000];

	ltt_trace(s, array, zeros);
	CHECK_IS(calls, ==, 1);
	calls = 0;
	test_threads_and_signals();
	test_more_than_slots();
	test_left();
	test_fork();
	ltt_probe_unregister(big);
	ltt_probe_unregister(array);
	return 0;
}
