/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "chan.h"

#include <errno.h>
#include <sys/socket.h>

void chan_init(struct chan *chan, int fd, struct tls *tls)
{
	*chan = (struct chan){ fd, tls, !tls, false };
}

void chan_fini(struct chan *chan)
{
	chan->tls = tls_free(chan->tls);
	chan->up = false;
}

/* If unread bytes were left at the close, the peer's kernel would discard the data that was sent
 * to it. */
static int see_out(struct chan *chan)
{
	uint8_t buf[1024];
	struct iovec iov = { buf, sizeof(buf) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n = recvmsg(chan->fd, &msg, MSG_DONTWAIT);

	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return -EAGAIN;
	return -ECONNRESET;
}

int chan_open(struct chan *chan)
{
	int ret;

	if (chan->over)
		return see_out(chan);
	ret = chan->up ? 0 : tls_handshake(chan->tls);
	chan->up = ret == 0;
	chan->over = ret == -EPROTO;
	if (chan->over)
		shutdown(chan->fd, SHUT_WR);
	return ret;
}

bool chan_wants_write(const struct chan *chan)
{
	return chan->tls && !chan->over && tls_wants_write(chan->tls);
}

ssize_t chan_recv(struct chan *chan, void *buf, size_t len)
{
	struct iovec iov = { buf, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	if (chan->tls)
		return tls_read(chan->tls, buf, len);
	do
		n = recvmsg(chan->fd, &msg, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

ssize_t chan_send(struct chan *chan, const struct iovec *iov, unsigned int nr)
{
	struct msghdr msg = { .msg_iov = (struct iovec *)iov, .msg_iovlen = nr };
	ssize_t n;

	if (chan->tls)
		return tls_write(chan->tls, iov, nr);
	do
		n = sendmsg(chan->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

bool chan_pending(const struct chan *chan)
{
	return chan->tls && tls_pending(chan->tls);
}

int chan_recheck(struct chan *chan, struct tls_keys *keys)
{
	return chan->tls && !chan->over ? tls_recheck(chan->tls, keys) : 0;
}

time_t chan_expiry(const struct chan *chan)
{
	return chan->tls ? tls_expiry(chan->tls) : 0;
}

const char *chan_peer(const struct chan *chan)
{
	return chan->tls ? tls_peer(chan->tls) : NULL;
}

bool chan_is_viewer(const struct chan *chan)
{
	return chan->tls && tls_is_viewer(chan->tls);
}

const char *chan_problem(const struct chan *chan)
{
	return chan->tls ? tls_problem(chan->tls) : "";
}
