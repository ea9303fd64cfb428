/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * relay_conn_names.h - the addresses that a relay's name has now. libc's resolver can't be told how
 * long to take, so a thread of its own asks it, and the worker waits for that as it does for a
 * connection. Owned by a link; runs in the worker's thread but for that one.
 */
#ifndef CONSUMERD_SINK_RELAY_CONN_NAMES_H
#define CONSUMERD_SINK_RELAY_CONN_NAMES_H

#include "io/relayurl.h"
#include "io/tcp.h"
#include "proto/relay.h"
#include "wire.h"

struct name_lookup;

struct name_addrs {
	unsigned int nr;
	struct tcp_addr addr[RELAY_ADDRS_MAX];
};

/**
 * names_find() - the addresses of @url, by asking anew, unless it is none but an address.
 * @lookup: the one that is going on; NULL: none is. One that takes too long is waited for in the
 *	    next call.
 * @wire: whose owner has something to look after meanwhile; not connected.
 * @ret_problem: why there are none, a phrase.
 * Return: 0 or negative errno.
 */
int names_find(struct name_lookup **lookup, const struct relayurl *url, struct wire *wire,
	       struct name_addrs *ret, const char **ret_problem) MUST_CHECK;
/** Nobody waits for it any more. Return: NULL. */
struct name_lookup *names_leave(struct name_lookup *lookup);

#endif
