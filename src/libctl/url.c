/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "url.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "proto/relay.h"

#define ANSWER_MS 2000u

bool url_is_relay(const char *url)
{
	return relayurl_is_one(url);
}

static int url_error(const char *url, struct err *err)
{
	return err_set(err, ERR_INVALID,
		       "'%s' is not the URL of a relay: use net://HOST[:CTRL_PORT[:DATA_PORT]] "
		       "tcp://HOST[:PORT] or tls://HOST[:PORT]",
		       url);
}

static int url_parse(const char *url, struct relayurl *ret, struct err *err)
{
	int error = relayurl_parse(url, ret);

	if (error == -EOPNOTSUPP)
		return err_set(
			err, ERR_UNSUPPORTED,
			"'%s': the directory at the relay can't be chosen; it is made of the "
			"names of host and session",
			url);
	return error < 0 ? url_error(url, err) : 0;
}

int url_same_host(const char *ctrl, const char *data, struct err *err)
{
	struct relayurl one, two;

	if (url_parse(ctrl, &one, err) || url_parse(data, &two, err))
		return err->code;
	if (strcmp(one.host, two.host) != 0)
		return err_set(
			err, ERR_UNSUPPORTED,
			"'%s' and '%s': control and data go over one connection, to one host", ctrl,
			data);
	return 0;
}

static struct tcp_addr url_address(const struct addrinfo *at)
{
	struct tcp_addr addr = { .len = at->ai_addrlen };

	memcpy(&addr.sa, at->ai_addr, at->ai_addrlen);
	return addr;
}

/* The one that answers, or NULL: @error is that of the last one. */
static const struct addrinfo *find_answering(const struct addrinfo *list, int *error)
{
	*error = -EADDRNOTAVAIL;
	for (; list; list = list->ai_next) {
		struct tcp_addr addr = url_address(list);
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
	struct tcp_addr addr = url_address(at);
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

/* The first that answers is the session's, which shows when it begins. */
static int take_list(const char *list, bool later, struct relay_url *ret, struct err *err)
{
	struct relayurl one;
	unsigned int nr = 0;
	size_t len = 0;

	if (!later)
		return err_set(
			err, ERR_INVALID,
			"several relays need a spool, for data that an unreachable one has not "
			"received: omit --spool=0, or name one relay");
	*ret = (struct relay_url){ .addr = RELAY_ADDRS_UNKNOWN, .link = RELAY_LINK_DEFAULT };
	for (const char *at = list; at; at = relayurl_next(at)) {
		AUTO_FREE char *word = strndup(at, strcspn(at, ","));
		char text[RELAYURL_BYTES];

		if (!word || url_parse(word, &one, err))
			return err->code;
		relayurl_text(&one, text);
		if (!nr++)
			memcpy(ret->host, one.host, sizeof(ret->host));
		if (nr > RELAYURL_MAX || len + strlen(text) + 2 > sizeof(ret->text))
			return err_set(err, ERR_INVALID,
				       "there are more than %u relays, or their names are too long",
				       RELAYURL_MAX);
		len += (size_t)snprintf(ret->text + len, sizeof(ret->text) - len, "%s%s",
					len ? "," : "", text);
	}
	return 0;
}

int url_relay(const char *url, bool later, struct relay_url *ret, struct err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list;
	const struct addrinfo *answering;
	struct relayurl parts;
	char port[8], text[RELAYURL_BYTES];
	int rc, error;

	if (strchr(url, ','))
		return take_list(url, later, ret, err);
	if (url_parse(url, &parts, err))
		return err->code;
	*ret = (struct relay_url){ .addr = RELAY_ADDRS_UNKNOWN, .link = parts.link };
	relayurl_text(&parts, text);
	memcpy(ret->text, text, sizeof(text));
	memcpy(ret->host, parts.host, sizeof(ret->host));
	snprintf(port, sizeof(port), "%u", parts.port);
	hints.ai_family = parts.family;
	rc = getaddrinfo(parts.host, port, &hints, &list);
	if (rc && !later)
		return err_set(err, ERR_OUTPUT, "can't resolve the relay's host '%s': %s",
			       parts.host, gai_strerror(rc));
	if (rc) {
		ret->unknown = gai_strerror(rc);
		return 0;
	}
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
