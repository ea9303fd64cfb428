/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sock.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include "proto/codec.h"

#define SOCK_BACKLOG 1024
#define KERNEL_MAX_FDS 253 /* SCM_MAX_FD */

static int fill_address(struct sockaddr_un *addr, const char *path)
{
	memset(addr, 0, sizeof(*addr));
	addr->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(addr->sun_path))
		return -ENAMETOOLONG;
	strcpy(addr->sun_path, path);
	return 0;
}

int sock_connect(const char *path)
{
	const struct timeval timeout = { .tv_sec = SOCK_CONNECT_S }, forever = { 0 };
	struct sockaddr_un addr;
	int fd, ret = fill_address(&addr, path);

	if (ret < 0)
		return ret;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	ret = connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 ? -errno : 0;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &forever, sizeof(forever));
	if (ret < 0) {
		close(fd);
		return ret;
	}
	return fd;
}

/* A socket file without a listener was left by a process that died. */
static int remove_stale(const char *path)
{
	int fd = sock_connect(path);

	if (fd >= 0) {
		close(fd);
		return -EADDRINUSE;
	}
	if (fd == -ECONNREFUSED && unlink(path) < 0 && errno != ENOENT)
		return -errno;
	return fd == -ECONNREFUSED || fd == -ENOENT ? 0 : fd;
}

static int sock_listen_at(int fd, const struct sockaddr_un *addr, mode_t mode, gid_t gid)
{
	/* restrictive from the first moment: the mode is widened afterwards */
	mode_t old = umask(0177);
	int ret = bind(fd, (const struct sockaddr *)addr, sizeof(*addr)) < 0 ? -errno : 0;

	umask(old);
	if (ret < 0)
		return ret;
	if (gid != (gid_t)-1 && chown(addr->sun_path, (uid_t)-1, gid) < 0)
		return -errno;
	if (chmod(addr->sun_path, mode) < 0 || listen(fd, SOCK_BACKLOG) < 0)
		return -errno;
	return 0;
}

int sock_listen(const char *path, mode_t mode, gid_t gid)
{
	struct sockaddr_un addr;
	int fd, ret = fill_address(&addr, path);

	if (ret == 0)
		ret = remove_stale(path);
	if (ret < 0)
		return ret;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	ret = sock_listen_at(fd, &addr, mode, gid);
	if (ret < 0) {
		close(fd);
		return ret;
	}
	return fd;
}

int sock_pair(int ret_fds[2])
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_fds) < 0 ? -errno : 0;
}

int sock_peer(int fd, pid_t *ret_pid, uid_t *ret_uid, gid_t *ret_gid)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return -errno;
	*ret_pid = cred.pid;
	*ret_uid = cred.uid;
	*ret_gid = cred.gid;
	return 0;
}

int sock_send(int fd, const void *data, size_t len, const int *fds, unsigned int nr_fds)
{
	union {
		char bytes[CMSG_SPACE(MSG_MAX_FDS * sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec iov = { .iov_base = (void *)data, .iov_len = len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	if (nr_fds > MSG_MAX_FDS)
		return -EINVAL;
	if (nr_fds) {
		struct cmsghdr *cmsg;

		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(nr_fds * sizeof(int));
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(nr_fds * sizeof(int));
		memcpy(CMSG_DATA(cmsg), fds, nr_fds * sizeof(int));
	}
	do
		n = sendmsg(fd, &msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

void sock_accept_fds(int fd, bool accept_fds)
{
	const int on = accept_fds;

	(void)!setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &on, sizeof(on));
}

/* Closing a socket with unsent data takes up to the time of its SO_LINGER. */
void sock_drop(int fd)
{
	const struct linger none = { 0, 0 };

	if (fd < 0)
		return;
	(void)!setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	close(fd);
}

static void close_all(int *fds, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		sock_drop(fds[i]);
		fds[i] = -1;
	}
}

/* Move as many as fit to @ret_fds, close the rest. Return: their number. */
static unsigned int sock_take_passed_fds(struct msghdr *msg, int *ret_fds)
{
	unsigned int nr = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (nr < MSG_MAX_FDS)
				ret_fds[nr] = fd;
			else
				sock_drop(fd);
			nr++;
		}
	}
	return nr;
}

ssize_t sock_recv(int fd, void *buf, size_t cap, int *ret_fds, unsigned int *ret_nr_fds)
{
	union {
		/* the kernel closes the rest, and this process would wait for that */
		char bytes[CMSG_SPACE(KERNEL_MAX_FDS * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { .iov_base = buf, .iov_len = cap };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control),
	};
	ssize_t n;

	*ret_nr_fds = 0;
	for (unsigned int i = 0; i < MSG_MAX_FDS; i++)
		ret_fds[i] = -1;
	do
		n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	*ret_nr_fds = sock_take_passed_fds(&msg, ret_fds);
	/* Too many, or more than we may open: the message comes without them, so that
	 * its decoder fails where they are missed; the connection need not end. With
	 * an empty packet, which is treated as the end of the stream, they would not be closed. */
	if (n == 0 || (msg.msg_flags & MSG_CTRUNC) || *ret_nr_fds > MSG_MAX_FDS) {
		close_all(ret_fds, MSG_MAX_FDS);
		*ret_nr_fds = 0;
	}
	if (msg.msg_flags & MSG_TRUNC) {
		close_all(ret_fds, MSG_MAX_FDS);
		*ret_nr_fds = 0;
		return -EMSGSIZE;
	}
	return n;
}

/* Return: whether there was a message, be it an empty one. With SO_PASSCRED each
 * brings credentials; the end of the connection brings none. */
static bool drain_one(int fd)
{
	union {
		char bytes[CMSG_SPACE(KERNEL_MAX_FDS * sizeof(int)) +
			   CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr align;
	} control;
	int fds[MSG_MAX_FDS] = { -1, -1, -1, -1 };
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = sizeof(byte) };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control),
	};

	if (recvmsg(fd, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) < 0)
		return errno == EINTR;
	sock_take_passed_fds(&msg, fds);
	close_all(fds, MSG_MAX_FDS);
	return msg.msg_controllen > 0;
}

void sock_hang_up(int fd)
{
	const int on = 1;

	if (fd < 0)
		return;
	/* nothing more comes; descriptors that the kernel would discard are received here */
	shutdown(fd, SHUT_RD);
	if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == 0)
		while (drain_one(fd))
			;
	close(fd);
}
