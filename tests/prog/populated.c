// SPDX-License-Identifier: GPL-2.0-only
/*
 * populated KIND - reads numbers, each on a line, emits so many events of about 1 KiB for each and
 * writes a line when it has. KIND: plain; locked: its memory is locked; fork: a child does it; or a
 * filter of system calls that is installed first (filters[]).
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ltt/tracepoint.h>

LTT_TRACEPOINT(populated, kib, (int number, const char *text), LTT_INFO,
	       ltt_int(int, number, number), ltt_string(text, text))

#define POPULATE_WRITE 23 /* MADV_POPULATE_WRITE */

static const struct filter {
	const char *kind;
	int call;
	int advice; /* -1: all arguments, and in the calling thread only: the helper needs it */
	uint32_t action;
} filters[] = {
	{ "populate-error", SYS_madvise, POPULATE_WRITE, SECCOMP_RET_ERRNO | EINVAL },
	{ "populate-kills", SYS_madvise, POPULATE_WRITE, SECCOMP_RET_KILL_PROCESS },
	{ "wake-error", SYS_tgkill, -1, SECCOMP_RET_ERRNO | EPERM },
	{ "wake-traps", SYS_tgkill, -1, SECCOMP_RET_TRAP },
};

static int install(const struct filter *filter)
{
	struct sock_filter lines[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)filter->call, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)filter->advice, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, filter->action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(lines) / sizeof(*lines), lines };

	if (filter->advice < 0)
		lines[1].jt = 2;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    filter->advice < 0 ? 0 : SECCOMP_FILTER_FLAG_TSYNC, &program);
}

static void emit_all(void)
{
	static char text[1000];
	char line[32];
	int number = 0;

	memset(text, 'x', sizeof(text) - 1);
	while (fgets(line, sizeof(line), stdin)) {
		for (long i = strtol(line, NULL, 10); i > 0; i--)
			ltt_trace(populated, kib, number++, text);
		puts("done");
	}
}

static int emit_in_child(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		emit_all();
		exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(kind, "fork") == 0)
		return emit_in_child() ? 1 : 0;
	if (strcmp(kind, "locked") == 0 && mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
		return 77;
	for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++)
		if (strcmp(kind, filters[i].kind) == 0 && install(&filters[i]) != 0)
			return 77;
	emit_all();
	return 0;
}
