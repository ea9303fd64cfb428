/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "sock.h"

/* Messages read from one peer in a round, so that a busy peer cannot starve others. */
#define READ_BATCH 16

struct peer_packet {
	struct list_node node;
	int fds[MSG_MAX_FDS];
	unsigned int nr_fds;
	size_t len;
	uint8_t data[];
};

static void packet_drop(struct peer_packet *packet)
{
	for (unsigned int i = 0; i < packet->nr_fds; i++)
		close_fd(packet->fds[i]);
	free(packet);
}

static int peer_count(struct peer *peer, ssize_t bytes)
{
	return peer->ops->waits ? peer->ops->waits(peer, bytes) : 0;
}

static void packet_free(struct peer *peer, struct peer_packet *packet)
{
	list_remove(&packet->node);
	peer->queued_bytes -= packet->len;
	(void)!peer_count(peer, -(ssize_t)packet->len);
	packet_drop(packet);
}

static void drop_queue(struct peer *peer)
{
	struct peer_packet *packet, *tmp;

	list_for_each_safe(packet, tmp, &peer->queue, node)
		packet_free(peer, packet);
}

static void peer_close_source(struct peer *peer)
{
	int fd = peer->source.fd;

	loop_fd_fini(&peer->source);
	sock_hang_up(fd);
}

/* The connection is over; `closed` follows when the round is over, so that no
 * caller of peer_send() finds its peer gone. */
static void peer_abandon(struct peer *peer)
{
	struct loop *loop = peer->source.loop;

	peer->closing = true;
	drop_queue(peer);
	peer_close_source(peer);
	loop_defer(loop, &peer->end);
}

static void peer_report_closed(struct loop_work *work)
{
	struct peer *peer = container_of(work, struct peer, end);

	peer->ops->closed(peer);
}

/* Return: 0, or -EAGAIN when the rest has to wait; the peer may be closed. */
static int flush_queue(struct peer *peer)
{
	struct peer_packet *packet;

	while ((packet = list_first(&peer->queue, struct peer_packet, node))) {
		int ret = sock_send(peer->source.fd, packet->data, packet->len, packet->fds,
				    packet->nr_fds);

		if (ret == -EAGAIN)
			return ret;
		if (ret < 0) {
			peer_abandon(peer);
			return 0;
		}
		packet_free(peer, packet);
	}
	if (peer->closing)
		peer_abandon(peer);
	return 0;
}

static void peer_watch(struct peer *peer)
{
	uint32_t events = peer->closing ? 0 : EPOLLIN;

	if (peer->source.fd < 0)
		return;
	if (!list_empty(&peer->queue))
		events |= EPOLLOUT;
	if (loop_fd_events(&peer->source, events) < 0)
		peer_abandon(peer);
}

/* Return: 1 a message was handled, 0 nothing there, negative: it is over. */
static int read_one(struct peer *peer)
{
	/* one loop a thread, and no handler re-enters: one buffer is enough */
	static _Thread_local uint8_t buf[MSG_MAX_BYTES] __attribute__((aligned(8)));
	int fds[MSG_MAX_FDS];
	unsigned int nr_fds;
	struct msg_header header;
	struct decoder dec;
	ssize_t n = sock_recv(peer->source.fd, buf, sizeof(buf), fds, &nr_fds);
	int ret;

	if (n == -EAGAIN)
		return 0;
	if (n <= 0)
		return n < 0 ? (int)n : -ECONNRESET;
	decoder_init(&dec, buf, (size_t)n, fds, nr_fds);
	ret = decode_header(&dec, &header);
	if (ret == 0)
		ret = peer->ops->message(peer, &header, &dec);
	for (unsigned int i = 0; i < nr_fds; i++)
		sock_drop(fds[i]);
	return ret ? -ECONNABORTED : 1;
}

