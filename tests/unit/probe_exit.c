/* SPDX-License-Identifier: GPL-2.0-only */
/* At exit() sites stay armed to the very end, and exit() from anywhere ends. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ltt/marker.h>
#include <ltt/probe.h>
#include <ltt/tracepoint.h>

#include "check.h"
#include "tracer_alone.h"

LTT_TRACEPOINT(x, event, (int n), LTT_INFO, ltt_int(int, n, n))

enum { LATE = 77 };

static int calls;
static int is_child;

static void count(void *priv, const struct ltt_event_view *view)
{
	(void)priv;
	(void)view;
	calls++;
}

/* Runs behind the destructor that takes the sites back, which has priority 150. */
static __attribute__((destructor(101))) void trace_at_the_end(void)
{
	int before = calls;

	if (!is_child)
		return;
	ltt_trace(x, event, 1);
	trace_mark(x_marker, "n %d", 1);
	_exit(calls == before + 1 ? LATE : 1);
}

static int exit_from_list(void *data, const struct ltt_point_info *info)
{
	(void)data;
	(void)info;
	exit(0);
}

static int run_child(void (*body)(void))
{
	int status;
	pid_t pid = fork();

	CHECK_IS(pid, >=, 0);
	if (pid == 0) {
		alarm(20);
		is_child = 1;
		body();
		exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void nothing(void)
{
}

static void list(void)
{
	ltt_points_list(exit_from_list, NULL);
}

int main(void)
{
	struct ltt_probe *probe = NULL;

	CHECK_IS(ltt_probe_register("x:event", NULL, count, NULL, &probe), ==, 0);
	CHECK_IS(ltt_probe_arm(probe), ==, 1);
	ltt_trace(x, event, 1);
	CHECK_IS(calls, ==, 1);
	CHECK_IS(run_child(nothing), ==, LATE);
	/* In a list the thread is muted: nothing is recorded, but it ends. */
	CHECK_IS(run_child(list), ==, 1);
	return 0;
}
