/* SPDX-License-Identifier: GPL-2.0-only */
#include "link.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "io/tcp.h"
#include "proto/viewproto.h"

#define CONNECT_MS 2000u
#define HANDSHAKE_S 5

int place_parse(const char *url, struct place *ret)
{
	uint16_t port = VIEW_PORT;
	const char *at;

	ret->is_tls = strncmp(url, "tls://", 6) == 0;
	if (!ret->is_tls && strncmp(url, "net://", 6) != 0)
		return -EINVAL;
	at = tcp_parse_host(url + 6, ret->host, sizeof(ret->host));
	at = at ? tcp_parse_port(at, &port) : NULL;
	if (!at || (*at && *at != '/'))
		return -EINVAL;
	snprintf(ret->port, sizeof(ret->port), "%u", port);
	ret->path = at;
	return 0;
}

/* --- up and down ---------------------------------------------------------------------------- */

void link_init(struct link *link, const struct place *place, struct tls_keys *keys)
{
	*link = (struct link){
		.place = place, .keys = keys, .viewer_fd = -1, .silent_ms = LINK_SILENT_MS
	};
	chan_init(&link->chan, -1, NULL);
}

bool link_is_open(const struct link *link)
{
	return link->chan.fd >= 0;
}

void link_close(struct link *link)
{
	chan_fini(&link->chan);
	link->chan.fd = close_fd(link->chan.fd);
}

static int link_connect_to(const struct place *place, struct err *err)
{
	int fd = tcp_connect_host(place->host, place->port, CONNECT_MS, err);

	if (fd < 0 && !err->code)
		err_errno(err, ERR_OUTPUT, -fd, "no relay answers at %s:%s", place->host,
			  place->port);
	return fd;
}

/* A viewer that is interrupted sends another request (detach) before it has its answer.
 * Return: 0; -ECANCELED: it did, or hung up; another negative errno. */
static int link_await(const struct link *link, short events, int ms)
{
	struct pollfd fds[] = { { link->chan.fd, events, 0 }, { link->viewer_fd, POLLIN, 0 } };
	int n = poll(fds, 2, ms);

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (fds[1].revents)
		return -ECANCELED;
	return n ? 0 : -ETIMEDOUT;
}

static int link_shake_hands(const struct link *link, struct chan *chan)
{
	time_t until = time(NULL) + HANDSHAKE_S;
	int ret;

	while ((ret = chan_open(chan)) == -EAGAIN) {
		ret = link_await(link, chan_wants_write(chan) ? POLLOUT : POLLIN,
				 HANDSHAKE_S * 1000);
		if (ret < 0 || time(NULL) > until)
			return ret < 0 ? ret : -ETIMEDOUT;
	}
	return ret;
}

const char *link_problem(const struct link *link, int error)
{
	const char *problem = chan_problem(&link->chan);

	return *problem ? problem : strerror(-error);
}

int link_open(struct link *link, struct err *err)
{
	const struct place *place = link->place;
	struct tls *tls = NULL;
	int fd, error;

	*err = (struct err){ 0 };
	fd = link_connect_to(place, err);
	if (fd < 0)
		return err->code;
	if (place->is_tls && (error = tls_new_client(link->keys, fd, place->host, &tls)) < 0) {
		close(fd);
		return err_errno(err, ERR_OUTPUT, -error, "TLS with %s", place->host);
	}
	chan_init(&link->chan, fd, tls);
	error = link_shake_hands(link, &link->chan);
	if (error == 0)
		return 0;
	err_set(err, error == -EPROTO ? ERR_DENIED : ERR_OUTPUT, "the relay at %s: %s", place->host,
		link_problem(link, error));
	link_close(link);
	return err->code;
}

/* --- requests and answers ------------------------------------------------------------------- */

int link_rest(const struct link *link, int ms)
{
	struct pollfd fd = { link->viewer_fd, POLLIN, 0 };

	return poll(&fd, 1, ms) > 0 ? -ECANCELED : 0;
}

static int link_send_all(struct link *link, const void *data, size_t len)
{
	for (size_t done = 0; done < len;) {
		struct iovec iov = { (uint8_t *)data + done, len - done };
		ssize_t n = chan_send(&link->chan, &iov, 1);
		int ret = n == -EAGAIN ? link_await(link, POLLOUT, link->silent_ms) :
			  n < 0	       ? (int)n :
					 0;

		if (ret < 0)
			return ret;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int link_request(struct link *link, uint32_t command, const void *body, size_t len)
{
	struct view_request head = { .bytes = htobe64(len), .command = htobe32(command) };
	uint8_t all[sizeof(head) + sizeof(struct view_connect)];

	if (len > sizeof(all) - sizeof(head))
		return -EMSGSIZE;
	memcpy(all, &head, sizeof(head));
	if (len)
		memcpy(all + sizeof(head), body, len);
	return link_send_all(link, all, sizeof(head) + len);
}

int link_read(struct link *link, void *buf, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t n = chan_recv(&link->chan, (uint8_t *)buf + done, len - done);
		int ret = n == -EAGAIN ? link_await(link, POLLIN, link->silent_ms) :
			  n < 0	       ? (int)n :
					 0;

		if (n == 0)
			return -ECONNRESET;
		if (ret < 0)
			return ret;
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}
