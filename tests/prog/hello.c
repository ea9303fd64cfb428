/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hello [N] - the smallest traced program: declares a tracepoint and hits it N
 * times (10).
 */
#include <stdio.h>
#include <stdlib.h>

#include <ltt/tracepoint.h>

LTT_TRACEPOINT(hello, world, (int number, const char *text), LTT_INFO,
	       ltt_int(int, number, number),
	       ltt_string(text, text))

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;

	for (int i = 0; i < n; i++)
		ltt_trace(hello, world, i, "hello");
	printf("said hello %d times\n", n);
	return 0;
}
