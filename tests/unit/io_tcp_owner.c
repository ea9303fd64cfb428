/* SPDX-License-Identifier: GPL-2.0-only */
/* The owner of the other end of a connection: by a query of the kernel, and by its table. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/tcp_owner.h"
#include "check.h"

#define SOMEBODY 4711

/* ::1, or 127.0.0.1, as a socket of the family wants it. */
static socklen_t loopback(int family, struct sockaddr_storage *addr)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;
	struct sockaddr_in *in = (struct sockaddr_in *)addr;

	memset(addr, 0, sizeof(*addr));
	addr->ss_family = (sa_family_t)family;
	if (family == AF_INET6) {
		in6->sin6_addr = in6addr_loopback;
		return sizeof(*in6);
	}
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return sizeof(*in);
}

/* A socket belongs to the user that made it. If the test can't become another user: its own. */
static int socket_of(uid_t uid, int family)
{
	int fd;

	if (syscall(SYS_setresuid, -1, uid, -1) < 0)
		return socket(family, SOCK_STREAM, 0);
	fd = socket(family, SOCK_STREAM, 0);
	CHECK_IS(syscall(SYS_setresuid, -1, 0, -1), ==, 0);
	return fd;
}

static void open_nothing(bool on)
{
	struct rlimit limit;

	CHECK_IS(getrlimit(RLIMIT_NOFILE, &limit), ==, 0);
	limit.rlim_cur = on ? 0 : limit.rlim_max;
	CHECK_IS(setrlimit(RLIMIT_NOFILE, &limit), ==, 0);
}

static void try(int diag_fd, int listening, int calling)
{
	uid_t uid = 12345, caller = geteuid() == 0 ? SOMEBODY : geteuid();
	struct sockaddr_storage addr;
	socklen_t len = loopback(listening, &addr);
	int listener = socket(listening, SOCK_STREAM, 0), any = 0, fd, client;

	if (listening == AF_INET6 && calling == AF_INET) {
		((struct sockaddr_in6 *)&addr)->sin6_addr = in6addr_any;
		setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &any, sizeof(any));
	}
	if (listener < 0 || bind(listener, (struct sockaddr *)&addr, len) < 0) {
		CHECK_IS(listening, ==, AF_INET6); /* there may be none */
		close(listener);
		return;
	}
	CHECK_IS(listen(listener, 1), ==, 0);
	CHECK_IS(getsockname(listener, (struct sockaddr *)&addr, &len), ==, 0);
	any = ((struct sockaddr_in *)&addr)->sin_port; /* in the same place for both */
	len = loopback(calling, &addr);
	((struct sockaddr_in *)&addr)->sin_port = (in_port_t)any;
	client = socket_of(SOMEBODY, calling);
	CHECK_IS(connect(client, (struct sockaddr *)&addr, len), ==, 0);
	fd = accept(listener, NULL, NULL);
	CHECK_IS(fd, >=, 0);

	CHECK_IS(tcp_owner(diag_fd, fd, &uid), ==, 0);
	CHECK_IS(uid, ==, caller);
	CHECK_IS(tcp_owner(diag_fd, client, &uid), ==, 0); /* the other way round it is ours */
	CHECK_IS(uid, ==, geteuid());
	close(client);
	if (diag_fd >= 0)
		open_nothing(true); /* no table of all connections is read for one that is closed */
	CHECK_IS(tcp_owner(diag_fd, fd, &uid), ==, -ESRCH); /* and not root's */
	open_nothing(false);
	close(fd);
	close(listener);
}

static void all(int diag_fd)
{
	try(diag_fd, AF_INET, AF_INET);
	try(diag_fd, AF_INET6, AF_INET6);
	try(diag_fd, AF_INET6, AF_INET);
}

int main(void)
{
	int diag_fd = tcp_owner_open();

	if (diag_fd >= 0)
		all(diag_fd);
	all(-1);
	close_fd(diag_fd);
	return 0;
}
