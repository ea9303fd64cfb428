// SPDX-License-Identifier: GPL-2.0-only
/*
 * jumps.c LIBRARY again|never - a thread leaves events of a loaded provider by longjmp(), and fires
 * again or not; then the provider is unloaded, twice. With PROVIDER, that library.
 */
int evaluate(int depth);

#ifdef PROVIDER
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "nested.h"
#else
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
#include "nested.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { JUMPS = 77 };

static sem_t jumped, ended;
static jmp_buf out;

int evaluate(int depth)
{
	if (depth == JUMPS)
		longjmp(out, 1);
	return depth;
}

static void *jump(void *again)
{
	for (volatile int i = 0; i < 100; i++)
		if (!setjmp(out))
			lttng_ust_tracepoint(nested, event, JUMPS, "never");
	if (again)
		lttng_ust_tracepoint(nested, event, 1, "again");
	sem_post(&jumped);
	sem_wait(&ended);
	return again;
}

static const char *unload(void *library)
{
	const time_t begin = time(NULL);
	const int res = dlclose(library);
	const time_t seconds = time(NULL) - begin;

	return res ? "failed" : seconds < 5 ? "at once" : seconds < 30 ? "late" : "very late";
}

int main(int argc, char **argv)
{
	void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	pthread_t thread;

	if (!library)
		return 2;
	sem_init(&jumped, 0, 0);
	sem_init(&ended, 0, 0);
	pthread_create(&thread, NULL, jump, strcmp(argv[2], "again") == 0 ? argv : NULL);
	sem_wait(&jumped);
	printf("unloaded %s", unload(library));
	library = dlopen(argv[1], RTLD_NOW);
	printf(", %s", library ? unload(library) : "not loaded again");
	sem_post(&ended);
	pthread_join(thread, NULL);
	puts(lttng_ust_tracepoint_enabled(nested, event) ? ", enabled" : "");
	return 0;
}
#endif
