/* SPDX-License-Identifier: GPL-2.0-only */
/* echoes - an event for each line of stdin, before the line is written to stdout. */
#include <stdio.h>
#include <stdlib.h>

#include <ltt/tracepoint.h>

LTT_TRACEPOINT(echoes, line, (int number), LTT_INFO, ltt_int(int, number, number))

int main(void)
{
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		ltt_trace(echoes, line, atoi(line));
		fputs(line, stdout);
		fflush(stdout);
	}
	return 0;
}
