/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "url.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "proto/relay.h"

#define HOST_BYTES 256
#define ANSWER_MS 2000u

struct parts {
	const char *scheme;
	int family;
	bool two_ports; /* the second one is for data: nothing is sent there */
	enum relay_link link;
	char host[HOST_BYTES];
	uint16_t port;
};

static const struct {
	const char *scheme;
	int family;
	bool two_ports;
	enum relay_link link;
} schemes[] = {
	{ "net://", AF_UNSPEC, true, RELAY_LINK_DEFAULT },
	{ "net6://", AF_INET6, true, RELAY_LINK_DEFAULT },
	{ "tcp://", AF_UNSPEC, false, RELAY_LINK_DEFAULT },
	{ "tcp6://", AF_INET6, false, RELAY_LINK_DEFAULT },
	{ "tls://", AF_UNSPEC, false, RELAY_LINK_TLS },
};

static const char *skip_scheme(const char *url, struct parts *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
		size_t len = strlen(schemes[i].scheme);

		if (strncmp(url, schemes[i].scheme, len) != 0)
			continue;
		ret->scheme = schemes[i].scheme;
		ret->family = schemes[i].family;
		ret->two_ports = schemes[i].two_ports;
		ret->link = schemes[i].link;
		return url + len;
	}
	return NULL;
}

bool url_is_relay(const char *url)
{
	struct parts parts;

	return skip_scheme(url, &parts) != NULL;
}

static int bad(const char *url, struct err *err)
{
	return err_set(err, ERR_INVALID,
		       "'%s' is no URL of a relay: it has to be net://HOST[:CTRL_PORT[:DATA_PORT]] "
		       "tcp://HOST[:PORT] or tls://HOST[:PORT]",
		       url);
}

static int parse(const char *url, struct parts *ret, struct err *err)
{
	const char *at = skip_scheme(url, ret);
	uint16_t data;

	ret->port = RELAY_PORT;
	at = at ? tcp_take_host(at, ret->host, sizeof(ret->host)) : NULL;
	at = at ? tcp_take_port(at, &ret->port) : NULL;
	if (at && ret->two_ports)
		at = tcp_take_port(at, &data);
	if (!at || (*at && strcmp(at, "/") != 0 && *at != '/'))
		return bad(url, err);
	if (*at == '/' && at[1])
		return err_set(
			err, ERR_UNSUPPORTED,
			"'%s': the directory at the relay can't be chosen; it is made of the "
			"names of host and session",
			url);
	return 0;
}

int url_same_host(const char *ctrl, const char *data, struct err *err)
{
	struct parts one, two;

	if (parse(ctrl, &one, err) || parse(data, &two, err))
		return err->code;
	if (strcmp(one.host, two.host) != 0)
		return err_set(
			err, ERR_UNSUPPORTED,
			"'%s' and '%s': control and data go over one connection, to one host", ctrl,
			data);
	return 0;
}

static struct tcp_addr address(const struct addrinfo *at)
{
	struct tcp_addr addr = { .len = at->ai_addrlen };

	memcpy(&addr.sa, at->ai_addr, at->ai_addrlen);
	return addr;
}

/* The one that answers, or NULL: @error says why the last one does not. */
static const struct addrinfo *find_answering(const struct addrinfo *list, int *error)
{
	*error = -EADDRNOTAVAIL;
	for (; list; list = list->ai_next) {
		struct tcp_addr addr = address(list);
		int fd = tcp_connect(&addr, ANSWER_MS);

		if (fd >= 0) {
			close_fd(fd);
			*error = 0;
			return list;
		}
		*error = fd;
	}
	return NULL;
}

static void add_address(const struct addrinfo *at, struct relay_url *ret)
{
	struct tcp_addr addr = address(at);
	size_t len = strlen(ret->addr);
	char text[TCP_TEXT_BYTES];

	tcp_text(&addr, text);
	if (len + strlen(text) + 2 < sizeof(ret->addr))
		snprintf(ret->addr + len, sizeof(ret->addr) - len, "%s%s", len ? "," : "", text);
}

/* All of the name's, @first at the front. */
static void take_addresses(const struct addrinfo *list, const struct addrinfo *first,
			   struct relay_url *ret)
{
	unsigned int nr = 1;

	ret->addr[0] = '\0';
	add_address(first, ret);
	for (; list && nr < RELAY_ADDRS_MAX; list = list->ai_next)
		if (list != first) {
			add_address(list, ret);
			nr++;
		}
}

int url_relay(const char *url, bool later, struct relay_url *ret, struct err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list;
	const struct addrinfo *answering;
	struct parts parts;
	char port[8];
	int rc, error;

	if (parse(url, &parts, err))
		return err->code;
	snprintf(port, sizeof(port), "%u", parts.port);
	snprintf(ret->text, sizeof(ret->text), strchr(parts.host, ':') ? "%s[%s]:%s" : "%s%s:%s",
		 parts.scheme, parts.host, port);
	snprintf(ret->host, sizeof(ret->host), "%s", parts.host);
	ret->link = parts.link;
	hints.ai_family = parts.family;
	rc = getaddrinfo(parts.host, port, &hints, &list);
	if (rc)
		return err_set(err, ERR_OUTPUT, "the host '%s' of the relay is not known: %s",
			       parts.host, gai_strerror(rc));
	answering = find_answering(list, &error);
	ret->away = !answering;
	take_addresses(list, answering ? answering : list, ret);
	freeaddrinfo(list);
	if (later)
		return 0;
	if (error < 0)
		return err_errno(err, ERR_OUTPUT, -error,
				 "no relay answers at %s; start ltt-relayd there, or name another "
				 "host or port",
				 ret->text);
	return 0;
}
