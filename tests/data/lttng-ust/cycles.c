// SPDX-License-Identifier: GPL-2.0-only
/*
 * cycles.c LIBRARY N - loads and unloads a provider N times beside four threads that fire.
 * With STAYS, the program has another provider of these events.
 */
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
#include "every.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int ended;
static unsigned long fired;

static void *fire(void *unused)
{
	static const int32_t p[] = { 1, 2, 3 };
	unsigned long nr = 0;

	for (; !__atomic_load_n(&ended, __ATOMIC_RELAXED); nr++) {
		lttng_ust_tracepoint(every, strings, "one", "two");
		lttng_ust_tracepoint(every, hidden, (int)nr, "hidden", p);
	}
	__atomic_add_fetch(&fired, nr, __ATOMIC_RELAXED);
	return unused;
}

int main(int argc, char **argv)
{
	const long cycles = argc > 2 ? atol(argv[2]) : 1;
	pthread_t thread[4];
	long enabled = 0;

	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, fire, NULL);
	for (long i = 0; i < cycles; i++) {
		void *library = dlopen(argv[1], RTLD_NOW);

		if (!library) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		enabled += lttng_ust_tracepoint_enabled(every, strings) != 0;
		if (i % 4 == 0)
			sched_yield();
		dlclose(library);
#ifndef STAYS
		if (lttng_ust_tracepoint_enabled(every, strings))
			return 2;
#endif
	}
	__atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	printf("%ld cycles, %s, %s\n", cycles, enabled ? "enabled" : "never enabled",
	       fired ? "fired" : "idle");
	return 0;
}
