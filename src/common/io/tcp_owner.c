/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tcp_owner.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct question {
	struct nlmsghdr head;
	struct inet_diag_req_v2 req;
};

/* --- query of one connection -------------------------------------------------------------- */

/* Port and address of one end, as the kernel wants them. */
static void put_end(const struct sockaddr_storage *end, __be16 *ret_port, __be32 ret_addr[4])
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)end;
	const struct sockaddr_in *in = (const struct sockaddr_in *)end;

	if (end->ss_family == AF_INET6) {
		*ret_port = in6->sin6_port;
		memcpy(ret_addr, &in6->sin6_addr, sizeof(in6->sin6_addr));
	} else {
		*ret_port = in->sin_port;
		memcpy(ret_addr, &in->sin_addr, sizeof(in->sin_addr));
	}
}

/* The other end's socket has the same addresses, exchanged. */
static int tcp_owner_query(int diag_fd, const struct sockaddr_storage *own,
			   const struct sockaddr_storage *peer)
{
	struct question q = {
		.head = { .nlmsg_len = sizeof(q),
			  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			  .nlmsg_flags = NLM_F_REQUEST },
		.req = { .sdiag_protocol = IPPROTO_TCP, .idiag_states = ~0u },
	};

	q.req.sdiag_family = (__u8)peer->ss_family;
	q.req.id.idiag_cookie[0] = q.req.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	put_end(peer, &q.req.id.idiag_sport, q.req.id.idiag_src);
	put_end(own, &q.req.id.idiag_dport, q.req.id.idiag_dst);
	return send(diag_fd, &q, sizeof(q), 0) == sizeof(q) ? 0 : -errno;
}

/* The kernel has answered before send() returned. A closed socket has no owner, and both methods
 * report root for it: it has no inode. */
static int owner_by_diag(int diag_fd, const struct sockaddr_storage *own,
			 const struct sockaddr_storage *peer, uid_t *ret)
{
	union {
		struct nlmsghdr head;
		uint8_t bytes[4096];
	} answer;
	const struct inet_diag_msg *msg;
	int error = tcp_owner_query(diag_fd, own, peer);
	ssize_t n;

	if (error < 0)
		return error;
	n = recv(diag_fd, &answer, sizeof(answer), 0);
	if (n < 0)
		return -errno;
	if (!NLMSG_OK(&answer.head, (size_t)n) || answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    answer.head.nlmsg_len < NLMSG_LENGTH(sizeof(*msg)))
		return -ESRCH;
	msg = NLMSG_DATA(&answer.head);
	if (!msg->idiag_inode)
		return -ESRCH;
	*ret = msg->idiag_uid;
	return 0;
}

/* A connection to itself that is ours: a kernel without tcp_diag knows nothing of that, either, and
 * answers as it does about one that is closed. */
static bool answers(int diag_fd)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	struct sockaddr_storage at = { 0 };
	socklen_t len = sizeof(addr);
	AUTO_FD int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uid_t uid;

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 ||
	    getsockname(fd, (struct sockaddr *)&addr, &len) < 0 ||
	    connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return false;
	memcpy(&at, &addr, sizeof(addr));
	return owner_by_diag(diag_fd, &at, &at, &uid) == 0;
}

int tcp_owner_open(void)
{
	AUTO_FD int fd =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);

	if (fd < 0)
		return -errno;
	return answers(fd) ? TAKE_FD(fd) : -EOPNOTSUPP;
}

/* --- the table of all connections, if the kernel does not support the query -------------- */

/* One end of a connection; an address of IPv4 as ::ffff:A.B.C.D. */
struct end {
	uint32_t addr[4]; /* in network order */
	uint16_t port;
};

static struct end tcp_owner_end_of(const struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;
	struct end end = { .addr = { 0, 0, htonl(0xffff), in->sin_addr.s_addr } };

	end.port = ntohs(addr->ss_family == AF_INET6 ? in6->sin6_port : in->sin_port);
	if (addr->ss_family == AF_INET6)
		memcpy(end.addr, &in6->sin6_addr, sizeof(end.addr));
	return end;
}

/* "0100007F:14E0", or with four such words: each is printed as the number that it is here. */
static bool is_end(const char *text, const struct end *end)
{
	char words[33];
	unsigned int port;
	const uint32_t *addr = end->addr;

	if (sscanf(text, "%32[0-9A-F]:%x", words, &port) != 2 || port != end->port)
		return false;
	if (strlen(words) == 8) {
		if (addr[0] || addr[1] || addr[2] != htonl(0xffff))
			return false;
		addr += 3;
	} else if (strlen(words) != 32) {
		return false;
	}
	for (const char *word = words; *word; word += 8, addr++) {
		char digits[9] = "";

		memcpy(digits, word, 8);
		if (strtoul(digits, NULL, 16) != *addr)
			return false;
	}
	return true;
}

static int find_in_table(const char *path, const struct end *own, const struct end *peer,
			 uid_t *ret_uid)
{
	char line[512], local[64], remote[64];
	FILE *table = fopen(path, "re");
	unsigned long inode;
	unsigned int uid;
	int ret = -ESRCH;

	if (!table)
		return -errno;
	while (ret < 0 && fgets(line, sizeof(line), table))
		if (sscanf(line, "%*s %63s %63s %*s %*s %*s %*s %u %*s %lu", local, remote, &uid,
			   &inode) == 4 &&
		    inode && is_end(local, peer) && is_end(remote, own)) {
			*ret_uid = uid;
			ret = 0;
		}
	fclose(table);
	return ret;
}

static int owner_by_table(const struct sockaddr_storage *own, const struct sockaddr_storage *peer,
			  uid_t *ret)
{
	struct end a = tcp_owner_end_of(own), b = tcp_owner_end_of(peer);
	int error = find_in_table("/proc/self/net/tcp", &a, &b, ret);

	return error < 0 ? find_in_table("/proc/self/net/tcp6", &a, &b, ret) : 0;
}

int tcp_owner(int diag_fd, int fd, uid_t *ret)
{
	struct sockaddr_storage own, peer;
	socklen_t own_len = sizeof(own), peer_len = sizeof(peer);

	if (getsockname(fd, (struct sockaddr *)&own, &own_len) < 0 ||
	    getpeername(fd, (struct sockaddr *)&peer, &peer_len) < 0)
		return -errno;
	if (diag_fd >= 0)
		return owner_by_diag(diag_fd, &own, &peer, ret);
	return owner_by_table(&own, &peer, ret);
}
