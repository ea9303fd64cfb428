/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * relay_conn_keys.h - decides whether a connection to a relay uses TLS, and loads this machine's
 * keys for it. The daemon can read these keys, owners of sessions cannot. Runs in the worker's
 * thread.
 */
#ifndef CONSUMERD_SINK_RELAY_CONN_KEYS_H
#define CONSUMERD_SINK_RELAY_CONN_KEYS_H

#include "io/tcp.h"
#include "io/tls_keys.h"
#include "proto/enums.h"

/** @ret: a reference, which the caller releases; NULL: no TLS. Return: 0 or the code in @err. */
int relay_conn_secure(enum relay_link link, const struct tcp_addr *addr, struct tls_keys **ret,
		      struct err *err) MUST_CHECK;
/** The host in ADDRESS:PORT, as a certificate has it: without port and brackets. Allocated. */
char *relay_conn_host_of(const char *addr);

#endif
