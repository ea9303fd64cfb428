/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tls.h - TLS 1.3 over a non-blocking socket: both sides authenticate, by certificate or
 * by a pre-shared key. Older versions, session resumption and early data are disabled, so that
 * data can't be replayed. Owned by a `struct chan`; runs in its thread.
 */
#ifndef IO_TLS_H
#define IO_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#include "base/macros.h"
#include "tls_keys.h"

struct tls;

/** The server's side. @fd stays the caller's. Return: 0 or negative errno. */
int tls_new_server(struct tls_keys *keys, int fd, struct tls **ret) MUST_CHECK;
/** The client's side. @host: the name for which the server's certificate must be valid. */
int tls_new_client(struct tls_keys *keys, int fd, const char *host, struct tls **ret) MUST_CHECK;
/** Sends close_notify if that does not block. */
struct tls *tls_free(struct tls *tls);

/** Continue the handshake. Return: 0: done; -EAGAIN: wait as tls_wants_write() returns; -EPROTO:
 *  the peer is rejected, or rejects this side; other negative errno: it has failed. */
int tls_handshake(struct tls *tls) MUST_CHECK;
/** Whether the last operation waits until the socket is writable, not readable. */
bool tls_wants_write(const struct tls *tls);
/**
 * tls_recheck() - whether the peer would be accepted with these keys as well. The connection
 * uses them from now on. A handshake in progress is rejected.
 * Return: 0, or -EPROTO: the connection must be closed, for the reason in tls_problem().
 */
int tls_recheck(struct tls *tls, struct tls_keys *keys) MUST_CHECK;
/** Expiry of the peer's credentials, after the handshake: seconds of
 *  CLOCK_REALTIME; 0: forever. tls_recheck() checks the expiry. */
time_t tls_expiry(const struct tls *tls);
/** Name of the peer after the handshake, accepted by name_check(); at a client
 *  with a shared key: its own. */
const char *tls_peer(const struct tls *tls);
/** Whether the peer's credentials allow viewing only, not sending. */
bool tls_is_viewer(const struct tls *tls);
/** The problem, as the end of a sentence; "" if there is none. */
const char *tls_problem(const struct tls *tls);

/** Return: bytes; 0: the peer has closed the connection; -EAGAIN or other negative errno. Reads
 *  as much as fits: a shorter result means that nothing is left in the buffers. */
ssize_t tls_read(struct tls *tls, void *buf, size_t len) MUST_CHECK;
/** Return: bytes or negative errno; after -EAGAIN the call must be repeated with the same bytes. */
ssize_t tls_write(struct tls *tls, const struct iovec *iov, unsigned int nr) MUST_CHECK;
/** Whether received bytes are buffered, so that the socket does not become readable. */
bool tls_pending(const struct tls *tls);

/** Whether these bytes begin as the alert by which a TLS server rejects a peer that does not speak
 *  TLS: a problem is then TLS_EXPECTED. */
static inline bool tls_is_alert(const uint8_t *bytes, size_t len)
{
	return len >= 2 && bytes[0] == 21 && bytes[1] == 3;
}
#define TLS_EXPECTED "TLS is expected there: use tls://"

#endif
