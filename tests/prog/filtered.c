/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * filtered KIND - installs a seccomp filter, writes a line, and emits an event for each byte that
 * it reads. KIND is one of kinds[] below, or strict.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ltt/tracepoint.h>

LTT_TRACEPOINT(filtered, tick, (int number), LTT_INFO, ltt_int(int, number, number))

#define MAX_LINES 64
#define ERROR (SECCOMP_RET_ERRNO | EPERM)

enum {
	EVERY_THREAD = 1,
	LISTED_END = 2,
	BY_PRCTL = 4,
	FORKS = 8,
	EXECS = 16,
	VFORKS = 32,
	TREE = 64,
	WAKES = 128,
	NO_WAKES = 256
};

static const int needed[] = { SYS_read, SYS_write, SYS_futex, SYS_exit, SYS_exit_group, -1 };
static const int no_futex[] = { SYS_read, SYS_write, SYS_exit, SYS_exit_group, -1 };
/* libc calls rt_sigprocmask() where there is, or was, a second thread. */
static const int forking[] = { SYS_read,	   SYS_write, SYS_futex,	   SYS_exit,
			       SYS_exit_group,	   SYS_wait4, SYS_set_robust_list, SYS_clone,
			       SYS_rt_sigprocmask, -1 };
static const int ours[] = { SYS_signalfd4, SYS_pidfd_open, -1 };

static const struct kind {
	const char *name;
	const int *calls; /* allowed; LISTED_END: all others are */
	uint32_t action;  /* for the others */
	unsigned int how;
} kinds[] = {
	{ "kill", needed, SECCOMP_RET_KILL_PROCESS, 0 },
	{ "kill-all", needed, SECCOMP_RET_KILL_PROCESS, EVERY_THREAD },
	{ "thread-all", needed, SECCOMP_RET_KILL_THREAD, EVERY_THREAD },
	{ "trap-all", needed, SECCOMP_RET_TRAP, EVERY_THREAD },
	{ "error-all", needed, ERROR, EVERY_THREAD },
	{ "prctl", needed, SECCOMP_RET_KILL_PROCESS, BY_PRCTL },
	{ "tree", needed, SECCOMP_RET_KILL_PROCESS, TREE },
	{ "wakes", needed, SECCOMP_RET_KILL_PROCESS, WAKES },
	{ "no-wakes", needed, SECCOMP_RET_KILL_PROCESS, NO_WAKES },
	{ "no-futex", no_futex, SECCOMP_RET_KILL_PROCESS, 0 },
	{ "listed-all", ours, SECCOMP_RET_KILL_PROCESS, LISTED_END | EVERY_THREAD },
	{ "fork", forking, SECCOMP_RET_KILL_PROCESS, FORKS },
	{ "fork-listed", ours, SECCOMP_RET_KILL_PROCESS, LISTED_END | FORKS },
	{ "vfork", no_futex, SECCOMP_RET_KILL_PROCESS, EVERY_THREAD | VFORKS },
	{ "exec", ours, SECCOMP_RET_KILL_PROCESS, LISTED_END | EXECS },
	{ "exec-error", ours + 1, ERROR, LISTED_END | EXECS },
};

static void add(struct sock_fprog *program, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	program->filter[program->len++] = (struct sock_filter){ code, jt, jf, k };
}

/* As libseccomp begins: of another architecture, or x32, nothing is allowed. */
static void add_head(struct sock_fprog *program)
{
	add(program, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
#ifdef __x86_64__
	add(program, BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
#else
	add(program, BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_AARCH64, 1, 0);
#endif
	add(program, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
	add(program, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	add(program, BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
	add(program, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
}

/* Allow one of the two halves of futex(). */
static void add_futex(struct sock_fprog *program, bool wakes)
{
	const uint32_t end = SECCOMP_RET_KILL_PROCESS, allow = SECCOMP_RET_ALLOW;

	add(program, BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 5);
	add(program, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1]), 0, 0);
	add(program, BPF_ALU | BPF_AND | BPF_K, 0x7f, 0, 0);
	add(program, BPF_JMP | BPF_JEQ | BPF_K, FUTEX_WAKE, 0, 1);
	add(program, BPF_RET | BPF_K, wakes ? allow : end, 0, 0);
	add(program, BPF_RET | BPF_K, wakes ? end : allow, 0, 0);
}

static int install(const struct kind *kind)
{
	const bool listed_end = kind->how & LISTED_END;
	const uint32_t listed = listed_end ? kind->action : SECCOMP_RET_ALLOW;
	const uint32_t others = listed_end ? SECCOMP_RET_ALLOW : kind->action;
	struct sock_filter lines[MAX_LINES];
	struct sock_fprog program = { 0, lines };

	if (kind->how & TREE)
		add_head(&program);
	add(&program, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	if (kind->how & (WAKES | NO_WAKES))
		add_futex(&program, kind->how & WAKES);
	for (const int *nr = kind->calls; *nr >= 0; nr++) {
		add(&program, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)*nr, 0, 1);
		add(&program, BPF_RET | BPF_K, listed, 0, 0);
	}
	add(&program, BPF_RET | BPF_K, others, 0, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	if (kind->how & BY_PRCTL)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    kind->how & EVERY_THREAD ? SECCOMP_FILTER_FLAG_TSYNC : 0, &program);
}

static void emit_all(void)
{
	int number = 0;
	char byte;

	while (read(STDIN_FILENO, &byte, 1) == 1)
		ltt_trace(filtered, tick, number++);
	syscall(SYS_exit, 0);
}

static void emit_in_child(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		emit_all();
	waitpid(pid, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* The filter is the child's alone, though it shares our memory. */
static int install_in_child(const struct kind *kind)
{
	volatile int failed = 1;
	pid_t pid = vfork();

	if (pid == 0) {
		failed = install(kind);
		_exit(0);
	}
	return pid < 0 || waitpid(pid, NULL, 0) != pid || failed;
}

static void run(const struct kind *kind, char **argv)
{
	if (kind->how & EXECS && !argv[2]) {
		char *again[] = { argv[0], argv[1], (char *)"again", NULL };

		if (install(kind) == 0)
			execv("/proc/self/exe", again);
		exit(1);
	}
	if (kind->how & VFORKS && install_in_child(kind) != 0)
		exit(1);
	if (!(kind->how & (EXECS | VFORKS)) && install(kind) != 0)
		exit(1);
	if (write(STDOUT_FILENO, "ready\n", 6) != 6)
		exit(1);
	if (kind->how & FORKS)
		emit_in_child();
	emit_all();
}

int main(int argc, char **argv)
{
	/* some programs find out by this whether there are filters */
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) == 0 || errno != EFAULT || argc < 2)
		return 77;
	if (strcmp(argv[1], "strict") == 0) {
		if (write(STDOUT_FILENO, "ready\n", 6) == 6 &&
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0)
			emit_all();
		return 1;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(argv[1], kinds[i].name) == 0)
			run(&kinds[i], argv);
	return 1;
}
