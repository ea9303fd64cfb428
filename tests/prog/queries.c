/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * queries - calls the functions of ltt/trace.h. It obeys letters on stdin, with a line each:
 *
 *   e  emit an event; its number       s  ltt_switch() of the process     t  of the thread
 *   l  the traces: SESSION/CHANNEL:FLAGS:EVENTS of each
 *   h  the results of s, and of l without the names, in a signal's handler
 *   c  how often its function was called           u  withdraw the function
 *   b  begin a thread that emits and does t and l after each event
 *   d  end that; number of events when the function first returned that saw a trace
 *   f  fork; the child reads on, its parent waits for it
 *   w  from now on the function waits, until r
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ltt/trace.h>
#include <ltt/tracepoint.h>

LTT_TRACEPOINT(queries, event, (int number), LTT_INFO, ltt_int(int, number, number))

static int number, calls, first = -1, ending, waiting;
static volatile sig_atomic_t switched, seen;

static void changed(void *data)
{
	__atomic_add_fetch((int *)data, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST))
		usleep(1000);
	if (first >= 0 || ltt_traces(NULL, 0) == 0)
		return;
	usleep(30000); /* events meanwhile are not recorded */
	first = __atomic_load_n(&number, __ATOMIC_SEQ_CST);
}

static void handler(int sig)
{
	(void)sig;
	switched = ltt_switch(LTT_SWITCH_PROCESS);
	seen = ltt_traces(NULL, 0);
}

static void emit(void)
{
	int n = __atomic_add_fetch(&number, 1, __ATOMIC_SEQ_CST);

	ltt_trace(queries, event, n);
}

static void *emit_often(void *unused)
{
	struct ltt_trace_info info[2];

	while (!__atomic_load_n(&ending, __ATOMIC_ACQUIRE)) {
		emit();
		if (ltt_traces(info, 2) < 0 || ltt_switch(LTT_SWITCH_THREAD) < 0)
			abort();
		usleep(500);
	}
	return unused;
}

static void list(void)
{
	struct ltt_trace_info info[8];
	int nr = ltt_traces(info, 8);

	printf("%d", nr);
	for (int i = 0; i < nr && i < 8; i++)
		printf(" %s/%s:%u:%u", info[i].session, info[i].channel, info[i].flags,
		       info[i].events);
	puts("");
}

static void divide(void)
{
	pid_t child = fork();

	if (child > 0)
		waitpid(child, NULL, 0);
	puts(child == 0 ? "f" : "back");
	if (child > 0)
		exit(0);
}

int main(void)
{
	pthread_t thread;
	char letter;

	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGUSR1, handler);
	if (ltt_switch(7) != -EINVAL || ltt_traces_watch(NULL, NULL) != -EINVAL ||
	    ltt_traces_watch(changed, &calls) != 0 || ltt_traces_watch(changed, &calls) != -EEXIST)
		return 1;
	while (read(STDIN_FILENO, &letter, 1) == 1) {
		switch (letter) {
		case 'e':
			emit();
			printf("%d\n", number);
			break;
		case 's':
			printf("%d\n", ltt_switch(LTT_SWITCH_PROCESS));
			break;
		case 't':
			printf("%d\n", ltt_switch(LTT_SWITCH_THREAD));
			break;
		case 'l':
			list();
			break;
		case 'c':
			printf("%d\n", __atomic_load_n(&calls, __ATOMIC_SEQ_CST));
			break;
		case 'h':
			raise(SIGUSR1);
			printf("%d %d\n", (int)switched, (int)seen);
			break;
		case 'u':
			printf("%d\n", ltt_traces_unwatch(changed, &calls));
			break;
		case 'b':
			pthread_create(&thread, NULL, emit_often, NULL);
			puts("b");
			break;
		case 'd':
			__atomic_store_n(&ending, 1, __ATOMIC_RELEASE);
			pthread_join(thread, NULL);
			printf("%d\n", first);
			break;
		case 'w':
		case 'r':
			__atomic_store_n(&waiting, letter == 'w', __ATOMIC_SEQ_CST);
			printf("%c\n", letter);
			break;
		case 'f':
			divide();
			break;
		}
	}
	return 0;
}
