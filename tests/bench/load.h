/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * load.h - the whole load program but its events; load.c gives it ours,
 * peer/load.c LTTng-UST's, so that both are measured by the same code.
 *
 * Before including it, define
 *	EMIT_INT(i)          an event with a 4-byte integer
 *	EMIT_STR(a, b, s)    an event with 8 + 4 bytes and a string
 *
 *	load burst KIND THREADS EVENTS BURSTS   ns of CPU per event, one line a burst
 *	load cold KIND EVENTS                   the same of one burst in a new process, and the
 *	                                        page faults of the thread that emits it
 *	load off KIND                           ns an event that is not recorded
 *	load gap                                emits on one CPU; for each line of its stdin, the
 *	                                        longest time from one event to the next since the
 *	                                        line before, in us
 *	load switch                             ns of a request for the end of packets, SWITCH()
 *	load clock                              ns of a bare clock read, both clocks
 *	load pace KIND RATE SECONDS             RATE events/s; prints emitted
 *	load many THREADS RATE SECONDS          each thread RATE events/s; CPU time
 *	load pairs PAIRS BURSTS                 ns of CPU of an EMIT_INT with an EMIT_STR behind it,
 *	                                        one line a burst
 *	load stamp RATE SECONDS                 RATE EMIT_STR/s, with CLOCK_MONOTONIC as a
 *	load idle                               prints "ready", waits for its stdin to end
 *	load none                               ends at once
 */
#ifndef TESTS_BENCH_LOAD_H
#define TESTS_BENCH_LOAD_H

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { MAX_LOAD_THREADS = 1024 };

static const char load_text[] = "sixteen letters."; /* 16 */

static struct {
	int str;
	unsigned int threads;
	unsigned long events;
	unsigned long bursts;
	double rate;
	double seconds;
	pthread_barrier_t begin;
	pthread_barrier_t end;
	uint64_t cpu_ns[MAX_LOAD_THREADS];
} load;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

	nanosleep(&ts, NULL);
}

