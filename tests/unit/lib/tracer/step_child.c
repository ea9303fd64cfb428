/* SPDX-License-Identifier: GPL-2.0-only */
#include "step_child.h"

#include <errno.h>
#include <linux/rseq.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "tracer/ring/rseq.h"
#include "tracer/ring/section.h"

/* A sanitizer's instructions are many, and not the product's. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define STEP_SANITIZED 1
#elif defined(__has_feature)
#define STEP_SANITIZED (__has_feature(thread_sanitizer) || __has_feature(address_sanitizer))
#else
#define STEP_SANITIZED 0
#endif

int step_cpu;

int step_through_atomics(void)
{
#if defined(__aarch64__)
	return (getauxval(AT_HWCAP) & HWCAP_ATOMICS) != 0;
#else
	return 1;
#endif
}

static void step_bind_cpu(void)
{
	cpu_set_t set;

	step_cpu = sched_getcpu();
	CHECK(step_cpu >= 0, "which CPU?");
	CPU_ZERO(&set);
	CPU_SET(step_cpu, &set);
	CHECK(!sched_setaffinity(0, sizeof(set), &set), "affinity: %s", strerror(errno));
}

/* raise() in few instructions. */
static void step_stop(long self, long signal)
{
	syscall(SYS_kill, self, signal);
}

pid_t step_child_begin(void (*fn)(void *data), void *data)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0, "fork");
	if (!pid) {
		long self = getpid();

		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		step_stop(self, SIGSTOP);
		fn(data);
		step_stop(self, SIGUSR1);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status), "child: %x", status);
	return pid;
}

void step_child_kill(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status), "child: %x", status);
}

/* The word that holds the thread's descriptor: it is where this process has it. */
static void *step_child_rseq_cs(void)
{
	return (char *)section_thread_pointer() + ring_rseq_area + offsetof(struct rseq, rseq_cs);
}

int step_child_once(pid_t pid)
{
	int status;

	CHECK(!ptrace(PTRACE_POKEDATA, pid, step_child_rseq_cs(), NULL), "poke: %s",
	      strerror(errno));
	CHECK(!ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), "step: %s", strerror(errno));
	CHECK(waitpid(pid, &status, 0) == pid, "wait");
	CHECK(WIFSTOPPED(status), "child ended with %x", status);
	return WSTOPSIG(status) != SIGUSR1;
}

static long step_descriptor(pid_t pid)
{
	errno = 0;
	long word = ptrace(PTRACE_PEEKDATA, pid, step_child_rseq_cs(), NULL);
	CHECK(!errno, "peek: %s", strerror(errno));
	return word;
}

void step_child_advance(struct stepper *s, unsigned int steps)
{
	for (unsigned int n = 0; s->busy && n < steps; n++) {
		s->busy = step_child_once(s->pid);
		long now = step_descriptor(s->pid);
		if (now)
			s->descriptor = now;
	}
}

static void step_poke(pid_t pid, void *at, long word)
{
	CHECK(!ptrace(PTRACE_POKEDATA, pid, at, word), "poke: %s", strerror(errno));
}

void step_child_replace(struct stepper *s, void *at, const void *other)
{
	int status;

	step_poke(s->pid, step_child_rseq_cs(), s->descriptor);
	step_poke(s->pid, at, (long)other);
	CHECK(!ptrace(PTRACE_CONT, s->pid, NULL, NULL), "continue: %s", strerror(errno));
	CHECK(waitpid(s->pid, &status, 0) == s->pid && WIFSTOPPED(status) &&
		      WSTOPSIG(status) == SIGUSR1,
	      "child: %x", status);
}

void step_begin(void)
{
	if (ring_init() != RING_RSEQ)
		SKIP("no restartable sequences");
	if (!step_through_atomics())
		SKIP("a CPU whose atomic operations can't be single-stepped");
	if (STEP_SANITIZED)
		SKIP("a build with a sanitizer");
	step_bind_cpu();
}
