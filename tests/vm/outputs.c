/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * outputs - makes system calls that fill memory of their caller, between two calls of getpriority,
 * and prints the records of their exits as babeltrace2 does, in the order of the calls: a line
 * "NAME: FIELDS" each. Some calls fail.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#define SHOWN 256 /* bytes of a buffer that are recorded */

static char out[1 << 18];
static size_t used;

static void __attribute__((format(printf, 1, 2))) say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	used += (size_t)vsnprintf(out + used, sizeof(out) - used, format, args);
	va_end(args);
}

/* Make a call, and begin its line. */
static long called(const char *name, long ret)
{
	ret = ret < 0 ? -errno : ret;
	say("\nsyscall_exit_%s: ret = %ld", name, ret);
	return ret;
}

#define CALL(name, ...) called(name, syscall(__VA_ARGS__))

static void number(const char *name, long long value)
{
	say(", %s = %lld", name, value);
}

static void positive(const char *name, unsigned long long value)
{
	say(", %s = %llu", name, value);
}

static void hex(const char *name, unsigned long long value)
{
	say(", %s = 0x%llX", name, value);
}

static void text(const char *name, const char *value)
{
	say(", %s = \"%s\"", name, value);
}

/* Of the events of poll() or epoll: @prefix is "POLL" or "EPOLL". */
static const char *label(const char *prefix, unsigned int value)
{
	static const char *const names[] = { "IN", "PRI", "OUT", "ERR", "HUP", "NVAL" };
	static char text[100];
	size_t len = 0;

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (value & 1u << i)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s%s",
						len ? "|" : "\"", prefix, names[i]);
	snprintf(text + len, sizeof(text) - len, "%s", len ? "\"" : "<unknown>");
	return text;
}

/* A sequence of elements, @stride bytes apart, behind their number. */
static void elements(const char *name, const void *from, size_t nr, size_t size, size_t stride,
		     const char *format)
{
	say(", _%s_length = %zu, %s = [", name, nr, name);
	for (size_t i = 0; i < nr; i++) {
		unsigned long long value = 0;

		memcpy(&value, (const char *)from + i * stride, size);
		say("%s [%zu] = ", i ? "," : "", i);
		if (*format == 'x')
			say("0x%llX", value);
		else if (*format != 'u')
			say("( %s : container = 0x%llX )", label(format, (unsigned int)value),
			    value);
		else
			say("%llu", value);
	}
	say(" ]");
}

static void bytes(const char *name, const void *from, long nr)
{
	elements(name, from, nr < 0 ? 0 : nr > SHOWN ? SHOWN : (size_t)nr, 1, 1, "x");
}

/* --- buffers ------------------------------------------------------------------------ */

static char buffer[1000];
static int file, pipes[2], sockets[2];

static void buffers(void)
{
	char path[100];

	bytes("buf", buffer, CALL("pread64", SYS_pread64, file, buffer, sizeof(buffer), 1l));
	bytes("buf", buffer, CALL("read", SYS_read, file, buffer, 5));
	bytes("buf", buffer, CALL("read", SYS_read, -1, buffer, 5));
	bytes("buf", buffer, CALL("read", SYS_read, file, NULL, 0));
	/* without a NUL behind it */
	memset(path, 'z', sizeof(path));
	path[CALL("readlink", SYS_readlink, "/proc/self/exe", path, 99)] = 0;
	text("buf", path);
	(void)CALL("readlink", SYS_readlink, "/nowhere", path, 99);
	text("buf", "");
	path[CALL("readlinkat", SYS_readlinkat, -1, "/proc/self/exe", path, 4)] = 0;
	text("buf", path);
	(void)CALL("getcwd", SYS_getcwd, path, sizeof(path));
	text("buf", path);
	(void)CALL("flistxattr", SYS_flistxattr, file, NULL, 0);
	bytes("list", "", 0);
	(void)CALL("mincore", SYS_mincore, (unsigned long)buffer & -4096ul, 4097l, path);
	bytes("vec", path, 2);
}

static void sent(const char *text)
{
	(void)CALL("sendto", SYS_sendto, sockets[1], text, strlen(text), 0, NULL, 0);
}

static void source(const void *data, long nr)
{
	positive("msg_msg_name_sa_family", nr ? AF_UNIX : 0);
	bytes("msg_msg_iov", "hello", 5);
	bytes("msg_msg_name_sa_data", data, nr);
}

