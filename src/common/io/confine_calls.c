/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "confine_calls.h"

#include "base/log.h"
#include "base/macros.h"
#include "io/pidinfo.h"

#ifndef HAVE_SECCOMP

int confine_calls(enum confine_role role)
{
	(void)role;
	log_info("this build has no seccomp: system calls are not restricted");
	return 0;
}

#else

#include <errno.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "ltt_kmod.h"

#define S CONFINE_SESSION
#define C (CONFINE_CONSUMER | S) /* the session daemon's filter holds for its children */
#define R CONFINE_RELAY
#define A CONFINE_ARCHIVE
#define ALL (CONFINE_KEEPER | CONFINE_CONSUMER | S | R | A)

/* By name: calls that this libseccomp or this machine does not know are left out. */
static const struct {
	const char *name;
	unsigned int who;
} calls[] = {
	/* memory, threads, time: libc's */
	{ "brk", ALL },
	{ "munmap", ALL },
	{ "mremap", ALL },
	{ "madvise", ALL },
	{ "futex", ALL },
	{ "clock_gettime", ALL },
	{ "gettimeofday", ALL },
	{ "time", ALL },
	{ "getrandom", ALL },
	{ "sched_yield", ALL },
	{ "exit", ALL },
	{ "exit_group", ALL },
	{ "restart_syscall", ALL },
	{ "rt_sigaction", ALL },
	{ "rt_sigprocmask", ALL },
	{ "rt_sigreturn", ALL },
	{ "getpid", ALL },
	{ "gettid", ALL },
	{ "getuid", ALL },
	{ "geteuid", ALL },
	{ "getgid", ALL },
	{ "getegid", ALL },
	{ "prlimit64", ALL },
	{ "getrlimit", ALL },
	{ "sysinfo", ALL },
	{ "uname", ALL },

	/* the loop */
	{ "epoll_wait", ALL },
	{ "epoll_pwait", ALL },
	{ "epoll_ctl", ALL },
	{ "epoll_create1", ALL },
	{ "timerfd_create", ALL },
	{ "timerfd_settime", ALL },
	{ "signalfd4", ALL },
	{ "poll", ALL },
	{ "ppoll", ALL },
	{ "read", ALL },
	{ "write", ALL },
	{ "writev", ALL },
	{ "close", ALL },
	{ "fcntl", ALL },
	{ "fstat", ALL },
	{ "newfstatat", ALL },
	{ "lseek", ALL },
	{ "pread64", ALL }, /* these two: of a log that has become too long */
	{ "ftruncate", ALL },

	/* connections; opened by the session daemon, by consumers to relays, and to stores */
	{ "accept4", ALL },
	{ "connect", C | A },
	{ "recvmsg", ALL },
	{ "sendmsg", ALL },
	{ "getsockopt", ALL },
	{ "setsockopt", ALL },
	{ "shutdown", ALL },
	{ "unlink", ALL },
	{ "unlinkat", ALL },

	/* a relay's connections */
	{ "recvfrom", C | R | A },
	{ "sendto", C | R | A },
	{ "getsockname", C | R | A },
	{ "getpeername",
	  S | R | A }, /* of a relay that lttctl starts for a session that is loaded */

	/* and the calls by which libc resolves a relay's name */
	{ "sendmmsg", C | A },

	/* workers, and a relay's thread for viewers */
	{ "set_robust_list", C | R | A },
	{ "rseq", C | R | A },
	{ "futex_waitv", C },
	{ "eventfd2", C | R | A },
	{ "sched_setattr", C },
	{ "getpriority", C },
	{ "setpriority", C },
	{ "ioprio_set", C },
	{ "clock_nanosleep", C | A },
	{ "sched_setscheduler", C },
	{ "sched_getaffinity", C },
	{ "sched_setaffinity", C },
	{ "prctl", C },
	{ "membarrier", C },

	/* buffers, files, and the user for which they are written */
	{ "memfd_create", C },
	{ "fallocate", C | R | A },
	{ "utimensat", S | R | A },
	{ "fchmod", C },
	{ "open", C | A },
	{ "openat", C | R | A },
	{ "openat2", C | A },
	{ "stat", C | A },
	{ "statx", C | R | A },
	{ "mkdirat", C | R | A },
	{ "getdents64", C | R | A },
	{ "readlink", C | A },
	{ "readlinkat", C | A },
	{ "preadv", C | R | A },
	{ "pwrite64", C | R | A },
	{ "pwritev", C | R | A },
	{ "pwritev2", C | R | A },
	{ "fsync", C | R | A },
	{ "fdatasync", C | R | A },
	{ "sync_file_range", C },
	{ "splice", C },
	{ "pipe2", C },
	{ "syncfs", C | R | A },
	{ "statfs", C },
	{ "fstatfs", C | R | A },
	{ "flock", C | R | A },
	{ "setfsuid", C },
	{ "setfsgid", C },
	{ "setgroups", C },
	{ "getgroups", C },

	/* starting the others, which then confine themselves */
	{ "fork", S },
	{ "vfork", S },
	{ "execve", S },
	{ "wait4", S },
	{ "waitid", S },
	{ "pidfd_open", S },
	{ "kill", S },
	{ "pipe", S },
	{ "dup", S },
	{ "dup2", S },
	{ "dup3", S | R },
	{ "setsid", S },
	{ "setpgid", S },
	{ "setresuid", S },
	{ "setresgid", S },
	{ "getpgrp", S },
	{ "getppid", S },
	{ "arch_prctl", S },
	{ "set_tid_address", S },
	{ "access", S | A },
	{ "faccessat", C | R | A },
	{ "faccessat2", C | R | A },
	{ "lstat", S | A },
	{ "getcwd", S | A },
	{ "sigaltstack", S },
	{ "close_range", S },
	{ "setrlimit", S },
	{ "capget", S },
	{ "capset", S },
	{ "seccomp", S },

	/* files of programs that are replaced, searched by a process of its own */
	{ "inotify_init1", S },
	{ "inotify_add_watch", S },
	{ "inotify_rm_watch", S },

	/* its directory: state, sockets */
	{ "bind", S },
	{ "listen", S },
	{ "umask", S },
	{ "chmod", S },
	{ "fchmodat", S },
	{ "fchmodat2", S },
	{ "chown", S },
	{ "fchownat", S },
	{ "mkdir", S },
	{ "rmdir", S },
	{ "rename", S },
	{ "renameat", ALL },
	{ "renameat2", C | R | A },
	{ "linkat", C | A }, /* of a file that archives have in common */
};

