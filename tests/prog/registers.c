/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * registers [NAME EVENTS SIZE NUM]... - registers these channels, prints the results in
 * one line, and obeys letters on stdin with a line each:
 *
 *   e  emit 100 events of each kind      u  unregister the first channel; the result
 *   f  fork; the child reads on, its parent waits for it
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ltt/channel.h>
#include <ltt/tracepoint.h>

LTT_TRACEPOINT(printer, job, (int number), LTT_INFO, ltt_int(int, number, number))
LTT_TRACEPOINT(other, job, (int number), LTT_INFO, ltt_int(int, number, number))

int main(int argc, char **argv)
{
	char letter;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 1; i + 3 < argc; i += 4)
		printf("%d ", ltt_channel_register(argv[i], argv[i + 1],
						   strtoull(argv[i + 2], NULL, 0),
						   (uint32_t)strtoul(argv[i + 3], NULL, 0)));
	puts("registered");
	while (read(STDIN_FILENO, &letter, 1) == 1) {
		if (letter == 'e') {
			for (int i = 0; i < 100; i++) {
				ltt_trace(printer, job, i);
				ltt_trace(other, job, i);
			}
			puts("e");
		} else if (letter == 'u' && argc > 1) {
			printf("%d\n", ltt_channel_unregister(argv[1]));
		} else if (letter == 'f') {
			pid_t child = fork();

			if (child > 0)
				waitpid(child, NULL, 0);
			puts(child == 0 ? "f" : "back");
			if (child > 0)
				break;
		}
	}
	return 0;
}
