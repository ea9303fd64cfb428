/* SPDX-License-Identifier: GPL-2.0-only */
/* Loop and peers: timers in order, children, descriptors, a peer that does not read. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "io/peer.h"
#include "io/sock.h"
#include "check.h"

static struct loop *loop;
static char order[16];

static void note_a(struct loop_timer *t)
{
	(void)t;
	strcat(order, "a");
}

static void note_b(struct loop_timer *t)
{
	(void)t;
	strcat(order, "b");
	loop_stop(loop);
}

static void timers(void)
{
	struct loop_timer a = { 0 }, b = { 0 }, never = { 0 };

	loop_timer_init(&a, loop, note_a);
	loop_timer_init(&b, loop, note_b);
	loop_timer_init(&never, loop, note_b);
	loop_timer_set(&b, 3000);
	loop_timer_set(&never, 1000);
	loop_timer_set(&a, 2000);
	loop_timer_cancel(&never);
	CHECK_IS(loop_run(loop), ==, 0);
	CHECK_IS(strcmp(order, "ab"), ==, 0);
}

static void note_c(struct loop_timer *t)
{
	(void)t;
	strcat(order, "c");
}

/* Timers that are deferred, cancelled and brought forward: each expires at its time, and not
 * before. */
static void timers_move(void)
{
	struct loop_timer a = { 0 }, b = { 0 }, c = { 0 };
	uint64_t begin = loop_now_ns();

	order[0] = '\0';
	loop_timer_init(&a, loop, note_a);
	loop_timer_init(&b, loop, note_b);
	loop_timer_init(&c, loop, note_c);
	loop_timer_set(&b, 3600000000u);
	loop_timer_set(&b, 30000);
	loop_timer_set(&a, 1000);
	for (int i = 0; i < 1000; i++)
		loop_timer_set(&a, 20000);
	loop_timer_set(&c, 5000);
	loop_timer_cancel(&c);
	loop_timer_set(&c, 10000);
	CHECK_IS(loop_run(loop), ==, 0);
	CHECK_IS(strcmp(order, "cab"), ==, 0);
	CHECK_IS(loop_now_ns() - begin, >=, 30000000);
	CHECK(!a.at_ns && !b.at_ns && !c.at_ns);
}

static int child_status = -1;

static void exited(struct loop_child *child, int status)
{
	(void)child;
	child_status = status;
	loop_stop(loop);
}

static void children(void)
{
	struct loop_child child;
	pid_t pid = fork();

	if (pid == 0)
		_exit(7);
	CHECK_IS(loop_child_init(&child, loop, pid, exited), ==, 0);
	CHECK_IS(loop_run(loop), ==, 0);
	CHECK(WIFEXITED(child_status) && WEXITSTATUS(child_status) == 7);
}

static unsigned int received, closed_count;
static int last_type;

static int message(struct peer *peer, const struct msg_header *header, struct decoder *dec)
{
	int fd = decode_fd(dec);

	(void)peer;
	received++;
	last_type = header->type;
	if (decoder_finish(dec) == 0 && fd >= 0)
		close(fd);
	if (header->type == 99)
		loop_stop(loop);
	return header->type == 66 ? -1 : 0;
}

static void closed(struct peer *peer)
{
	closed_count++;
	peer_fini(peer);
	loop_stop(loop);
}

static const struct peer_ops ops = { .message = message, .closed = closed };

static void send_type(int fd, uint16_t type, int with_fd)
{
	uint8_t bytes[64];
	struct encoder enc;

	encoder_init(&enc, bytes, sizeof(bytes));
	encode_header(&enc, type, 0, 1);
	encode_fd(&enc, with_fd);
	CHECK_IS(sock_send(fd, enc.buf, enc.len, enc.fds, enc.nr_fds), ==, 0);
}

static void messages(void)
{
	struct peer peer;
	int fds[2];

	CHECK_IS(sock_pair(fds), ==, 0);
	CHECK_IS(peer_init(&peer, loop, fds[0], &ops), ==, 0);
	CHECK(peer.uid == getuid() && peer.pid == getpid());
	for (uint16_t i = 0; i < 40; i++)
		send_type(fds[1], i, 1);
	send_type(fds[1], 99, -1);
	CHECK_IS(loop_run(loop), ==, 0);
	CHECK(received == 41 && last_type == 99 && closed_count == 0);
	/* the handler refuses: disconnected, reported once */
	send_type(fds[1], 66, -1);
	send_type(fds[1], 1, -1);
	CHECK_IS(loop_run(loop), ==, 0);
	CHECK(received == 42 && closed_count == 1);
	close(fds[1]);
}