#define NAMESPACES                                                                     \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	 CLONE_NEWPID | CLONE_NEWNET)

/* Return: 0, or negative errno; fine where there is no such call. */
static int allow(scmp_filter_ctx filter, const char *name, const struct scmp_arg_cmp *arg)
{
	int nr = seccomp_syscall_resolve_name(name);

	if (nr == __NR_SCMP_ERROR)
		return 0;
	return arg ? seccomp_rule_add(filter, SCMP_ACT_ALLOW, nr, 1, *arg) :
		     seccomp_rule_add(filter, SCMP_ACT_ALLOW, nr, 0);
}

/* A keeper has no threads, a consumer, a relay and an archive only threads, and no daemon has its
 * own namespace. */
static int allow_clone(scmp_filter_ctx filter, enum confine_role role)
{
	const struct scmp_arg_cmp child = SCMP_A0(SCMP_CMP_MASKED_EQ, NAMESPACES, 0);
	const struct scmp_arg_cmp thread =
		SCMP_A0(SCMP_CMP_MASKED_EQ, NAMESPACES | CLONE_THREAD, CLONE_THREAD);
	int ret = allow(filter, "clone3", NULL); /* see hide_calls() */

	if (ret < 0 || role == CONFINE_KEEPER)
		return ret;
	return allow(filter, "clone", role == CONFINE_SESSION ? &child : &thread);
}

#define SOCKET_KIND ((scmp_datum_t)(~(SOCK_CLOEXEC | SOCK_NONBLOCK)) & 0xffffffffu)

/* To relays and stores, over IPv4 and IPv6: nothing but streams, and datagrams to name servers. The
 * session daemon makes none, but its filter holds for its consumer. libcurl names the protocol. */
static int allow_inet(scmp_filter_ctx filter, enum confine_role role)
{
	const unsigned int nr_args = role == CONFINE_ARCHIVE ? 2 : 3;
	const int families[] = { AF_INET, AF_INET6 }, kinds[] = { SOCK_STREAM, SOCK_DGRAM };
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(families) * ARRAY_SIZE(kinds) && ret == 0; i++)
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), nr_args,
				       SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)families[i / 2], 0),
				       SCMP_A1(SCMP_CMP_MASKED_EQ, SOCKET_KIND,
					       (scmp_datum_t)kinds[i % 2]),
				       SCMP_A2(SCMP_CMP_EQ, 0, 0));
	return ret;
}

/* Otherwise local sockets only, and of a consumer none: see hide_calls(). Code only from programs
 * that are started. abort(), which is a signal to oneself. An ioctl of stdio, those of the
 * kernel module, and one of pidfds. */