/* With and without the address of the sender, which is the socket of socket_calls(). */
static void messages(struct msghdr *message)
{
	struct sockaddr_un names[2] = { 0 };
	struct iovec parts[4] = { { buffer, 3 }, { buffer + 10, 500 }, { buffer, 3 }, { NULL, 1 } };
	struct mmsghdr many[4] = {
		{ .msg_hdr = { &names[0], sizeof(*names), &parts[0], 2 } },
		{ .msg_hdr = { NULL, 0, &parts[2], 1 } },
		{ .msg_hdr = { &names[1], 4, &parts[0], 2 } },
	};
	unsigned int lengths[] = { 5, 2, 300 }, address_lengths[] = { 10, 0, 10 };
	char joined[307], addresses[8];

	sent("hello");
	(void)CALL("recvmsg", SYS_recvmsg, sockets[0], message, 0);
	source("", 0);
	sent("hello");
	message->msg_name = &names[0];
	message->msg_namelen = sizeof(*names);
	(void)CALL("recvmsg", SYS_recvmsg, sockets[0], message, 0);
	source("\0outputs", 8);
	sent("hello");
	message->msg_namelen = 4;
	(void)CALL("recvmsg", SYS_recvmsg, sockets[0], message, 0);
	source("\0o", 2);
	(void)CALL("recvmsg", SYS_recvmsg, -1, message, 0);
	positive("msg_msg_name_sa_family", 0);
	bytes("msg_msg_iov", "", 0);
	bytes("msg_msg_name_sa_data", "", 0);

	memset(joined, 'm', sizeof(joined) - 1);
	joined[sizeof(joined) - 1] = '\0';
	sent("hello");
	sent("hi");
	sent(joined + 6);
	/* each in memory of its own, so that the next call leaves them as they were */
	parts[2].iov_base = buffer + 600;
	many[2].msg_hdr.msg_iov = (struct iovec[]){ { buffer + 610, 2 }, { buffer + 620, 300 } };
	(void)CALL("recvmmsg", SYS_recvmmsg, sockets[0], many, 4, MSG_DONTWAIT, NULL);
	elements("mmsg_msg_len", lengths, 3, 4, 4, "u");
	elements("mmsg_msg_namelen", address_lengths, 3, 4, 4, "u");
	memcpy(joined, "hellohi", 7);
	bytes("mmsg_msg_iov", joined, sizeof(joined));
	/* the kernel has cut the second one, and returns its whole length: of both that has room */
	memcpy(addresses, &names[0], 4);
	memcpy(addresses + 4, &names[1], 4);
	bytes("mmsg_msg_name", addresses, sizeof(addresses));
	(void)CALL("recvmmsg", SYS_recvmmsg, sockets[0], many, 4, MSG_DONTWAIT, NULL);
	elements("mmsg_msg_len", NULL, 0, 4, 4, "u");
	elements("mmsg_msg_namelen", NULL, 0, 4, 4, "u");
	bytes("mmsg_msg_iov", "", 0);
	bytes("mmsg_msg_name", "", 0);
}

