/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * relayurl.h - the URL of a relay: net://HOST[:CTRL[:DATA]], tcp://HOST[:PORT],
 * tls://HOST[:PORT], net6:// and tcp6:// for IPv6; or a list of them, separated by commas.
 */
#ifndef IO_RELAYURL_H
#define IO_RELAYURL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "proto/enums.h"

#define RELAYURL_HOST_BYTES 256
#define RELAYURL_BYTES 320 /* of one URL */
#define RELAYURL_MAX 8u	   /* URLs in a list */

struct relayurl {
	const char *scheme; /* with "://" */
	int family;
	bool two_ports;	      /* the second one is for data, and is unused */
	enum relay_link link; /* selected by the scheme */
	char host[RELAYURL_HOST_BYTES];
	uint16_t port;
};

/** Whether the text begins like the URL of a relay. */
bool relayurl_is_one(const char *url);
/** Parse a URL, or the first of a comma-separated list. Return: 0; -EINVAL; -EOPNOTSUPP: it
 *  names a directory at the relay. */
int relayurl_parse(const char *url, struct relayurl *ret) MUST_CHECK;
/** The text form for output, with the port. */
void relayurl_text(const struct relayurl *url, char ret[RELAYURL_BYTES]);
/** The rest of the list after its first URL; NULL: there is none. */
const char *relayurl_next(const char *list);

#endif
