/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * step_child.h - for tests that stop a process behind every instruction of something that it
 * does in a restartable sequence: the sequence's descriptor is taken away at each
 * stop, so that it goes on instead of beginning again; and given back where the
 * process is to be as if it had been preempted there.
 */
#ifndef TESTS_STEP_CHILD_H
#define TESTS_STEP_CHILD_H

#include <errno.h>
#include <linux/rseq.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "single_step.h"
#include "tracer/ring/rseq.h"
#include "tracer/ring/section.h"

/* A sanitizer's instructions are many, and not the product's. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED (__has_feature(thread_sanitizer) || __has_feature(address_sanitizer))
#else
#define SANITIZED 0
#endif

#define MAX_STEPS 20000

static int cpu; /* that everything is on */

/* One CPU, so one ring, for this process and all that it forks. */
static inline void settle(void)
{
	cpu_set_t set;

	cpu = sched_getcpu();
	CHECK(cpu >= 0, "which CPU?");
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	CHECK(!sched_setaffinity(0, sizeof(set), &set), "affinity: %s", strerror(errno));
}

/* raise() in few instructions. */
static inline void stop(long self, long signal)
{
	syscall(SYS_kill, self, signal);
}

/* A child that is about to do it, and stopped. */
static inline pid_t child_begin(void (*fn)(void *data), void *data)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0, "fork");
	if (!pid) {
		long self = getpid();

		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		stop(self, SIGSTOP);
		fn(data);
		stop(self, SIGUSR1);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status), "child: %x", status);
	return pid;
}

static inline void child_kill(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status), "child: %x", status);
}

/* Where the thread's descriptor is told to the kernel: as in this process, which it came from. */
static inline void *rseq_cs_of_child(void)
{
	return (char *)section_thread_pointer() + ring_rseq_area + offsetof(struct rseq, rseq_cs);
}

/* Go on by one instruction. Return: 0 once the record is behind the child. */
static inline int step(pid_t pid)
{
	int status;

	CHECK(!ptrace(PTRACE_POKEDATA, pid, rseq_cs_of_child(), NULL), "poke: %s", strerror(errno));
	CHECK(!ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), "step: %s", strerror(errno));
	CHECK(waitpid(pid, &status, 0) == pid, "wait");
	CHECK(WIFSTOPPED(status), "child ended with %x", status);
	return WSTOPSIG(status) != SIGUSR1;
}

/* State of a child that has stopped, and where it continues. */
struct stepper {
	pid_t pid;
	long descriptor; /* the last one that it announced */
	int busy;
};

static inline long descriptor_of(pid_t pid)
{
	errno = 0;
	long word = ptrace(PTRACE_PEEKDATA, pid, rseq_cs_of_child(), NULL);
	CHECK(!errno, "peek: %s", strerror(errno));
	return word;
}

static inline void go_to(struct stepper *s, unsigned int steps)
{
	for (unsigned int n = 0; s->busy && n < steps; n++) {
		s->busy = step(s->pid);
		long now = descriptor_of(s->pid);
		if (now)
			s->descriptor = now;
	}
}

static inline void poke(pid_t pid, void *at, long word)
{
	CHECK(!ptrace(PTRACE_POKEDATA, pid, at, word), "poke: %s", strerror(errno));
}

/*
 * The kernel finds the descriptor that the child announced last, and something else where
 * @at points to. A descriptor that has been cleared since covers nothing of what is behind
 * its commit, and does no harm.
 */
static inline void go_on_elsewhere(struct stepper *s, void *at, const void *other)
{
	int status;

	poke(s->pid, rseq_cs_of_child(), s->descriptor);
	poke(s->pid, at, (long)other);
	CHECK(!ptrace(PTRACE_CONT, s->pid, NULL, NULL), "continue: %s", strerror(errno));
	CHECK(waitpid(s->pid, &status, 0) == s->pid && WIFSTOPPED(status) &&
		      WSTOPSIG(status) == SIGUSR1,
	      "child: %x", status);
}

static inline void stepping_begin(void)
{
	if (ring_init() != RING_RSEQ)
		SKIP("no restartable sequences");
	if (!steps_through_atomics())
		SKIP("a CPU whose atomic operations can't be single-stepped");
	if (SANITIZED)
		SKIP("a build with a sanitizer");
	settle();
}

#endif
