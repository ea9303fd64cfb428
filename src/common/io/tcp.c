/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

static int parse_port(const char *text, in_port_t *ret)
{
	uint64_t port;

	if (parse_u64(text, &port) < 0 || port > 65535)
		return -EINVAL;
	*ret = htons((uint16_t)port);
	return 0;
}

static int parse_6(const char *host, const char *port, struct tcp_addr *ret)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&ret->sa;

	in6->sin6_family = AF_INET6;
	ret->len = sizeof(*in6);
	return inet_pton(AF_INET6, host, &in6->sin6_addr) == 1 ? parse_port(port, &in6->sin6_port) :
								 -EINVAL;
}

static int parse_4(const char *host, const char *port, struct tcp_addr *ret)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&ret->sa;

	in->sin_family = AF_INET;
	ret->len = sizeof(*in);
	return inet_pton(AF_INET, host, &in->sin_addr) == 1 ? parse_port(port, &in->sin_port) :
							      -EINVAL;
}

int tcp_parse(const char *text, struct tcp_addr *ret)
{
	const char *colon = strrchr(text, ':');
	char host[TCP_TEXT_BYTES];
	size_t len = colon ? (size_t)(colon - text) : 0;

	memset(ret, 0, sizeof(*ret));
	if (!len || len >= sizeof(host))
		return -EINVAL;
	memcpy(host, text, len);
	host[len] = '\0';
	if (host[0] != '[')
		return parse_4(host, colon + 1, ret);
	if (host[len - 1] != ']')
		return -EINVAL;
	host[len - 1] = '\0';
	return parse_6(host + 1, colon + 1, ret);
}

void tcp_text(const struct tcp_addr *addr, char ret[TCP_TEXT_BYTES])
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&addr->sa;
	const struct sockaddr_in *in = (const struct sockaddr_in *)&addr->sa;
	char host[INET6_ADDRSTRLEN] = "?";

	if (addr->sa.ss_family == AF_INET6) {
		inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host));
		snprintf(ret, TCP_TEXT_BYTES, "[%s]:%u", host, ntohs(in6->sin6_port));
	} else {
		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
		snprintf(ret, TCP_TEXT_BYTES, "%s:%u", host, ntohs(in->sin_port));
	}
}

const char *tcp_parse_host(const char *at, char *ret, size_t size)
{
	const char *end = *at == '[' ? strchr(at, ']') : at + strcspn(at, ":/");
	size_t skip = *at == '[';
	size_t len = end ? (size_t)(end - at) - skip : 0;

	if (!len || len >= size)
		return NULL;
	memcpy(ret, at + skip, len);
	ret[len] = '\0';
	return end + skip;
}

const char *tcp_parse_port(const char *at, uint16_t *ret)
{
	char text[8] = "";
	uint64_t port;
	size_t len;

	if (*at != ':')
		return at;
	len = strcspn(++at, ":/");
	if (len >= sizeof(text))
		return NULL;
	memcpy(text, at, len);
	if (parse_u64(text, &port) < 0 || !port || port > 65535)
		return NULL;
	*ret = (uint16_t)port;
	return at + len;
}

uint16_t tcp_port(const struct tcp_addr *addr)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&addr->sa;
	const struct sockaddr_in *in = (const struct sockaddr_in *)&addr->sa;

	return ntohs(addr->sa.ss_family == AF_INET6 ? in6->sin6_port : in->sin_port);
}

bool tcp_is_local(const struct tcp_addr *addr)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&addr->sa;
	const struct sockaddr_in *in = (const struct sockaddr_in *)&addr->sa;

	if (addr->sa.ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
	return addr->sa.ss_family == AF_INET && ntohl(in->sin_addr.s_addr) >> 24 == 127;
}

void tcp_set_options(int fd)
{
	const int on = 1, idle_s = 30, interval_s = 10, probes = 3;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
}

static int make_socket(const struct tcp_addr *addr)
{
	int fd = socket(addr->sa.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

int tcp_listen(const struct tcp_addr *addr)
{
	AUTO_FD int fd = make_socket(addr);
	const int on = 1;

	if (fd < 0)
		return fd;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (addr->sa.ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (bind(fd, (const struct sockaddr *)&addr->sa, addr->len) < 0 ||
	    listen(fd, SOMAXCONN) < 0)
		return -errno;
	return TAKE_FD(fd);
}

int tcp_connect_begin(const struct tcp_addr *addr)
{
	AUTO_FD int fd = make_socket(addr);

	if (fd < 0)
		return fd;
	if (connect(fd, (const struct sockaddr *)&addr->sa, addr->len) < 0 && errno != EINPROGRESS)
		return -errno;
	return TAKE_FD(fd);
}

int tcp_connect_end(int fd)
{
	socklen_t len = sizeof(int);
	int error = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		return -errno;
	if (error == 0)
		tcp_set_options(fd);
	return -error;
}

int tcp_connect(const struct tcp_addr *addr, unsigned int timeout_ms)
{
	AUTO_FD int fd = tcp_connect_begin(addr);
	struct pollfd poll_fd = { .fd = fd, .events = POLLOUT };
	int ret;

	if (fd < 0)
		return fd;
	do
		ret = poll(&poll_fd, 1, (int)timeout_ms);
	while (ret < 0 && errno == EINTR);
	if (ret <= 0)
		return ret < 0 ? -errno : -ETIMEDOUT;
	ret = tcp_connect_end(fd);
	return ret < 0 ? ret : TAKE_FD(fd);
}

int tcp_connect_host(const char *host, const char *port, unsigned int timeout_ms, struct err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list;
	int rc = getaddrinfo(host, port, &hints, &list), fd = -EADDRNOTAVAIL;

	if (rc) {
		err_set(err, ERR_OUTPUT, "can't resolve the host '%s': %s", host, gai_strerror(rc));
		return -EHOSTUNREACH;
	}
	for (struct addrinfo *at = list; at && fd < 0; at = at->ai_next) {
		struct tcp_addr addr = { .len = at->ai_addrlen };

		memcpy(&addr.sa, at->ai_addr, at->ai_addrlen);
		fd = tcp_connect(&addr, timeout_ms);
	}
	freeaddrinfo(list);
	return fd;
}
