/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * relay_conn_names.h - resolves a relay's name. libc's resolver has no timeout, so a separate
 * thread calls it, and the worker waits for that thread with the timeout of a connection. Owned by
 * a connection; called by the worker's thread.
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
 * relay_conn_names_find() - resolve the addresses of @url again, unless it is a numeric address.
 * @lookup: a lookup in progress, or NULL. A lookup that takes too long stays in progress for the
 *	    next call.
 * @wire: its `meanwhile` function is called during the wait; not connected.
 * @ret_problem: the reason of a failure, a phrase.
 * Return: 0 or negative errno.
 */
int relay_conn_names_find(struct name_lookup **lookup, const struct relayurl *url,
			  struct wire *wire, struct name_addrs *ret,
			  const char **ret_problem) MUST_CHECK;
/** Abandon a lookup: its thread frees it. Return: NULL. */
struct name_lookup *relay_conn_names_leave(struct name_lookup *lookup);

#endif
