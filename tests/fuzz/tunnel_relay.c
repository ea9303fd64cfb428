/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ltt-tunnel and any answers of a relay: a viewer requests sessions, attaches, and requests
 * streams, metadata, indexes and packets, by the ids that it is given; the input is the relay's
 * answers to all of that. The viewer hangs up at the end: so no wait takes time. The tunnel lives,
 * and keeps neither descriptor nor memory.
 */
#include <endian.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/macros.h"
#include "lib/fuzz_fds.h"
#include "must_hold.h"
#include "proto/viewproto.h"
#include "tunnel/follow.h"

#define MAX_INPUT (64u << 10)
#define NR_ROUNDS 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void socket_pair(int ret[2])
{
	const int room = 1 << 20;

	MUST_HOLD(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ret) == 0);
	for (int i = 0; i < 2; i++)
		setsockopt(ret[i], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
}

static void ask(int fd, uint32_t command, const void *body, size_t len)
{
	struct view_request head = { htobe64(len), htobe32(command), 0 };

	MUST_HOLD(send(fd, &head, sizeof(head), 0) == sizeof(head));
	MUST_HOLD(!len || send(fd, body, len, 0) == (ssize_t)len);
}

static void request_id(int fd, uint32_t command, uint64_t id)
{
	id = htobe64(id);
	ask(fd, command, &id, sizeof(id));
}

/* The first session has id 1, its first trace and stream have 2 and 3. */
static void ask_all(int fd)
{
	struct view_connect hello = { 0, htobe32(2), htobe32(4), htobe32(1) };
	struct view_attach attach = { htobe64(1), 0, htobe32(VIEW_FROM_BEGIN) };
	struct view_get_packet packet = { htobe64(3), 0, htobe32(4096) };

	ask(fd, VIEW_CONNECT, &hello, sizeof(hello));
	ask(fd, VIEW_CREATE_SESSION, NULL, 0);
	ask(fd, VIEW_LIST_SESSIONS, NULL, 0);
	ask(fd, VIEW_ATTACH_SESSION, &attach, sizeof(attach));
	for (int i = 0; i < NR_ROUNDS; i++) {
		request_id(fd, VIEW_GET_METADATA, 2);
		request_id(fd, VIEW_GET_NEXT_INDEX, 3);
		ask(fd, VIEW_GET_PACKET, &packet, sizeof(packet));
		request_id(fd, VIEW_GET_NEW_STREAMS, 1);
		request_id(fd, VIEW_GET_NEXT_INDEX, 4);
	}
	request_id(fd, VIEW_DETACH_SESSION, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct place place = { .host = "127.0.0.1", .port = "1", .path = "" };
	int relay[2], viewer[2], before = fuzz_open_fds();
	struct link link;

	log_init("fuzz", LOG_QUIET);
	socket_pair(relay);
	socket_pair(viewer);
	MUST_HOLD(send(relay[1], data, MIN(size, (size_t)MAX_INPUT), MSG_NOSIGNAL) >= 0);
	shutdown(relay[1], SHUT_WR);
	ask_all(viewer[1]);
	shutdown(viewer[1], SHUT_WR);
	link_init(&link, &place, NULL);
	chan_init(&link.chan, relay[0], NULL);
	(void)!follow_serve(&link, viewer[0]);
	MUST_HOLD(!link_is_open(&link));
	close(relay[1]);
	close(viewer[0]);
	close(viewer[1]);
	MUST_HOLD(fuzz_open_fds() == before);
	return 0;
}
