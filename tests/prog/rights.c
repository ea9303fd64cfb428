/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rights [-t] [-n THREADS] [-e EVENTS] CALL... - makes each of the calls, which change per-thread
 * state of the kernel, with events before, between and after them. Writes "CALL=RESULT:ERRNO" for
 * each, and "ready"; then emits an event for each byte that it reads, and ends.
 *
 *   -t  makes them in a thread other than the main thread
 *   -n  has other threads, which sleep
 */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ltt/statedump.h>
#include <ltt/tracepoint.h>

LTT_TRACEPOINT(rights, tick, (int number), LTT_INFO, ltt_int(int, number, number))

#define OTHER 65534

int capset(struct __user_cap_header_struct *header, const struct __user_cap_data_struct *data);

static struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };

static long no_new_privs(void)
{
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static long no_new_privs_by_number(void)
{
	return syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static long keep_capabilities(void)
{
	return prctl(PR_SET_KEEPCAPS, 1);
}

static long secure_bits(void)
{
	return prctl(PR_SET_SECUREBITS, 5);
}

static long drop_bounding(void)
{
	return prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN);
}

static long drop_all(void)
{
	struct __user_cap_data_struct none[2] = { { 0 } };

	return capset(&header, none);
}

static long drop_most_by_number(void)
{
	struct __user_cap_data_struct some[2] = { { 0 } };

	some[0].effective = some[0].permitted = 1u << CAP_SETGID | 1u << CAP_SETUID;
	return syscall(SYS_capset, &header, some);
}

static long change_user_by_number(void)
{
	return syscall(SYS_setresuid, OTHER, OTHER, OTHER);
}

static long change_effective_by_number(void)
{
	return syscall(SYS_setresuid, -1, 1000, -1);
}

static long change_groups_by_number(void)
{
	return syscall(SYS_setgroups, 0, NULL);
}

static long change_groups(void)
{
	return setgroups(0, NULL);
}

static long change_group(void)
{
	return setgid(OTHER);
}

static long change_user(void)
{
	return setuid(OTHER);
}

static long change_file_user(void)
{
	return setfsuid(OTHER);
}

static long unshare_mounts(void)
{
	return unshare(CLONE_NEWNS);
}

static long unshare_network(void)
{
	return unshare(CLONE_NEWNET | CLONE_NEWUTS);
}

static long change_root(void)
{
	return unshare(CLONE_FS) || chroot("/tmp");
}

static long unshare_users(void)
{
	return unshare(CLONE_NEWUSER);
}

static long unshare_processes(void)
{
	return unshare(CLONE_NEWPID);
}

static long unshare_many_by_number(void)
{
	return syscall(SYS_unshare, CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS);
}

static long restrict_files(void)
{
	struct landlock_ruleset_attr attr = { .handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE };
	int rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	long err;

	no_new_privs();
	err = syscall(SYS_landlock_restrict_self, rules, 0);
	close(rules);
	return err;
}

static long filter(uint32_t nr, uint32_t action, bool by_number)
{
	struct sock_filter lines[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(lines) / sizeof(*lines), lines };

	no_new_privs();
	if (by_number)
		return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static long filter_mount(void)
{
	return filter(SYS_mount, SECCOMP_RET_ERRNO | EACCES, true);
}

static long filter_ptrace(void)
{
	return filter(SYS_ptrace, SECCOMP_RET_KILL_PROCESS, false);
}

/* libltt's thread can't work without this call. */
static long filter_open(void)
{
	return filter(SYS_openat, SECCOMP_RET_ERRNO | EACCES, true);
}

/* It can without these. */
static long filter_signals(void)
{
	return filter(SYS_signalfd4, SECCOMP_RET_KILL_PROCESS, true);
}

static long filter_pidfd(void)
{
	return filter(SYS_pidfd_getfd, SECCOMP_RET_KILL_PROCESS, true) ||
	       filter(SYS_pidfd_open, SECCOMP_RET_KILL_PROCESS, true);
}

/* libc ends a process whose new thread gets this error. */
static long filter_rseq(void)
{
	return filter(SYS_rseq, SECCOMP_RET_ERRNO | ENOSYS, false);
}

static long change_personality(void)
{
	return personality(ADDR_NO_RANDOMIZE);
}

static long join_keyring(void)
{
	return syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0;
}

static long fork_child(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, &status, 0);
	return status;
}

/* By an instruction that no library sees. */
static long drop_unseen(void)
{
	struct __user_cap_data_struct none[2] = { { 0 } };
	long result;

#ifdef __x86_64__
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(SYS_capset), "D"(&header), "S"(none)
			 : "rcx", "r11", "memory");
#else
	register long nr __asm__("x8") = SYS_capset, a __asm__("x0") = (long)&header;
	register long b __asm__("x1") = (long)none;

	__asm__ volatile("svc #0" : "+r"(a) : "r"(nr), "r"(b) : "memory");
	result = a;
#endif
	return result;
}

