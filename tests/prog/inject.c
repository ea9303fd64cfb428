/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * inject PID CALL ARG... - have another process make a system call, and print the result. The
 * process is stopped in a call, or just behind one. It goes on there as if a signal had come where
 * it waited, and with the call's own result otherwise. Exit status 77: this machine or user can't.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
	const char *name;
	long nr;
} calls[] = {
	{ "getppid", SYS_getppid },
	{ "getpid", SYS_getpid },
	{ "ptrace", SYS_ptrace },
	{ "socket", SYS_socket },
	{ "unshare", SYS_unshare },
	{ "execve", SYS_execve },
	{ "mmap", SYS_mmap },
	{ "setuid", SYS_setuid },
	{ "setfsuid", SYS_setfsuid },
	{ "clone", SYS_clone },
	{ "kill", SYS_kill },
	{ "openat", SYS_openat },
	{ "bpf", SYS_bpf },
	{ "mount", SYS_mount },
	{ "setresuid", SYS_setresuid },
	{ "setgroups", SYS_setgroups },
};

static long find(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].nr;
	return -1;
}

static __attribute__((noreturn)) void die(const char *what, int status)
{
	fprintf(stderr, "inject: %s: %s\n", what, strerror(errno));
	exit(status);
}

#ifdef __x86_64__

#define TRIES 1000
#define EVENT(status) ((status) >> 16)

static void await_stop(pid_t pid, int *ret_status)
{
	if (waitpid(pid, ret_status, 0) < 0)
		die("wait", 1);
	if (!WIFSTOPPED(*ret_status)) {
		fprintf(stderr, "inject: the process ended: %#x\n", *ret_status);
		exit(1);
	}
}

/* Signals that come first are delivered. */
static void interrupt(pid_t pid)
{
	int status;

	if (ptrace(PTRACE_INTERRUPT, pid, 0, 0) < 0)
		die("interrupt", 1);
	for (await_stop(pid, &status); EVENT(status) != PTRACE_EVENT_STOP; await_stop(pid, &status))
		if (ptrace(PTRACE_CONT, pid, 0, WSTOPSIG(status)) < 0)
			die("continue", 1);
}

/* Return: whether a system call is right before the instruction pointer. */
static int is_at_call(pid_t pid, struct user_regs_struct *ret)
{
	long text;

	if (ptrace(PTRACE_GETREGS, pid, 0, ret) < 0)
		die("registers", 1);
	errno = 0;
	text = ptrace(PTRACE_PEEKTEXT, pid, ret->rip - 2, 0);
	return !errno && (text & 0xffff) == 0x050f;
}

static void stop(pid_t pid, struct user_regs_struct *ret)
{
	if (ptrace(PTRACE_SEIZE, pid, 0, 0) < 0)
		die("seize", 77);
	interrupt(pid);
	for (int i = 0; !is_at_call(pid, ret); i++) {
		if (i == TRIES) {
			fputs("inject: the process is never in a system call\n", stderr);
			exit(1);
		}
		if (ptrace(PTRACE_CONT, pid, 0, 0) < 0)
			die("continue", 1);
		usleep(1000);
		interrupt(pid);
	}
}

/* The kernel's own results, of a call that was interrupted and would begin anew. */
static int would_restart(const struct user_regs_struct *regs)
{
	long result = (long)regs->rax;

	return (long)regs->orig_rax >= 0 && result <= -512 && result >= -516;
}

/* Over the system call that is before the instruction pointer once more. */
static long call(pid_t pid, const struct user_regs_struct *old, long nr, const long arg[6])
{
	struct user_regs_struct regs = *old;
	int status = 0;

	regs.rip = old->rip - 2;
	regs.orig_rax = (unsigned long)-1; /* no call is to be restarted */
	regs.rax = (unsigned long)nr;
	regs.rdi = (unsigned long)arg[0];
	regs.rsi = (unsigned long)arg[1];
	regs.rdx = (unsigned long)arg[2];
	regs.r10 = (unsigned long)arg[3];
	regs.r8 = (unsigned long)arg[4];
	regs.r9 = (unsigned long)arg[5];
	if (ptrace(PTRACE_SETREGS, pid, 0, &regs) < 0)
		die("registers", 1);
	do { /* a stop for another cause comes before the step */
		if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0) < 0)
			die("step", 1);
		await_stop(pid, &status);
	} while (EVENT(status) || WSTOPSIG(status) != SIGTRAP);
	if (ptrace(PTRACE_GETREGS, pid, 0, &regs) < 0)
		die("registers", 1);
	return (long)regs.rax;
}

static long inject(pid_t pid, long nr, const long arg[6])
{
	struct user_regs_struct old;
	long ret;

	stop(pid, &old);
	ret = call(pid, &old, nr, arg);
	if (would_restart(&old))
		old.rax = (unsigned long)-EINTR;
	old.orig_rax = (unsigned long)-1;
	if (ptrace(PTRACE_SETREGS, pid, 0, &old) < 0 || ptrace(PTRACE_DETACH, pid, 0, 0) < 0)
		die("detach", 1);
	return ret;
}

#else

static long inject(pid_t pid, long nr, const long arg[6])
{
	(void)pid, (void)nr, (void)arg;
	exit(77);
}

#endif

int main(int argc, char **argv)
{
	long arg[6] = { 0 };
	long nr = argc > 2 ? find(argv[2]) : -1;

	if (nr < 0) {
		fputs("usage: inject PID CALL ARG...\n", stderr);
		return 2;
	}
	for (int i = 3; i < argc && i < 9; i++)
		arg[i - 3] = strtol(argv[i], NULL, 0);
	printf("%ld\n", inject(atoi(argv[1]), nr, arg));
	return 0;
}
