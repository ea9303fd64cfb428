/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * inject PID CALL ARG... - have another process make a system call, and print what
 * it returned. The process is stopped in the call it waits in, and made to go on
 * there as if a signal had come. Exit status 77: this machine or user can't.
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

static const struct {
	const char *name;
	long nr;
} calls[] = {
	{ "getppid", SYS_getppid }, { "getpid", SYS_getpid },	{ "ptrace", SYS_ptrace },
	{ "socket", SYS_socket },   { "unshare", SYS_unshare }, { "execve", SYS_execve },
	{ "mmap", SYS_mmap },	    { "setuid", SYS_setuid },	{ "setfsuid", SYS_setfsuid },
	{ "clone", SYS_clone },	    { "kill", SYS_kill },	{ "openat", SYS_openat },
	{ "bpf", SYS_bpf },	    { "mount", SYS_mount },
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

static void stop(pid_t pid)
{
	if (ptrace(PTRACE_SEIZE, pid, 0, 0) < 0)
		die("seize", 77);
	if (ptrace(PTRACE_INTERRUPT, pid, 0, 0) < 0 || waitpid(pid, NULL, 0) < 0)
		die("interrupt", 1);
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
	if (ptrace(PTRACE_SETREGS, pid, 0, &regs) < 0 || ptrace(PTRACE_SINGLESTEP, pid, 0, 0) < 0 ||
	    waitpid(pid, &status, 0) < 0)
		die("step", 1);
	if (!WIFSTOPPED(status)) {
		fprintf(stderr, "inject: the process ended: %#x\n", status);
		exit(1);
	}
	if (ptrace(PTRACE_GETREGS, pid, 0, &regs) < 0)
		die("registers", 1);
	return (long)regs.rax;
}

static long inject(pid_t pid, long nr, const long arg[6])
{
	struct user_regs_struct old;
	long text, ret;

	stop(pid);
	if (ptrace(PTRACE_GETREGS, pid, 0, &old) < 0)
		die("registers", 1);
	errno = 0;
	text = ptrace(PTRACE_PEEKTEXT, pid, old.rip - 2, 0);
	if (errno || (text & 0xffff) != 0x050f) {
		fputs("inject: the process is not in a system call\n", stderr);
		exit(1);
	}
	ret = call(pid, &old, nr, arg);
	old.orig_rax = (unsigned long)-1;
	old.rax = (unsigned long)-EINTR;
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
