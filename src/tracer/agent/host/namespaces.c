/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "namespaces.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "alone.h"
#include "tracer/base/sys.h"
#include "tracer/ring/context.h"
#include "tracer/ring/fallback.h"
#include "tracer/ring/sys.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

#define EXPORT __attribute__((visibility("default")))

struct call {
	long nr;
	int fd; /* of setns() */
	int flags;
};

static long perform(const struct call *call, int flags)
{
	if (call->nr == SYS_setns)
		return ring_syscall(SYS_setns, call->fd, flags, 0, 0);
	return ring_syscall(SYS_unshare, flags, 0, 0, 0);
}

/* Try both calls in a child. Return: whether both succeeded. Signals are blocked. */
static bool would_succeed(const struct call *call, int first, int then)
{
	long pid = ring_syscall(SYS_clone, 0, 0, 0, 0);
	int status = -1;

	if (pid == 0) {
		bool done = perform(call, first) == 0 && perform(call, then) == 0;

		ring_syscall(SYS_exit_group, !done, 0, 0, 0);
	}
	while (pid > 0 && ring_syscall(SYS_wait4, pid, (long)&status, __WALL, 0) == -EINTR)
		;
	return pid > 0 && status == 0;
}

/* The flags that concern children alone: threads can't be created then. setns() with no flags: as
 * the kind of namespace that the descriptor refers to. */
static int flags_of_children(const struct call *call)
{
	char path[32], kind[32];

	if (call->nr == SYS_unshare)
		return call->flags & (CLONE_NEWPID | CLONE_NEWTIME);
	if (call->flags)
		return call->flags & CLONE_NEWPID;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", call->fd);
	return sys_readlink(path, kind, sizeof(kind)) > 4 && memcmp(kind, "pid:", 4) == 0 ?
		       CLONE_NEWPID :
		       0;
}

/* Whether the call changes the calling thread itself. */
static bool changes_caller(const struct call *call)
{
	int then = flags_of_children(call);

	if (call->nr == SYS_setns)
		return call->flags ? (call->flags & ~then) != 0 : then == 0;
	return call->flags & ~(then | CLONE_FILES | CLONE_SYSVSEM);
}

/*
 * The call is split in two if the result is the same, and the helper is started in between. Both
 * halves are tried first: a call that fails must not have half its effect.
 */
static long perform_without_helper(const struct call *call, uint64_t mask)
{
	int then = call->flags ? flags_of_children(call) : 0;
	int first = call->flags & ~then;
	long err;

	if (!then || !would_succeed(call, first, then)) {
		err = perform(call, call->flags);
		agent_alone_resume(mask);
		return err;
	}
	err = perform(call, first);
	agent_alone_resume(mask);
	return err ? err : perform(call, then);
}

static int change_namespaces(const struct call *call)
{
	int saved = errno;
	uint64_t mask;
	long err;

	if (changes_caller(call) && agent_alone_suspend(&mask))
		err = perform_without_helper(call, mask);
	else
		err = perform(call, call->flags);
	if (!err)
		context_namespaces_changed();
	errno = err ? (int)-err : saved;
	return err ? -1 : 0;
}

int agent_unshare(int flags)
{
	return change_namespaces(&(struct call){ .nr = SYS_unshare, .flags = flags });
}

/* setns() moves the process itself into a time namespace; unshare() moves only its children. */
int agent_setns(int fd, int flags)
{
	int err = change_namespaces(&(struct call){ .nr = SYS_setns, .fd = fd, .flags = flags });

	if (!err && (!flags || flags & CLONE_NEWTIME)) {
		int saved = errno;

		ring_clock_find_namespace_again();
		errno = saved;
	}
	return err;
}

EXPORT int AGENT_IN_PLACE_OF(unshare)(int flags)
{
	return agent_unshare(flags);
}

EXPORT int AGENT_IN_PLACE_OF(setns)(int fd, int flags)
{
	return agent_setns(fd, flags);
}
