/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * forks - emits numbered events and forks on command: it reads letters from stdin, and prints a
 * line for each that it has executed.
 *
 *   e  emit 10 events; "e"
 *   f  fork; the child prints "f" and reads on; its parent waits for it and prints "back"
 *   r  execute this program again, as the next process; "ready"
 *   s  run a child that shares the memory, beside which no sequences can be used; "s"
 *   x  end; "PROCESS EMITTED"
 *
 * Events carry the number of the process: 0, and one more for each fork.
 */
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ltt/tracepoint.h>

LTT_TRACEPOINT(forks, event, (int process, int number), LTT_INFO, ltt_int(int, process, process),
	       ltt_int(int, number, number))

static int process, nr_processes = 1, emitted;

static void emit(void)
{
	for (int i = 0; i < 10; i++)
		ltt_trace(forks, event, process, emitted++);
	puts("e");
}

static void make_child(void)
{
	pid_t child = fork();

	if (child < 0) {
		perror("fork");
		exit(1);
	}
	if (child == 0) {
		process = nr_processes;
		emitted = 0;
	} else {
		waitpid(child, NULL, 0);
	}
	nr_processes++;
	puts(child == 0 ? "f" : "back");
}

static int end_at_once(void *data)
{
	(void)data;
	return 0;
}

static void share_memory(void)
{
	static char stack[1 << 16] __attribute__((aligned(16)));
	pid_t child = clone(end_at_once, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);

	if (child < 0) {
		perror("clone");
		exit(1);
	}
	waitpid(child, NULL, 0);
	puts("s");
}

static void execute_again(char *program)
{
	char number[12];

	snprintf(number, sizeof(number), "%d", process + 1);
	execl(program, program, number, (char *)NULL);
	perror(program);
	exit(1);
}

int main(int argc, char **argv)
{
	struct timespec ms = { 0, 1000000 };
	char letter = 0;

	process = argc > 1 ? atoi(argv[1]) : 0;
	nr_processes = process + 1;

	setvbuf(stdout, NULL, _IONBF, 0);
	while (!ltt_enabled(forks, event))
		nanosleep(&ms, NULL);
	puts("ready");
	while (letter != 'x' && read(STDIN_FILENO, &letter, 1) == 1) {
		if (letter == 'e')
			emit();
		else if (letter == 'f')
			make_child();
		else if (letter == 'r')
			execute_again(argv[0]);
		else if (letter == 's')
			share_memory();
	}
	printf("%d %d\n", process, emitted);
	return 0;
}