static void half_header(void)
{
	struct peer peer;
	int fds[2];

	CHECK_IS(sock_pair(fds), ==, 0);
	CHECK_IS(peer_init(&peer, loop, fds[0], &ops), ==, 0);
	CHECK_IS(send(fds[1], "abc", 3, 0), ==, 3);
	closed_count = 0;
	CHECK(loop_run(loop) == 0 && closed_count == 1);
	close(fds[1]);
}

/* It is handled as the end of the connection; received descriptors are closed. */
static void empty_packet(void)
{
	struct peer peer;
	int fds[2], free_fd, sent[3];

	CHECK_IS(sock_pair(fds), ==, 0);
	CHECK_IS(peer_init(&peer, loop, fds[0], &ops), ==, 0);
	free_fd = dup(fds[1]);
	CHECK(free_fd >= 0 && close(free_fd) == 0);
	sent[0] = sent[1] = sent[2] = fds[1];
	closed_count = 0;
	CHECK_IS(sock_send(fds[1], "", 0, sent, 3), ==, 0);
	CHECK_IS(loop_run(loop), ==, 0);
	CHECK_IS(closed_count, ==, 1);
	for (int fd = free_fd; fd < free_fd + 3; fd++)
		CHECK_IS(fcntl(fd, F_GETFD), <, 0);
	close(fds[1]);
}

static void deaf_peer(void)
{
	static uint8_t bytes[60000];
	unsigned int sent = 0;
	struct encoder enc;
	struct peer peer;
	int fds[2];

	CHECK_IS(sock_pair(fds), ==, 0);
	CHECK_IS(peer_init(&peer, loop, fds[0], &ops), ==, 0);
	encoder_init(&enc, bytes, sizeof(bytes));
	encode_header(&enc, 1, 0, 1);
	enc.len = sizeof(bytes);
	while (peer.source.fd >= 0 && sent < 1000) {
		peer_send(&peer, &enc);
		sent++;
	}
	CHECK(peer.source.fd < 0 && sent > 200); /* about 16 MiB fit */
	closed_count = 0;
	CHECK(loop_run(loop) == 0 && closed_count == 1);
	close(fds[1]);
}

static void queued_in_order(void)
{
	static uint8_t bytes[60000];
	int fds[2], in[MSG_MAX_FDS];
	unsigned int nr_in;
	struct encoder enc;
	struct peer peer;
	ssize_t n;

	CHECK_IS(sock_pair(fds), ==, 0);
	CHECK_IS(peer_init(&peer, loop, fds[0], &ops), ==, 0);
	for (uint16_t i = 0; i < 50; i++) {
		encoder_init(&enc, bytes, sizeof(bytes));
		encode_header(&enc, i, 0, 1);
		enc.len = sizeof(bytes);
		peer_send(&peer, &enc);
	}
	peer_hang_up(&peer);
	closed_count = 0;
	if (fork() == 0) { /* the other end, read while the loop sends */
		static uint8_t got[MSG_MAX_BYTES];

		close(fds[0]);
		for (uint16_t i = 0; i < 50; i++) {
			uint16_t type;

			n = sock_recv(fds[1], got, sizeof(got), in, &nr_in);
			memcpy(&type, got, sizeof(type));
			if (n != sizeof(bytes) || type != i)
				_exit(1);
		}
		_exit(sock_recv(fds[1], got, sizeof(got), in, &nr_in) == 0 ? 0 : 2);
	}
	close(fds[1]);
	CHECK(loop_run(loop) == 0 && closed_count == 1);
	wait(&child_status);
	CHECK_IS(child_status, ==, 0);
}

static void listening(void)
{
	char path[] = "/tmp/ltt-io-XXXXXX/s";
	int fd, second;

	*strrchr(path, '/') = '\0';
	CHECK(mkdtemp(path));
	path[strlen(path)] = '/';
	fd = sock_listen(path, 0600, (gid_t)-1);
	CHECK_IS(fd, >=, 0);
	second = sock_listen(path, 0600, (gid_t)-1);
	CHECK_IS(second, ==, -EADDRINUSE);
	close(fd); /* its owner died: the file is stale */
	second = sock_listen(path, 0600, (gid_t)-1);
	CHECK_IS(second, >=, 0);
	close(second);
	unlink(path);
	CHECK_IS(sock_connect(path), ==, -ENOENT);
	*strrchr(path, '/') = '\0';
	rmdir(path);
}

int main(void)
{
	CHECK_IS(loop_new(&loop), ==, 0);
	timers();
	timers_move();
	children();
	messages();
	half_header();
	empty_packet();
	deaf_peer();
	queued_in_order();
	listening();
	loop = loop_free(loop);
	return 0;
}
