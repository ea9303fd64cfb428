/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pairs THREADS N EVERY MS [wait | US] - each thread emits N pairs of pairs:begin and pairs:end,
 * beside an open one; each EVERY-th of them takes MS milliseconds. wait: only after a line on the
 * standard input. US: pause after 20 pairs. Prints the number of slow pairs.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <ltt/tracepoint.h>

LTT_TRACEPOINT(pairs, begin, (int64_t id, const char *path), LTT_INFO, ltt_int(int64_t, id, id),
	       ltt_string(path, path))
LTT_TRACEPOINT(pairs, end, (int32_t id, int status), LTT_INFO, ltt_int(int32_t, id, id),
	       ltt_int(int, status, status), ltt_float(double, half, id / 2.))

static int n, every;
static long ms, pause_us;

static void *emit(void *arg)
{
	const struct timespec slow = { ms / 1000, ms % 1000 * 1000000 };
	const struct timespec rest = { 0, pause_us * 1000 };
	int first = (int)(intptr_t)arg * (n + 1);

	ltt_trace(pairs, begin, first, "open");
	for (int i = 1; i <= n; i++) {
		ltt_trace(pairs, begin, first + i, "/some/path");
		if (i % every == 0)
			nanosleep(&slow, NULL);
		ltt_trace(pairs, end, first + i, i % every == 0);
		if (pause_us && i % 20 == 0)
			nanosleep(&rest, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int nr = argc > 4 ? atoi(argv[1]) : 0;
	pthread_t threads[64];

	if (nr < 1 || nr > 64)
		return 2;
	n = atoi(argv[2]);
	every = atoi(argv[3]);
	ms = atol(argv[4]);
	pause_us = argc > 5 ? atol(argv[5]) : 0;
	if (argc > 5 && !pause_us)
		getchar();
	for (int i = 0; i < nr; i++)
		if (pthread_create(&threads[i], NULL, emit, (void *)(intptr_t)i))
			return 2;
	for (int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", nr * (n / every));
	return 0;
}