static long change_often(void)
{
	for (int i = 0; i < 500; i++)
		setfsuid(i % 2 ? OTHER : 0);
	return 0;
}

static bool is_dumping, may_end_dump;

static void dump_slowly(void *arg)
{
	(void)arg;
	__atomic_store_n(&is_dumping, true, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&may_end_dump, __ATOMIC_SEQ_CST))
		usleep(1000);
}

/* While libltt's thread is in a function of the program, until after the call. */
static long drop_beside_dump(void)
{
	long result;

	ltt_statedump_register(dump_slowly, NULL);
	printf("waits\n");
	fflush(stdout);
	while (!__atomic_load_n(&is_dumping, __ATOMIC_SEQ_CST))
		usleep(1000);
	result = drop_all();
	__atomic_store_n(&may_end_dump, true, __ATOMIC_SEQ_CST);
	return result;
}

#define NR_ORDERED 30 /* of calls[]: those of which the names are listed */

static const struct call {
	const char *name;
	long (*make)(void);
} calls[] = {
	{ "no-new-privs", no_new_privs },
	{ "no-new-privs-by-number", no_new_privs_by_number },
	{ "keep-capabilities", keep_capabilities },
	{ "secure-bits", secure_bits },
	{ "drop-bounding", drop_bounding },
	{ "drop-all", drop_all },
	{ "drop-most-by-number", drop_most_by_number },
	{ "user-by-number", change_user_by_number },
	{ "effective-by-number", change_effective_by_number },
	{ "groups-by-number", change_groups_by_number },
	{ "groups", change_groups },
	{ "group", change_group },
	{ "user", change_user },
	{ "file-user", change_file_user },
	{ "unshare-mounts", unshare_mounts },
	{ "unshare-network", unshare_network },
	{ "root", change_root },
	{ "unshare-users", unshare_users },
	{ "unshare-processes", unshare_processes },
	{ "unshare-by-number", unshare_many_by_number },
	{ "landlock", restrict_files },
	{ "filter-mount", filter_mount },
	{ "filter-ptrace", filter_ptrace },
	{ "filter-open", filter_open },
	{ "filter-signals", filter_signals },
	{ "filter-pidfd", filter_pidfd },
	{ "filter-rseq", filter_rseq },
	{ "personality", change_personality },
	{ "keyring", join_keyring },
	{ "fork", fork_child },
	{ "drop-unseen", drop_unseen },
	{ "often", change_often },
	{ "drop-beside-dump", drop_beside_dump },
};
_Static_assert(sizeof(calls) / sizeof(*calls) == NR_ORDERED + 3, "the last three are not listed");

static int nr_events = 100;
static const char *const *names; /* of the calls to make; NULL ends them */
static int number;

static void emit(int nr)
{
	for (int i = 0; i < nr; i++) {
		ltt_trace(rights, tick, number);
		number++;
	}
}

static void make(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		long result;

		if (strcmp(calls[i].name, name) != 0)
			continue;
		errno = 0;
		result = calls[i].make();
		printf("%s=%ld:%d\n", name, result, result < 0 ? errno : 0);
		return;
	}
	printf("%s is no call\n", name);
}

static void *make_all(void *arg)
{
	emit(nr_events);
	for (; *names; names++) {
		make(*names);
		emit(nr_events);
	}
	return arg;
}

static void *sleeps(void *arg)
{
	for (;;)
		pause();
	return arg;
}

int main(int argc, char **argv)
{
	bool in_thread = false;
	pthread_t thread;
	int nr = 0, option;
	char byte;

	while ((option = getopt(argc, argv, "+tn:e:")) != -1) {
		if (option == 't')
			in_thread = true;
		else if (option == 'n')
			nr = atoi(optarg);
		else if (option == 'e')
			nr_events = atoi(optarg);
		else
			return 2;
	}
	if (argc == optind) { /* the names of calls that can be made in any order */
		for (size_t i = 0; i < NR_ORDERED; i++)
			puts(calls[i].name);
		return 0;
	}
	names = (const char *const *)argv + optind;
	while (nr-- > 0)
		pthread_create(&thread, NULL, sleeps, NULL);
	if (in_thread) {
		pthread_create(&thread, NULL, make_all, NULL);
		pthread_join(thread, NULL);
	} else {
		make_all(NULL);
	}
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) == 1)
		emit(1);
	_exit(0);
}
