// SPDX-License-Identifier: GPL-2.0-only
/*
 * vfork() and clone() as libltt defines them: their results, the signal mask, and the owner of the
 * rseq area. That rings stay whole is tests/e2e/shared-memory-children.test's.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/rseq.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/tracer/testset.h"
#include "tracer/ring/rseq.h"

/* ThreadSanitizer has a vfork() of its own, which forks. */
#if defined(__SANITIZE_THREAD__)
#define FORKS 1
#elif defined(__has_feature)
#define FORKS __has_feature(thread_sanitizer)
#else
#define FORKS 0
#endif

enum { STATUS = 7, HELD = SIGUSR2 };

static int lendable; /* the machine has rseq, and the child shares the memory */
static uint32_t cpu_in_child;
static int mask_in_child;

static int is_held(void)
{
	sigset_t now;

	sigprocmask(SIG_SETMASK, NULL, &now);
	return sigismember(&now, HELD) && !sigismember(&now, SIGUSR1);
}

static void look_in_child(void)
{
	cpu_in_child = ring_rseq_cpu();
	mask_in_child = is_held();
}

static int child_of_clone(void *arg)
{
	look_in_child();
	if (arg)
		ring_rseq_adopt_thread();
	return STATUS;
}

static __attribute__((noinline)) pid_t by_vfork(void *adopt)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(child_of_clone(adopt));
	return pid;
}

static pid_t by_clone(void *adopt)
{
	static char stack[1 << 16] __attribute__((aligned(16)));

	return clone(child_of_clone, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD,
		     adopt);
}

static void one_child(pid_t (*way)(void *adopt), void *adopt)
{
	uint32_t cpu = ring_rseq_cpu();
	int status = 0;
	pid_t pid;

	mask_in_child = 0;
	cpu_in_child = 0;
	errno = 0;
	pid = way(adopt);
	CHECK(pid > 0 && errno == 0, "pid %d", (int)pid);
	CHECK(waitpid(pid, &status, 0) == pid, "waitpid");
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == STATUS, "status %x", status);
	CHECK(is_held(), "the parent's mask");
	if (!lendable)
		return;
	CHECK(mask_in_child, "the child's mask");
	CHECK((int32_t)cpu_in_child < 0, "the child has the parent's CPU, %u", cpu_in_child);
	CHECK(ring_rseq_cpu() == cpu, "CPU %u, was %u", ring_rseq_cpu(), cpu);
}

static void all_ways(void)
{
	one_child(by_vfork, NULL);
	one_child(by_vfork, &lendable);
	one_child(by_clone, NULL);
	one_child(by_clone, &lendable);
}

/* A sandbox that was closed meanwhile: the area stays the parent's. */
static void refuse_rseq(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rseq, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		SKIP("no seccomp");
}

/* If the kernel does not update it any more nothing changes it. */
static void is_registered(void)
{
	if (!lendable)
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		cpu_set_t one;

		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one) == 0)
			CHECK(ring_rseq_cpu() == (uint32_t)cpu, "CPU %u, want %d", ring_rseq_cpu(),
			      cpu);
	}
}

static void stay_here(void)
{
	unsigned int cpu = 0;
	cpu_set_t one;

	CPU_ZERO(&one);
	CHECK(syscall(SYS_getcpu, &cpu, NULL, NULL) == 0, "getcpu");
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

int main(void)
{
	sigset_t held;

	sigemptyset(&held);
	sigaddset(&held, HELD);
	sigprocmask(SIG_SETMASK, &held, NULL);
	lendable = ring_init() == RING_RSEQ && !FORKS;
	stay_here();
	all_ways();
	is_registered();
	if (lendable) {
		refuse_rseq();
		all_ways();
		is_registered();
	}
	ring_stop_sequences();
	CHECK(!ring_rseq_adopt_thread() && ring_producer() == RING_FALLBACK, "stopped");
	return 0;
}
