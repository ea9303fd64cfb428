/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * chan.h - channel of bytes to another host, with or without TLS, by the same functions.
 * Non-blocking. Owned by a connection; runs in its thread.
 */
#ifndef IO_CHAN_H
#define IO_CHAN_H

#include "tls.h"

struct chan {
	int fd;		 /* owned by the owner of the channel */
	struct tls *tls; /* NULL: unencrypted */
	bool up;	 /* the handshake is done, if there is one */
	bool over;	 /* the channel has failed */
};

/** @tls: owned by the channel from now on; NULL: unencrypted. */
void chan_init(struct chan *chan, int fd, struct tls *tls);
/** Does not close the descriptor. */
void chan_fini(struct chan *chan);

/** Continue the handshake. Return: as tls_handshake(). A rejected peer (-EPROTO) is informed
 *  only if the connection is not closed at once: a caller that can wait continues until another
 *  error is returned. */
int chan_open(struct chan *chan) MUST_CHECK;
bool chan_wants_write(const struct chan *chan);
/** Like recv() and sendmsg(), but errors are returned as negative errno. After -EAGAIN, the next
 *  call must send the same bytes first. */
ssize_t chan_recv(struct chan *chan, void *buf, size_t len) MUST_CHECK;
ssize_t chan_send(struct chan *chan, const struct iovec *iov, unsigned int nr) MUST_CHECK;
/** Whether received data is buffered, so that the descriptor does not become readable. */
bool chan_pending(const struct chan *chan);
/** Check an authenticated peer against the new @keys: see tls_recheck(). A rejected or
 *  unencrypted connection passes. Return: 0 or -EPROTO. */
int chan_recheck(struct chan *chan, struct tls_keys *keys) MUST_CHECK;
/** See tls_expiry(); 0 without TLS. */
time_t chan_expiry(const struct chan *chan);
/** The other end's authenticated name; NULL: not authenticated. */
const char *chan_peer(const struct chan *chan);
/** See tls_is_viewer(); false without TLS. */
bool chan_is_viewer(const struct chan *chan);
/** The problem, as the end of a sentence; "" if errno describes it. */
const char *chan_problem(const struct chan *chan);

#endif
