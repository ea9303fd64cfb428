/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sys.h - the helper thread's system calls on descriptors, without libc's functions.
 *
 * The helper's descriptors are not in the program's table, but may have the same numbers. A
 * preloaded library that redirects connections, a sanitizer that tracks descriptors, or a program
 * that defines a function `send` must not intercept these calls. They set errno like libc's
 * functions, and are not cancellation points.
 */
#ifndef TRACER_BASE_SYS_H
#define TRACER_BASE_SYS_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "numbers.h"

#define AGENT_NSIG_BYTES 8 /* of the kernel's signal set */

/* ThreadSanitizer ends a forked child that starts a thread. With it, a program that links libltt.a
 * for another reason must not start the helper by its own call of these functions: libltt defines
 * them by other names there. */
#if defined(__SANITIZE_THREAD__)
#define AGENT_UNDER_TSAN 1
#elif defined(__has_feature)
#define AGENT_UNDER_TSAN __has_feature(thread_sanitizer)
#else
#define AGENT_UNDER_TSAN 0
#endif
#if AGENT_UNDER_TSAN
#define AGENT_IN_PLACE_OF(call) agent_own_##call
#else
#define AGENT_IN_PLACE_OF(call) call
#endif

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/** Of sys_optional(): calls for which a seccomp filter would end the program. */
extern uint32_t sys_forbidden;

/** The bit of a call that the helper can do without; 0: others. */
static inline uint32_t sys_optional(long nr)
{
	switch (nr) {
	case SYS_pread64:
		return 1u << 0;
	case SYS_fcntl:
		return 1u << 1;
	case SYS_faccessat:
		return 1u << 2;
	case SYS_readlinkat:
		return 1u << 3;
	case SYS_socket:
		return 1u << 4;
	case SYS_connect:
		return 1u << 5;
	case SYS_sendmsg:
		return 1u << 6;
	case SYS_getsockopt:
		return 1u << 7;
	case SYS_setsockopt:
		return 1u << 8;
	case SYS_shutdown:
		return 1u << 9;
	case SYS_signalfd4:
		return 1u << 10;
	case SYS_close_range:
		return 1u << 11;
	case SYS_unshare:
		return 1u << 12;
	case SYS_pidfd_open:
		return 1u << 13;
	case SYS_pselect6:
		return 1u << 14;
	case SYS_ppoll: /* of a helper that only takes leave */
		return 1u << 16;
#ifdef NR_FSTATAT
	case NR_FSTATAT:
		return 1u << 15;
#endif
	default:
		return 0;
	}
}

static inline bool sys_may_call(long nr)
{
	return !(__atomic_load_n(&sys_forbidden, __ATOMIC_RELAXED) & sys_optional(nr));
}

static inline long sys_refused(void)
{
	errno = EPERM;
	return -1;
}

/** As syscall(), for the calls of sys_optional(). */
#define sys_call(nr, ...) (sys_may_call(nr) ? syscall(nr, __VA_ARGS__) : sys_refused())

static inline int sys_open(const char *path, int flags)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0);
}

/** -1 is allowed. */
static inline void sys_close(int fd)
{
	if (fd >= 0)
		syscall(SYS_close, fd);
}

static inline ssize_t sys_read(int fd, void *ret, size_t size)
{
	return syscall(SYS_read, fd, ret, size);
}

static inline ssize_t sys_pread(int fd, void *ret, size_t size, off_t offset)
{
	return sys_call(SYS_pread64, fd, ret, size, offset);
}

static inline int sys_fstat(int fd, struct stat *ret)
{
	return (int)syscall(NR_FSTAT, fd, ret);
}

static inline int sys_stat(const char *path, struct stat *ret)
{
#ifdef NR_FSTATAT
	return (int)sys_call(NR_FSTATAT, AT_FDCWD, path, ret, 0);
#else
	return stat(path, ret);
#endif
}

static inline int sys_lstat(const char *path, struct stat *ret)
{
#ifdef NR_FSTATAT
	return (int)sys_call(NR_FSTATAT, AT_FDCWD, path, ret, AT_SYMLINK_NOFOLLOW);
#else
	return lstat(path, ret);
#endif
}

