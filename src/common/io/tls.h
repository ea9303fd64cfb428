/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tls.h - TLS 1.3 over a non-blocking socket: both sides authenticate, by certificate or
 * by a shared key. Older versions, resumption, and data before the end of the
 * handshake are off, so nothing can be replayed. Owned by a `struct chan`;
 * runs in its thread.
 */
#ifndef IO_TLS_H
#define IO_TLS_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

#include "base/macros.h"
#include "tls_keys.h"

struct tls;

/** The side that was connected to. @fd stays the caller's. Return: 0 or negative errno. */
int tls_new_server(struct tls_keys *keys, int fd, struct tls **ret) MUST_CHECK;
/** The side that connects. @host: whose certificate the other one has to have. */
int tls_new_client(struct tls_keys *keys, int fd, const char *host, struct tls **ret) MUST_CHECK;
/** Says goodbye where that can be done at once. */
struct tls *tls_free(struct tls *tls);

/** Go on. Return: 0: done; -EAGAIN: wait for tls_wants_write(); -EPROTO: the other side is
 *  refused, or refuses; other negative errno: it is over. */
int tls_handshake(struct tls *tls) MUST_CHECK;
/** Does what could not go on wait for room, not for bytes? */
bool tls_wants_write(const struct tls *tls);
/**
 * tls_recheck() - would the other side be let in with these keys as well? They are what the
 * connection has from now on. A handshake that goes on is refused.
 * Return: 0, or -EPROTO: it is over, and tls_problem() says why.
 */
int tls_recheck(struct tls *tls, struct tls_keys *keys) MUST_CHECK;
/** Until when what the other side has shown is trusted, as the handshake is done: seconds of
 *  CLOCK_REALTIME; 0: forever. tls_recheck() looks whether that is over. */
time_t tls_expiry(const struct tls *tls);
/** Name of the peer after the handshake, accepted by name_check(); at a client
 *  with a shared key: its own. */
const char *tls_peer(const struct tls *tls);
/** May it, by what it has shown, look on only, and send nothing? */
bool tls_is_viewer(const struct tls *tls);
/** The problem, as the end of a sentence; "" if there is none. */
const char *tls_problem(const struct tls *tls);

/** Return: bytes; 0: the other side said goodbye; -EAGAIN or other negative errno. All that
 *  fits is read: if less comes, none is left here. */
ssize_t tls_read(struct tls *tls, void *buf, size_t len) MUST_CHECK;
/** Return: bytes or negative errno; behind -EAGAIN the same bytes have to come again. */
ssize_t tls_write(struct tls *tls, const struct iovec *iov, unsigned int nr) MUST_CHECK;
/** Are there bytes that have come, and that the socket does not tell of any more? */
bool tls_pending(const struct tls *tls);

#endif
