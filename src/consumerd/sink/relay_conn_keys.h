/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * relay_conn_keys.h - whether a relay is spoken to in the clear, and with which keys if not: those
 * of this machine, which the daemon may read and a session's owner may not. Runs in the
 * worker's thread.
 */
#ifndef CONSUMERD_SINK_RELAY_CONN_KEYS_H
#define CONSUMERD_SINK_RELAY_CONN_KEYS_H

#include "io/tcp.h"
#include "io/tls_keys.h"
#include "proto/enums.h"

/** @ret: to be given back; NULL: in the clear. Return: 0 or the code in @err. */
int relay_conn_secure(enum relay_link link, const struct tcp_addr *addr, struct tls_keys **ret,
		      struct err *err) MUST_CHECK;
/** The host in ADDRESS:PORT, as a certificate has it: without port and brackets. Allocated. */
char *relay_conn_host_of(const char *addr);

#endif
