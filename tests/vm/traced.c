/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * traced COUNT - calls work() so often; prints how many times a tracer was attached, by
 * `semaphore`. Linked to fixed addresses, see probe_offset() in `guest`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((section(".probes"))) volatile unsigned short semaphore;
/* never touched before the probe reads it: it has to be fetched from the file */
static const char untouched[8192] __attribute__((aligned(4096))) = "from the file";

__attribute__((noipa)) long work(long nr, const char *text, const char *far)
{
	__asm__ volatile("" : : "r"(far));
	return nr * 3 + text[0];
}

int main(int argc, char **argv)
{
	long i, count = argc > 1 ? atol(argv[1]) : 0, sum = 0, heard = 0;
	char text[32];

	for (i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "call %ld", i);
		heard += semaphore > 0;
		sum += work(i, text, untouched);
	}
	printf("%ld\n", heard);
	return sum < 0;
}
