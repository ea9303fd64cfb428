/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * url.h - the URL of a trace's destination: file:///DIR, net://HOST[:CTRL[:DATA]],
 * tcp://HOST[:PORT], tls://HOST[:PORT]. A relay's name is resolved here, with the caller's
 * rights. Runs in the caller's thread.
 */
#ifndef LIBCTL_URL_H
#define LIBCTL_URL_H

#include "base/err.h"
#include "io/relayurl.h"
#include "io/spoolfacts.h"
#include "io/tcp.h"
#include "proto/enums.h"
#include "proto/relay.h"

struct relay_url {
	char text[SPOOLFACTS_URL_BYTES]; /* for display: net://HOST:PORT */
	char addr[RELAY_ADDRS_BYTES];	 /* numeric, of the name's addresses; the one that answered
				       * is the first; RELAY_ADDRS_UNKNOWN: it has none now */
	char host[RELAYURL_HOST_BYTES];	 /* as in the URL, for the relay's certificate */
	enum relay_link link;		 /* selected by the scheme */
	bool away;			 /* the relay is unreachable */
	const char *unknown;		 /* why its name has no address now; NULL: it has one */
};

/** @later: it may be unreachable now, and its name unresolved. Return: 0, or the code in @err. */
int url_relay(const char *url, bool later, struct relay_url *ret, struct err *err) MUST_CHECK;
/** Whether it begins like the URL of a relay. */
bool url_is_relay(const char *url);
/** Check that @ctrl and @data name the same host, as one connection is used for both. */
int url_same_host(const char *ctrl, const char *data, struct err *err) MUST_CHECK;

#endif