static inline ssize_t sys_readlink(const char *path, char *ret, size_t size)
{
	return sys_call(SYS_readlinkat, AT_FDCWD, path, ret, size);
}

static inline int sys_fcntl(int fd, int command, unsigned long arg)
{
	return (int)sys_call(SYS_fcntl, fd, command, arg);
}

static inline int sys_socket(int domain, int type)
{
	return (int)sys_call(SYS_socket, domain, type, 0);
}

static inline int sys_connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	return (int)sys_call(SYS_connect, fd, addr, len);
}

static inline ssize_t sys_send(int fd, const void *data, size_t len)
{
	return syscall(SYS_sendto, fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
}

/** Send data with @nr descriptors, 2 at most. */
static inline ssize_t sys_send_fds(int fd, const void *data, size_t len, const int *fds,
				   unsigned int nr)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = { .header = { .cmsg_len = CMSG_LEN(nr * sizeof(int)),
				  .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS } };
	struct iovec iov = { .iov_base = (void *)data, .iov_len = len };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = CMSG_SPACE(nr * sizeof(int)) };

	memcpy(CMSG_DATA(&control.header), fds, nr * sizeof(int));
	return sys_call(SYS_sendmsg, fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static inline ssize_t sys_recvmsg(int fd, struct msghdr *msg)
{
	return syscall(SYS_recvmsg, fd, msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
}

static inline int sys_peer(int fd, struct ucred *ret)
{
	socklen_t len = sizeof(*ret);

	return (int)sys_call(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, ret, &len);
}

/** Set the size of the send buffer, up to the system's limit. */
static inline void sys_send_buffer(int fd, int bytes)
{
	sys_call(SYS_setsockopt, fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

/** Shut down the connection in both directions. */
static inline void sys_hang_up(int fd)
{
	sys_call(SYS_shutdown, fd, SHUT_RDWR);
}

/** The peer reads the end of the connection behind all that was sent. */
static inline void sys_end_sending(int fd)
{
	sys_call(SYS_shutdown, fd, SHUT_WR);
}

/** @ms: -1: without limit. */
static inline int sys_poll(struct pollfd *fds, unsigned long nr, int ms)
{
	struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000l };

	return (int)sys_call(SYS_ppoll, fds, nr, ms < 0 ? NULL : &time, NULL, AGENT_NSIG_BYTES);
}

/** As sys_poll(), for programs that may open fewer files than @nr (RLIMIT_NOFILE): poll() fails
 *  then, even for descriptors that are open. @nr: a few; descriptors below FD_SETSIZE. */
static inline int sys_select(struct pollfd *fds, unsigned long nr, int ms)
{
	struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000l };
	fd_set readable, writable;
	int ready, end = 0;

	FD_ZERO(&readable);
	FD_ZERO(&writable);
	for (unsigned long i = 0; i < nr; i++) {
		if (fds[i].fd < 0 || fds[i].fd >= FD_SETSIZE)
			continue;
		FD_SET(fds[i].fd, fds[i].events & POLLOUT ? &writable : &readable);
		end = fds[i].fd >= end ? fds[i].fd + 1 : end;
	}
	ready = (int)sys_call(SYS_pselect6, end, &readable, &writable, NULL, ms < 0 ? NULL : &time,
			      NULL);
	for (unsigned long i = 0; i < nr; i++) {
		fds[i].revents = 0;
		if (ready <= 0 || fds[i].fd < 0 || fds[i].fd >= FD_SETSIZE)
			continue;
		fds[i].revents = (short)((FD_ISSET(fds[i].fd, &readable) ? POLLIN : 0) |
					 (FD_ISSET(fds[i].fd, &writable) ? POLLOUT : 0));
	}
	return ready;
}

static inline int sys_signalfd(unsigned long long mask, int flags)
{
	return (int)sys_call(SYS_signalfd4, -1, &mask, AGENT_NSIG_BYTES, flags);
}

#endif