static int allow_some(scmp_filter_ctx filter, enum confine_role role)
{
	const struct scmp_arg_cmp local = SCMP_A0(SCMP_CMP_EQ, AF_UNIX, 0);
	const struct scmp_arg_cmp routes = SCMP_A0(SCMP_CMP_EQ, AF_NETLINK, 0);
	const struct scmp_arg_cmp data = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
	const struct scmp_arg_cmp terminal = SCMP_A1(SCMP_CMP_EQ, TCGETS, 0);
	const struct scmp_arg_cmp bytes = SCMP_A1(SCMP_CMP_EQ, FIONREAD, 0);
	const struct scmp_arg_cmp kmod =
		SCMP_A1(SCMP_CMP_MASKED_EQ, _IOC_TYPEMASK << _IOC_TYPESHIFT,
			LTT_KMOD_IOC << _IOC_TYPESHIFT);
	const struct scmp_arg_cmp ended = SCMP_A1(SCMP_CMP_EQ, PIDINFO_GET, 0);
	const struct scmp_arg_cmp self = SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0);
	const struct scmp_arg_cmp *code = role == CONFINE_SESSION ? NULL : &data;
	int ret = allow(filter, "mmap", code);

	if (ret == 0)
		ret = allow(filter, "mprotect", code);
	if (ret == 0)
		ret = allow(filter, "ioctl", &terminal);
	if (ret == 0 && (role & (C | A))) /* of an answer of a name server's */
		ret = allow(filter, "ioctl", &bytes);
	if (ret == 0 && role == CONFINE_SESSION)
		ret = allow(filter, "ioctl", &kmod);
	if (ret == 0 && role == CONFINE_SESSION)
		ret = allow(filter, "ioctl", &ended);
	if (ret == 0)
		ret = allow(filter, "tgkill", role == CONFINE_SESSION ? NULL : &self);
	if (ret == 0 && (role & (C | A)))
		ret = allow(filter, "socket", &local);
	if (ret == 0 && (role & (CONFINE_CONSUMER | A)))
		ret = allow(filter, "socket", &routes);
	if (ret == 0 && role == CONFINE_SESSION) /* process events; none for its consumer */
		ret = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 2,
				       SCMP_A0(SCMP_CMP_EQ, AF_NETLINK, 0),
				       SCMP_A2(SCMP_CMP_EQ, NETLINK_CONNECTOR, 0));
	if (ret == 0 && (role & (C | A)))
		ret = allow_inet(filter, role);
	if (ret == 0 && (role & (CONFINE_SESSION | A)))
		ret = allow(filter, "socketpair", &local);
	return ret;
}

static int confine_calls_fill(scmp_filter_ctx filter, enum confine_role role)
{
	int ret = allow_some(filter, role);

	if (ret == 0)
		ret = allow_clone(filter, role);
	for (size_t i = 0; i < ARRAY_SIZE(calls) && ret == 0; i++)
		if (calls[i].who & role)
			ret = allow(filter, calls[i].name, NULL);
	return ret;
}

/* clone3() has its flags in memory, which a filter can't read: libc makes do with clone() where
 * there is none. When a consumer or an archive looks up a name libc tries the name service daemon
 * and the kernel's list of addresses, and works without them. A filter of its own, as these are no
 * refusals to log. */
static int hide_calls(enum confine_role role)
{
	const struct scmp_arg_cmp local = SCMP_A0(SCMP_CMP_EQ, AF_UNIX, 0);
	const struct scmp_arg_cmp kernel = SCMP_A0(SCMP_CMP_EQ, AF_NETLINK, 0);
	const uint32_t refuse = SCMP_ACT_ERRNO(EPERM);
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int nr = seccomp_syscall_resolve_name("clone3"), ret;

	if (!filter)
		return -ENOMEM;
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
	ret = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), nr, 0);
	if (ret == 0 && (role & (CONFINE_CONSUMER | A)))
		ret = seccomp_rule_add(filter, refuse, SCMP_SYS(socket), 1, local);
	if (ret == 0 && (role & (CONFINE_CONSUMER | A)))
		ret = seccomp_rule_add(filter, refuse, SCMP_SYS(socket), 1, kernel);
	if (ret == 0)
		ret = seccomp_load(filter);
	seccomp_release(filter);
	return ret;
}

int confine_calls(enum confine_role role)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int ret;

	if (!filter)
		return -ENOMEM;
	ret = hide_calls(role);
	/* All three are optional: log rejected calls; no mitigations against code that never runs
	 * here; a search tree instead of a list. */
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_LOG, 1);
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
	seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (ret == 0)
		ret = confine_calls_fill(filter, role);
	if (ret == 0)
		ret = seccomp_load(filter);
	seccomp_release(filter);
	return ret;
}

#endif