/* The first bytes of an array of buffers; also where that does not fit into one. */
static void vectors(void)
{
	struct iovec parts[] = { { buffer, 2 }, { NULL, 0 }, { buffer + 100, 300 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 3 };
	char joined[302];
	long nr = CALL("preadv", SYS_preadv, file, parts, 3l, 1l, 0l);

	memcpy(joined, buffer, 2);
	memcpy(joined + 2, buffer + 100, 300);
	bytes("vec", joined, nr);
	bytes("vec", buffer, CALL("readv", SYS_readv, -1, parts, 3l));
	messages(&message);
}

static void entries(void)
{
	static char more[2000];
	int folder = open("/proc/self", O_RDONLY | O_DIRECTORY);
	long nr;

	say("\nsyscall_exit_openat: ret = %d", folder);
	nr = CALL("getdents64", SYS_getdents64, folder, more, sizeof(more));
	bytes("dirent", more, nr);
	(void)CALL("close", SYS_close, folder);
}

/* --- sockets and waiting ------------------------------------------------------------ */

static void socket_calls(void)
{
	struct sockaddr_un name = { 0 };
	socklen_t len = sizeof(name);
	int value = 0;

	(void)CALL("socketpair", SYS_socketpair, AF_UNIX, SOCK_DGRAM, 0, sockets);
	say(", usockvec = [ [0] = %d, [1] = %d ]", sockets[0], sockets[1]);
	name = (struct sockaddr_un){ .sun_family = AF_UNIX, .sun_path = "\0outputs" };
	(void)CALL("bind", SYS_bind, sockets[1], &name, 2 + 8);
	memset(&name, 0, sizeof(name));
	(void)CALL("getsockname", SYS_getsockname, sockets[1], &name, &len);
	positive("usockaddr_sa_family", AF_UNIX);
	bytes("usockaddr_sa_data", name.sun_path, 8);
	(void)CALL("sendto", SYS_sendto, sockets[1], "hello", 5, 0, NULL, 0);
	len = sizeof(name);
	(void)CALL("recvfrom", SYS_recvfrom, sockets[0], buffer, 3, MSG_TRUNC, &name, &len);
	positive("addr_sa_family", AF_UNIX);
	bytes("ubuf", "hel", 3);
	bytes("addr_sa_data", "\0outputs", 8);
	(void)CALL("sendto", SYS_sendto, sockets[1], "hello", 5, 0, NULL, 0);
	len = 6;
	(void)CALL("recvfrom", SYS_recvfrom, sockets[0], buffer, 3, MSG_TRUNC, &name, &len);
	positive("addr_sa_family", AF_UNIX);
	bytes("ubuf", "hel", 3);
	bytes("addr_sa_data", "\0out", 4);
	for (len = 0; len < 4; len++) {
		socklen_t room = len; /* the call returns 10 */

		(void)CALL("getsockname", SYS_getsockname, sockets[1], &name, &room);
		positive("usockaddr_sa_family", len < 2 ? 0 : AF_UNIX);
		bytes("usockaddr_sa_data", name.sun_path, len < 2 ? 0 : len - 2);
	}
	len = sizeof(value);
	(void)CALL("getsockopt", SYS_getsockopt, sockets[0], SOL_SOCKET, SO_TYPE, &value, &len);
	bytes("optval", &value, 4);
	len = 1;
	(void)CALL("getsockname", SYS_getsockname, 0, &name, &len);
	positive("usockaddr_sa_family", 0);
	bytes("usockaddr_sa_data", "", 0);
}

static void waits(void)
{
	struct pollfd polled[3] = { { .fd = pipes[0], .events = POLLIN },
				    { .fd = pipes[1], .events = POLLIN | POLLOUT },
				    { .fd = 4711, .events = POLLPRI } };
	struct epoll_event events[4] = { { .events = EPOLLOUT, .data.u64 = 0x123456789abcull } };
	fd_set set;
	int epoll;

	(void)CALL("poll", SYS_poll, polled, 3, 0);
	elements("ufds_fd", &polled[0].fd, 3, 4, 8, "u");
	elements("ufds_events", &polled[0].events, 3, 2, 8, "POLL");
	elements("ufds_revents", &polled[0].revents, 3, 2, 8, "POLL");
	epoll = (int)CALL("epoll_create1", SYS_epoll_create1, 0);
	(void)CALL("epoll_ctl", SYS_epoll_ctl, epoll, EPOLL_CTL_ADD, pipes[1], events);
	memset(events, 0, sizeof(events));
	(void)CALL("epoll_wait", SYS_epoll_wait, epoll, events, 4, 0);
	elements("events_events", &events[0].events, 1, 4, sizeof(*events), "EPOLL");
	elements("events_data", &events[0].data, 1, 8, sizeof(*events), "x");
	FD_ZERO(&set);
	FD_SET(pipes[1], &set);
	(void)CALL("select", SYS_select, pipes[1] + 1, NULL, &set, NULL,
		   &(struct timeval){ 0, 0 });
	elements("inp", NULL, 0, 8, 8, "x");
	elements("outp", &set, 1, 8, 8, "x");
	elements("exp", NULL, 0, 8, 8, "x");
}

/* --- structures --------------------------------------------------------------------- */

static void stat_members(const struct stat *s)
{
	positive("statbuf_st_dev", s->st_dev);
	positive("statbuf_st_ino", s->st_ino);
	hex("statbuf_st_mode", s->st_mode);
	positive("statbuf_st_nlink", s->st_nlink);
	positive("statbuf_st_uid", s->st_uid);
	positive("statbuf_st_gid", s->st_gid);
	positive("statbuf_st_rdev", s->st_rdev);
	number("statbuf_st_size", s->st_size);
	number("statbuf_st_blksize", s->st_blksize);
	number("statbuf_st_blocks", s->st_blocks);
	number("statbuf_st_atime", s->st_atim.tv_sec);
	number("statbuf_st_atime_nsec", s->st_atim.tv_nsec);
	number("statbuf_st_mtime", s->st_mtim.tv_sec);
	number("statbuf_st_mtime_nsec", s->st_mtim.tv_nsec);
	number("statbuf_st_ctime", s->st_ctim.tv_sec);
	number("statbuf_st_ctime_nsec", s->st_ctim.tv_nsec);
}

static void stat_calls(void)
{
	struct stat status;
	struct statfs fs;

	(void)CALL("newstat", SYS_stat, "/proc/self/exe", &status);
	stat_members(&status);
	(void)CALL("newfstat", SYS_fstat, file, &status);
	stat_members(&status);
	(void)CALL("newfstatat", SYS_newfstatat, AT_FDCWD, "/", &status, 0);
	stat_members(&status);
	(void)CALL("newlstat", SYS_lstat, "/nowhere", &status);
	memset(&status, 0, sizeof(status));
	stat_members(&status);
	(void)CALL("fstatfs", SYS_fstatfs, file, &fs);
	hex("buf_f_type", (unsigned long long)fs.f_type);
	number("buf_f_bsize", fs.f_bsize);
	number("buf_f_blocks", (long long)fs.f_blocks);
	number("buf_f_bfree", (long long)fs.f_bfree);
	number("buf_f_bavail", (long long)fs.f_bavail);
	number("buf_f_files", (long long)fs.f_files);
	number("buf_f_ffree", (long long)fs.f_ffree);
	say(", buf_f_fsid_val = [ [0] = %d, [1] = %d ]", fs.f_fsid.__val[0], fs.f_fsid.__val[1]);
	number("buf_f_namelen", fs.f_namelen);
	number("buf_f_frsize", fs.f_frsize);
	hex("buf_f_flags", (unsigned long long)fs.f_flags);
}

static void statx_call(void)
{
	struct statx x;

	(void)CALL("statx", SYS_statx, file, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &x);
	hex("buffer_stx_mask", x.stx_mask);
	positive("buffer_stx_blksize", x.stx_blksize);
	hex("buffer_stx_attributes", x.stx_attributes);
	positive("buffer_stx_nlink", x.stx_nlink);
	positive("buffer_stx_uid", x.stx_uid);
	positive("buffer_stx_gid", x.stx_gid);
	hex("buffer_stx_mode", x.stx_mode);
	positive("buffer_stx_ino", x.stx_ino);
	positive("buffer_stx_size", x.stx_size);
	positive("buffer_stx_blocks", x.stx_blocks);
	hex("buffer_stx_attributes_mask", x.stx_attributes_mask);
	number("buffer_stx_atime_tv_sec", x.stx_atime.tv_sec);
	positive("buffer_stx_atime_tv_nsec", x.stx_atime.tv_nsec);
	number("buffer_stx_btime_tv_sec", x.stx_btime.tv_sec);
	positive("buffer_stx_btime_tv_nsec", x.stx_btime.tv_nsec);
	number("buffer_stx_ctime_tv_sec", x.stx_ctime.tv_sec);
	positive("buffer_stx_ctime_tv_nsec", x.stx_ctime.tv_nsec);
	number("buffer_stx_mtime_tv_sec", x.stx_mtime.tv_sec);
	positive("buffer_stx_mtime_tv_nsec", x.stx_mtime.tv_nsec);
	positive("buffer_stx_rdev_major", x.stx_rdev_major);
	positive("buffer_stx_rdev_minor", x.stx_rdev_minor);
	positive("buffer_stx_dev_major", x.stx_dev_major);
	positive("buffer_stx_dev_minor", x.stx_dev_minor);
	positive("buffer_stx_mnt_id", x.stx_mnt_id);
}

static void of_the_system(void)
{
	struct utsname uts;
	struct sysinfo info;
	struct rlimit64 limit;
	unsigned int cpu, node, ids[3];

	(void)CALL("newuname", SYS_uname, &uts);
	text("name_sysname", uts.sysname);
	text("name_nodename", uts.nodename);
	text("name_release", uts.release);
	text("name_version", uts.version);
	text("name_machine", uts.machine);
	text("name_domainname", uts.domainname);
	(void)CALL("sysinfo", SYS_sysinfo, &info);
	number("info_uptime", info.uptime);
	say(", info_loads = [ [0] = %lu, [1] = %lu, [2] = %lu ]", info.loads[0], info.loads[1],
	    info.loads[2]);
	positive("info_totalram", info.totalram);
	positive("info_freeram", info.freeram);
	positive("info_sharedram", info.sharedram);
	positive("info_bufferram", info.bufferram);
	positive("info_totalswap", info.totalswap);
	positive("info_freeswap", info.freeswap);
	positive("info_procs", info.procs);
	positive("info_totalhigh", info.totalhigh);
	positive("info_freehigh", info.freehigh);
	positive("info_mem_unit", info.mem_unit);
	(void)CALL("prlimit64", SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit);
	positive("old_rlim_rlim_cur", limit.rlim_cur);
	positive("old_rlim_rlim_max", limit.rlim_max);
	(void)CALL("getcpu", SYS_getcpu, &cpu, &node, NULL);
	positive("cpup", cpu);
	positive("nodep", node);
	(void)CALL("getresgid", SYS_getresgid, &ids[0], &ids[1], &ids[2]);
	positive("rgidp", ids[0]);
	positive("egidp", ids[1]);
	positive("sgidp", ids[2]);
}

static void times_of_day(void)
{
	struct timespec time;
	struct timeval day;
	struct timezone zone;
	struct itimerspec timer, before;
	int fd;

	(void)CALL("clock_gettime", SYS_clock_gettime, CLOCK_BOOTTIME, &time);
	number("tp_tv_sec", time.tv_sec);
	number("tp_tv_nsec", time.tv_nsec);
	(void)CALL("clock_getres", SYS_clock_getres, CLOCK_REALTIME, NULL);
	number("tp_tv_sec", 0);
	number("tp_tv_nsec", 0);
	(void)CALL("gettimeofday", SYS_gettimeofday, &day, &zone);
	number("tv_tv_sec", day.tv_sec);
	number("tv_tv_usec", day.tv_usec);
	number("tz_tz_minuteswest", zone.tz_minuteswest);
	number("tz_tz_dsttime", zone.tz_dsttime);
	timer = (struct itimerspec){ { 1, 2 }, { 5000, 4 } };
	fd = (int)CALL("timerfd_create", SYS_timerfd_create, CLOCK_MONOTONIC, 0);
	(void)CALL("timerfd_settime", SYS_timerfd_settime, fd, 0, &timer, &before);
	for (size_t i = 0; i < 4; i++)
		number((const char *const[]){ "otmr_it_interval_tv_sec", "otmr_it_interval_tv_nsec",
					      "otmr_it_value_tv_sec", "otmr_it_value_tv_nsec" }[i],
		       0);
	(void)CALL("timerfd_gettime", SYS_timerfd_gettime, fd, &timer);
	number("otmr_it_interval_tv_sec", 1);
	number("otmr_it_interval_tv_nsec", 2);
	number("otmr_it_value_tv_sec", timer.it_value.tv_sec);
	number("otmr_it_value_tv_nsec", timer.it_value.tv_nsec);
	(void)CALL("close", SYS_close, fd);
}

static void capabilities(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct caps[2];
	size_t stride = sizeof(*caps);

	(void)CALL("capget", SYS_capget, &header, caps);
	elements("dataptr_effective", &caps[0].effective, 2, 4, stride, "x");
	elements("dataptr_permitted", &caps[0].permitted, 2, 4, stride, "x");
	elements("dataptr_inheritable", &caps[0].inheritable, 2, 4, stride, "x");
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* Where the call may be restarted, the program sees another error than the kernel's code. */
static void sleeps(void)
{
	const struct itimerval soon = { .it_value = { 0, 50000 } };
	struct timespec time = { 5000, 0 }, left = { 0 };

	setitimer(ITIMER_REAL, &soon, NULL);
	(void)syscall(SYS_nanosleep, &time, &left);
	say("\nsyscall_exit_nanosleep: ret = -516");
	number("rmtp_tv_sec", left.tv_sec);
	number("rmtp_tv_nsec", left.tv_nsec);
	time = (struct timespec){ 0, 1000 };
	(void)CALL("clock_nanosleep", SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, &left);
	number("rmtp_tv_sec", 0);
	number("rmtp_tv_nsec", 0);
}

/* --- processes and signals ---------------------------------------------------------- */

static void rusage_members(const struct rusage *usage)
{
	number("ru_ru_utime_tv_sec", usage->ru_utime.tv_sec);
	number("ru_ru_utime_tv_usec", usage->ru_utime.tv_usec);
	number("ru_ru_stime_tv_sec", usage->ru_stime.tv_sec);
	number("ru_ru_stime_tv_usec", usage->ru_stime.tv_usec);
	number("ru_ru_maxrss", usage->ru_maxrss);
	number("ru_ru_minflt", usage->ru_minflt);
	number("ru_ru_majflt", usage->ru_majflt);
	number("ru_ru_inblock", usage->ru_inblock);
	number("ru_ru_oublock", usage->ru_oublock);
	number("ru_ru_nvcsw", usage->ru_nvcsw);
	number("ru_ru_nivcsw", usage->ru_nivcsw);
}

static void children(int first, int second)
{
	struct rusage usage = { 0 };
	siginfo_t info = { 0 };
	int status = 4711;

	(void)CALL("wait4", SYS_wait4, first, &status, 0, &usage);
	number("stat_addr", status);
	rusage_members(&usage);
	memset(&usage, 7, sizeof(usage));
	(void)CALL("wait4", SYS_wait4, second, &status, WNOHANG, &usage);
	number("stat_addr", 0);
	memset(&usage, 0, sizeof(usage));
	rusage_members(&usage);
	(void)CALL("kill", SYS_kill, second, SIGKILL);
	(void)CALL("waitid", SYS_waitid, P_PID, second, &info, WEXITED, &usage);
	number("infop_si_signo", SIGCHLD);
	number("infop_si_errno", 0);
	number("infop_si_code", CLD_KILLED);
	number("infop_si_pid", second);
	positive("infop_si_uid", 0);
	number("infop_si_status", SIGKILL);
	rusage_members(&usage);
}

static void signals(void)
{
	struct {
		void *handler;
		unsigned long flags;
		void *restorer;
		uint64_t mask;
	} action;
	uint64_t mask = 1ull << (SIGUSR1 - 1), old = 0;

	(void)CALL("rt_sigaction", SYS_rt_sigaction, SIGUSR2, NULL, &action, 8);
	hex("oact_sa_handler", (unsigned long)SIG_IGN);
	hex("oact_sa_flags", action.flags);
	hex("oact_sa_mask", action.mask);
	(void)CALL("rt_sigprocmask", SYS_rt_sigprocmask, SIG_BLOCK, &mask, NULL, 8);
	hex("oset", 0);
	(void)CALL("rt_sigprocmask", SYS_rt_sigprocmask, SIG_UNBLOCK, &mask, &old, 8);
	hex("oset", old);
}

/* --- 32-bit programs ---------------------------------------------------------------- */

#ifdef __x86_64__
static long call32(const char *name, long nr, long a, long b, long c)
{
	long ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(nr), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	say("\ncompat_syscall_exit_%s: ret = %d", name, (int)ret);
	return (int)ret;
}

static void of_32_bits(char *low)
{
	bytes("buf", low, call32("read", 3, file, (long)low, 7));
	(void)call32("pipe", 42, (long)low, 0, 0);
	say(", fildes = [ [0] = %d, [1] = %d ]", ((int *)low)[0], ((int *)low)[1]);
	/* other layouts than those of 64 bits */
	(void)call32("newfstat", 108, file, (long)low, 0);
}
#else
static void of_32_bits(char *low)
{
	(void)low;
}
#endif

int main(int argc, char **argv)
{
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	int first, second;

	file = open(argv[0], O_RDONLY);
	if (argc < 1 || file < 0 || low == MAP_FAILED || chdir("/usr"))
		err(1, "%s", argv[0]);
	signal(SIGUSR2, SIG_IGN);
	signal(SIGALRM, on_alarm);
	memset(low, 0, 4096);
	memset(out, 0, sizeof(out));
	first = fork();
	if (!first)
		_exit(77);
	second = fork();
	if (!second)
		while (true)
			pause();
	waitid(P_PID, (id_t)first, &(siginfo_t){ 0 }, WEXITED | WNOWAIT);
	(void)CALL("getpriority", SYS_getpriority, 9, 9);
	(void)CALL("pipe2", SYS_pipe2, pipes, O_CLOEXEC);
	say(", fildes = [ [0] = %d, [1] = %d ]", pipes[0], pipes[1]);
	buffers();
	entries();
	socket_calls();
	vectors();
	waits();
	stat_calls();
	statx_call();
	of_the_system();
	times_of_day();
	capabilities();
	sleeps();
	children(first, second);
	signals();
	of_32_bits(low);
	(void)CALL("getpriority", SYS_getpriority, 9, 9);
	printf("%d%s\n", getpid(), out);
	return fflush(stdout) ? 1 : 0;
}
