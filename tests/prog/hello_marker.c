/* SPDX-License-Identifier: GPL-2.0-only */
/* hello_marker [N] - hits a marker and writes a log line N times (10). */
#include <stdio.h>
#include <stdlib.h>

#include <ltt/log.h>
#include <ltt/marker.h>

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;

	for (int i = 0; i < n; i++) {
		trace_mark(hello_marker, "number %d text %s", i, "hello");
		ltt_tracef("hello number %d", i);
		ltt_tracelog(LTT_NOTICE, "hello number %d", i);
	}
	printf("said hello %d times\n", n);
	return 0;
}