static void sleep_until(uint64_t at)
{
	struct timespec ts = { (time_t)(at / 1000000000u), (long)(at % 1000000000u) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

__attribute__((noinline)) static void emit_ints(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		EMIT_INT((int32_t)i);
}

__attribute__((noinline)) static void emit_strs(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		EMIT_STR((uint64_t)i, (int32_t)i, load_text);
}

static void emit_many(unsigned long n)
{
	if (load.str)
		emit_strs(n);
	else
		emit_ints(n);
}

/* --- burst: the cost of an event for the thread that emits it -------------------------- */

static void pin(unsigned int thread)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(thread % (unsigned int)cpus, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *burst_main(void *arg)
{
	unsigned int me = (unsigned int)(uintptr_t)arg;

	pin(me);
	for (unsigned long b = 0; b < load.bursts; b++) {
		uint64_t begin;

		pthread_barrier_wait(&load.begin);
		begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		emit_many(load.events);
		load.cpu_ns[me] = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
		pthread_barrier_wait(&load.end);
	}
	return NULL;
}

/* Bursts fit the buffers; between them the consumer gets time to empty them. */
static int run_burst(void)
{
	pthread_t thread[MAX_LOAD_THREADS];

	pthread_barrier_init(&load.begin, NULL, load.threads + 1);
	pthread_barrier_init(&load.end, NULL, load.threads + 1);
	for (unsigned int i = 0; i < load.threads; i++)
		if (pthread_create(&thread[i], NULL, burst_main, (void *)(uintptr_t)i) != 0)
			return 1;
	for (unsigned long b = 0; b < load.bursts; b++) {
		uint64_t sum = 0;

		pthread_barrier_wait(&load.begin);
		pthread_barrier_wait(&load.end);
		for (unsigned int i = 0; i < load.threads; i++)
			sum += load.cpu_ns[i];
		printf("%.3f\n", (double)sum / (double)load.threads / (double)load.events);
		sleep_ns(20000000);
	}
	for (unsigned int i = 0; i < load.threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

/* --- cold: memory that the process has not touched ----------------------------------------- */

static long page_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

static int run_cold(void)
{
	uint64_t begin;
	long faults;

	pin(0);
	faults = page_faults();
	begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	emit_many(load.events);
	printf("%.3f %ld\n",
	       (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / (double)load.events,
	       page_faults() - faults);
	return 0;
}

/* --- off, clock ----------------------------------------------------------------------- */

static int run_off(void)
{
	const unsigned long n = 50000000;

	pin(0);
	for (int i = 0; i < 7; i++) {
		uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);

		emit_many(n);
		printf("%.4f\n", (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / (double)n);
	}
	return 0;
}

/* Ours alone. */
static int run_switch(void)
{
#ifdef SWITCH
	const unsigned long n = 20000000;

	pin(0);
	for (int i = 0; i < 7; i++) {
		uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);

		for (unsigned long k = 0; k < n; k++)
			SWITCH();
		printf("%.4f\n", (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / (double)n);
	}
	return 0;
#else
	return 2;
#endif
}

static inline uint64_t cycles(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
#else
	return clock_ns(CLOCK_MONOTONIC);
#endif
}

static int run_clock(void)
{
	const unsigned long n = 2000000;
	uint64_t sink = 0, begin;

	pin(0);
	for (int i = 0; i < 7; i++) {
		begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		for (unsigned long k = 0; k < n; k++)
			sink += cycles();
		printf("cycles %.3f\n",
		       (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / (double)n);
		begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		for (unsigned long k = 0; k < n; k++)
			sink += clock_ns(CLOCK_MONOTONIC);
		printf("monotonic %.3f\n",
		       (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / (double)n);
	}
	return sink == 1;
}

/* --- paced loads ------------------------------------------------------------------------ */

static unsigned long pace(double rate, double seconds, uint64_t step_ns)
{
	uint64_t begin = clock_ns(CLOCK_MONOTONIC), now = begin;
	uint64_t end = begin + (uint64_t)(seconds * 1e9);
	unsigned long done = 0;

	while (now < end) {
		unsigned long due = (unsigned long)((double)(now - begin) / 1e9 * rate);

		if (due > done)
			emit_many(due - done);
		done = due > done ? due : done;
		if (step_ns)
			sleep_until(now + step_ns);
		now = clock_ns(CLOCK_MONOTONIC);
	}
	return done;
}

static int run_pace(void)
{
	printf("emitted %lu\n", pace(load.rate, load.seconds, 0));
	return 0;
}

static void *many_main(void *arg)
{
	unsigned long *done = arg;

	*done = pace(load.rate, load.seconds, (uint64_t)(1e9 / load.rate));
	return NULL;
}

static int run_many(void)
{
	static unsigned long done[MAX_LOAD_THREADS];
	pthread_t thread[MAX_LOAD_THREADS];
	unsigned long total = 0;

	for (unsigned int i = 0; i < load.threads; i++)
		if (pthread_create(&thread[i], NULL, many_main, &done[i]) != 0)
			return 1;
	for (unsigned int i = 0; i < load.threads; i++) {
		pthread_join(thread[i], NULL);
		total += done[i];
	}
	printf("emitted %lu cpu_us %lu\n", total,
	       (unsigned long)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1000));
	return 0;
}

/* --- gap: the longest pause of a thread that emits without end ----------------------------- */

static uint64_t longest_gap_ns;

static void *gap_main(void *arg)
{
	uint64_t before = clock_ns(CLOCK_MONOTONIC), now;

	(void)arg;
	pin(0);
	for (int32_t i = 0;; i++, before = now) {
		EMIT_INT(i);
		now = clock_ns(CLOCK_MONOTONIC);
		if (now - before > __atomic_load_n(&longest_gap_ns, __ATOMIC_RELAXED))
			__atomic_store_n(&longest_gap_ns, now - before, __ATOMIC_RELAXED);
	}
	return NULL;
}

static int run_gap(void)
{
	pthread_t thread;
	char line[16];

	pin(1);
	if (pthread_create(&thread, NULL, gap_main, NULL) != 0)
		return 1;
	while (fgets(line, sizeof(line), stdin))
		printf("%.1f\n",
		       (double)__atomic_exchange_n(&longest_gap_ns, 0, __ATOMIC_RELAXED) / 1e3);
	return 0;
}

static int run_pairs(void)
{
	pin(0);
	for (unsigned long b = 0; b < load.bursts; b++) {
		uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);

		for (unsigned long i = 0; i < load.events; i++) {
			EMIT_INT((int32_t)i);
			EMIT_STR((uint64_t)i, (int32_t)i, load_text);
		}
		printf("%.3f\n", (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) /
					 (double)load.events);
	}
	return 0;
}

static int run_stamp(void)
{
	for (int32_t i = 0; i < load.rate * load.seconds; i++) {
		EMIT_STR(clock_ns(CLOCK_MONOTONIC), i, load_text);
		sleep_ns((uint64_t)(1e9 / load.rate));
	}
	return 0;
}

static int run_idle(void)
{
	char c;

	if (write(1, "ready\n", 6) != 6)
		return 1;
	while (read(0, &c, 1) > 0)
		;
	return 0;
}

static int kind_is_str(const char *kind)
{
	return strcmp(kind, "str") == 0;
}

static int load_main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(what, "burst") == 0 && argc == 6) {
		load.str = kind_is_str(argv[2]);
		load.threads = (unsigned int)atoi(argv[3]);
		load.events = strtoul(argv[4], NULL, 0);
		load.bursts = strtoul(argv[5], NULL, 0);
		return load.threads && load.threads <= MAX_LOAD_THREADS ? run_burst() : 2;
	}
	if (strcmp(what, "cold") == 0 && argc == 4) {
		load.str = kind_is_str(argv[2]);
		load.events = strtoul(argv[3], NULL, 0);
		return run_cold();
	}
	if (strcmp(what, "off") == 0 && argc == 3) {
		load.str = kind_is_str(argv[2]);
		return run_off();
	}
	if (strcmp(what, "pace") == 0 && argc == 5) {
		load.str = kind_is_str(argv[2]);
		load.rate = atof(argv[3]);
		load.seconds = atof(argv[4]);
		return run_pace();
	}
	if (strcmp(what, "many") == 0 && argc == 5) {
		load.threads = (unsigned int)atoi(argv[2]);
		load.rate = atof(argv[3]);
		load.seconds = atof(argv[4]);
		return load.threads && load.threads <= MAX_LOAD_THREADS ? run_many() : 2;
	}
	if (strcmp(what, "pairs") == 0 && argc == 4) {
		load.events = strtoul(argv[2], NULL, 0);
		load.bursts = strtoul(argv[3], NULL, 0);
		return run_pairs();
	}
	if (strcmp(what, "stamp") == 0 && argc == 4) {
		load.rate = atof(argv[2]);
		load.seconds = atof(argv[3]);
		return run_stamp();
	}
	if (strcmp(what, "gap") == 0)
		return run_gap();
	if (strcmp(what, "switch") == 0)
		return run_switch();
	if (strcmp(what, "clock") == 0)
		return run_clock();
	if (strcmp(what, "idle") == 0)
		return run_idle();
	if (strcmp(what, "none") == 0)
		return 0;
	fprintf(stderr, "load: see tests/bench/load.h\n");
	return 2;
}

#endif