static void peer_ready(struct loop_fd *source, uint32_t events)
{
	struct peer *peer = container_of(source, struct peer, source);
	int ret = 1;

	if (events & EPOLLOUT)
		flush_queue(peer);
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		for (int i = 0; i < READ_BATCH && ret > 0 && peer->source.fd >= 0; i++)
			ret = peer->closing ? -ECONNRESET : read_one(peer);
	if (ret < 0 && peer->source.fd >= 0)
		peer_abandon(peer);
	else
		peer_watch(peer);
}

int peer_init(struct peer *peer, struct loop *loop, int fd, const struct peer_ops *ops)
{
	int ret, flags = fcntl(fd, F_GETFL);

	memset(peer, 0, sizeof(*peer));
	list_init(&peer->queue);
	loop_work_init(&peer->end, peer_report_closed);
	peer->ops = ops;
	ret = flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ? -errno : 0;
	if (ret == 0)
		ret = sock_peer(fd, &peer->pid, &peer->uid, &peer->gid);
	if (ret == 0)
		ret = loop_fd_init(&peer->source, loop, fd, EPOLLIN, peer_ready);
	if (ret < 0) {
		peer->source.fd = -1;
		close(fd);
	}
	return ret;
}

void peer_fini(struct peer *peer)
{
	if (!peer->ops)
		return;
	loop_work_cancel(&peer->end);
	drop_queue(peer);
	if (peer->source.fd >= 0)
		peer_close_source(peer);
	peer->ops = NULL;
}

static int packet_new(const struct encoder *enc, struct peer_packet **ret)
{
	struct peer_packet *packet = calloc(1, sizeof(*packet) + enc->len);

	if (!packet)
		return -ENOMEM;
	list_init(&packet->node);
	packet->len = enc->len;
	memcpy(packet->data, enc->buf, enc->len);
	for (unsigned int i = 0; i < enc->nr_fds; i++) {
		int fd = fcntl(enc->fds[i], F_DUPFD_CLOEXEC, 3);

		if (fd < 0) {
			int err = -errno;

			packet_drop(packet);
			return err;
		}
		packet->fds[packet->nr_fds++] = fd;
	}
	*ret = packet;
	return 0;
}

void peer_send(struct peer *peer, const struct encoder *enc)
{
	struct peer_packet *packet = NULL;
	int ret;

	if (peer->closing || peer->source.fd < 0)
		return;
	ret = encoder_finish(enc);
	if (ret == 0 && list_empty(&peer->queue) && !peer->held) {
		ret = sock_send(peer->source.fd, enc->buf, enc->len, enc->fds, enc->nr_fds);
		if (ret == 0 || ret == -EPIPE) /* its messages are still read */
			return;
		ret = ret == -EAGAIN ? 0 : ret;
	}
	if (ret == 0 && peer->queued_bytes + enc->len > PEER_QUEUE_BYTES)
		ret = -ENOBUFS;
	if (ret == 0)
		ret = packet_new(enc, &packet);
	if (ret == 0) {
		ret = peer_count(peer, (ssize_t)packet->len);
		if (ret < 0)
			packet_drop(packet);
	}
	if (ret < 0) {
		peer_abandon(peer);
		return;
	}
	list_append(&peer->queue, &packet->node);
	peer->queued_bytes += packet->len;
	if (!peer->held)
		peer_watch(peer);
}

void peer_hold(struct peer *peer, bool held)
{
	peer->held = held;
	if (!held && !list_empty(&peer->queue) && flush_queue(peer) < 0)
		peer_watch(peer);
}

void peer_hang_up(struct peer *peer)
{
	if (peer->closing || peer->source.fd < 0)
		return;
	peer->closing = true;
	if (list_empty(&peer->queue))
		peer_abandon(peer);
	else
		peer_watch(peer);
}

void peer_process_name(pid_t pid, char *ret, size_t len)
{
	char path[32];
	AUTO_FD int fd = -1;
	ssize_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		n = read(fd, ret, len - 1);
	if (n > 0)
		ret[ret[n - 1] == '\n' ? n - 1 : n] = '\0';
	else
		snprintf(ret, len, "?");
}
