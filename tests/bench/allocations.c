/* SPDX-License-Identifier: GPL-2.0-only */
/* allocations - prints the processor time of a malloc() and a free(), in nanoseconds, at best of
 * 20 rounds, below ten functions with frame pointers. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUND 20000

static void *volatile kept;

static double allocations_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static __attribute__((noinline)) double allocations_round(int depth)
{
	double begin_ns;

	if (depth)
		return allocations_round(depth - 1);
	begin_ns = allocations_now_ns();
	for (int i = 0; i < ROUND; i++) {
		kept = malloc(32);
		free(kept);
	}
	return (allocations_now_ns() - begin_ns) / ROUND;
}

int main(void)
{
	double best_ns = 0;

	for (int i = 0; i < 20; i++) {
		double ns = allocations_round(10);

		best_ns = i && best_ns < ns ? best_ns : ns;
	}
	printf("%.1f\n", best_ns);
	return 0;
}
