// SPDX-License-Identifier: GPL-2.0-only
/*
 * nested.c - fires in signal handlers that interrupt each other's events, after a jump out of an
 * event, in children of fork() and vfork(), and an event that is larger than a sub-buffer.
 */
int evaluate(int depth);

#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "nested.h"

#include <lttng/ust-fork.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEEPEST = 4, JUMPS = 77 };

static sigjmp_buf out;
static volatile int depth_now;

static void in_handler(int signal)
{
	static const char *const texts[] = { "none", "one", "two", "three", "four" };

	(void)signal;
	depth_now++;
	lttng_ust_tracepoint(nested, event, depth_now, texts[depth_now]);
}

int evaluate(int depth)
{
	if (depth == JUMPS)
		siglongjmp(out, 1);
	if (depth < DEEPEST && depth == depth_now) /* filters evaluate it, too */
		raise(SIGUSR1);
	return depth;
}

int main(void)
{
	static char large[200000];
	struct sigaction action;
	sigset_t signals;
	pid_t child;

	memset(&action, 0, sizeof(action));
	action.sa_handler = in_handler;
	action.sa_flags = SA_NODEFER;
	sigaction(SIGUSR1, &action, NULL);
	lttng_ust_tracepoint(nested, event, 0, "zero");
	for (int i = 0; i < 3; i++)
		if (!sigsetjmp(out, 1))
			lttng_ust_tracepoint(nested, event, JUMPS, "never");
	lttng_ust_tracepoint(nested, event, 10, "after a jump");
	lttng_ust_before_fork(&signals);
	child = fork();
	if (!child) {
		lttng_ust_after_fork_child(&signals);
		lttng_ust_tracepoint(nested, event, 11, "fork");
		_exit(0);
	}
	lttng_ust_after_fork_parent(&signals);
	waitpid(child, NULL, 0);
	child = vfork();
	if (!child) {
		lttng_ust_tracepoint(nested, event, 12, "vfork");
		_exit(0);
	}
	waitpid(child, NULL, 0);
	memset(large, 'x', sizeof(large) - 1);
	lttng_ust_tracepoint(nested, event, 13, large);
	lttng_ust_tracepoint(nested, event, 14, "last");
	return 0;
}
