/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "relayurl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "proto/relay.h"
#include "tcp.h"

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

static const char *skip_scheme(const char *url, struct relayurl *ret)
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

bool relayurl_is_one(const char *url)
{
	struct relayurl parts;

	return skip_scheme(url, &parts) != NULL;
}

int relayurl_parse(const char *url, struct relayurl *ret)
{
	char one[RELAYURL_BYTES];
	size_t len = strcspn(url, ",");
	const char *at;
	uint16_t data;

	if (len >= sizeof(one))
		return -EINVAL;
	memcpy(one, url, len);
	one[len] = '\0';
	at = skip_scheme(one, ret);
	ret->port = RELAY_PORT;
	at = at ? tcp_parse_host(at, ret->host, sizeof(ret->host)) : NULL;
	at = at ? tcp_parse_port(at, &ret->port) : NULL;
	if (at && ret->two_ports)
		at = tcp_parse_port(at, &data);
	if (!at || (*at && *at != '/'))
		return -EINVAL;
	return *at == '/' && at[1] ? -EOPNOTSUPP : 0;
}

void relayurl_text(const struct relayurl *url, char ret[RELAYURL_BYTES])
{
	snprintf(ret, RELAYURL_BYTES, strchr(url->host, ':') ? "%s[%s]:%u" : "%s%s:%u", url->scheme,
		 url->host, url->port);
}

const char *relayurl_next(const char *list)
{
	const char *comma = strchr(list, ',');

	return comma ? comma + 1 : NULL;
}
