/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tcp.h - TCP sockets by numeric address. IPv4 and IPv6; "127.0.0.1:5342", "[::1]:5342".
 */
#ifndef IO_TCP_H
#define IO_TCP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/macros.h"

struct tcp_addr {
	struct sockaddr_storage sa;
	socklen_t len;
};

#define TCP_TEXT_BYTES 64

/** Return: 0 or -EINVAL. */
int tcp_parse(const char *text, struct tcp_addr *ret) MUST_CHECK;
void tcp_text(const struct tcp_addr *addr, char ret[TCP_TEXT_BYTES]);
uint16_t tcp_port(const struct tcp_addr *addr);
/** Whether it is a loopback address. */
bool tcp_is_local(const struct tcp_addr *addr);

/** tcp_parse_host() - parse HOST or [ADDRESS] of a URL. Return: the text behind the host, or NULL:
 *  the host is missing or longer than @ret. */
const char *tcp_parse_host(const char *at, char *ret, size_t size) MUST_CHECK;
/** tcp_parse_port() - parse an optional ":PORT"; without one @ret is unchanged. Return: the text
 *  behind the port, or NULL: the port is not a number from 1 to 65535. */
const char *tcp_parse_port(const char *at, uint16_t *ret) MUST_CHECK;

/** Non-blocking, close-on-exec. Return: descriptor or negative errno. */
int tcp_listen(const struct tcp_addr *addr) MUST_CHECK;
/** Connect within @timeout_ms; non-blocking. Return: descriptor or negative errno. */
int tcp_connect(const struct tcp_addr *addr, unsigned int timeout_ms) MUST_CHECK;
/** Connect to the first address of the host named @host that answers, each within @timeout_ms.
 *  Return: as above; -EHOSTUNREACH: the name can't be resolved, @err has the reason. */
int tcp_connect_host(const char *host, const char *port, unsigned int timeout_ms,
		     struct err *err) MUST_CHECK;
/** The same as tcp_connect() for callers with their own wait: a socket that is writable when the
 *  connect has ended. Return: descriptor (0), or negative errno. */
int tcp_connect_begin(const struct tcp_addr *addr) MUST_CHECK;
int tcp_connect_end(int fd) MUST_CHECK;
/** Enable keepalive, which detects a host that is gone, and TCP_NODELAY. */
void tcp_set_options(int fd);

#endif
