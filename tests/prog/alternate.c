/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * alternate N - a tracepoint, a system call that nothing else makes (getpgid of our own
 * pid), a tracepoint, ... N times: in a trace of both they must alternate, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ltt/tracepoint.h>

LTT_TRACEPOINT(alternate, mark, (int number), LTT_INFO,
	       ltt_int(int, number, number))

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;
	int pid = getpid();

	for (int i = 0; i < n; i++) {
		ltt_trace(alternate, mark, i);
		syscall(SYS_getpgid, pid);
	}
	return 0;
}
