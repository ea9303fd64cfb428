/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A relay's messages with ltt-archive: sessions with data and their ends, again for each child; the
 * packets that the store has, of this session and not of another in the same directory; an end that
 * is reported late is not that of the session's next one; a child that is silent, or sends messages
 * that make no sense, is killed.
 */
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "io/frame.h"
#include "io/sock.h"
#include "lib/relay_place.h"
#include "proto/archive.h"
#include "proto/codec.h"
#include "proto/relay.h"
#include "relayd/archive/archiver.h"

#define SILENCE_US 400000u

static const uint8_t first_id[RELAY_ID_BYTES] = "first", second_id[RELAY_ID_BYTES] = "second";
static struct archiver *archiver;
static int spawner, child; /* their far ends */

static void start_child(void)
{
	int fds[2];

	CHECK_IS(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), ==, 0);
	CHECK_IS(sock_send(spawner, "", 1, fds, 1), ==, 0);
	close(fds[0]);
	child = fds[1];
}

static bool has_input(int fd, int ms)
{
	struct pollfd pollfd = { fd, POLLIN, 0 };

	return poll(&pollfd, 1, ms) == 1;
}

static void read_all(void *data, size_t len)
{
	CHECK_IS(recv(child, data, len, MSG_WAITALL), ==, (ssize_t)len);
}

/* Return: its type. The path, if it has one, and the number behind it. */
static uint16_t next_message(char path[64], uint64_t *number)
{
	static uint8_t buf[4096];
	struct msg_arc_data data;
	struct msg_arc_end end;
	struct msg_header header;
	struct decoder dec;
	uint32_t len;

	CHECK(has_input(child, 5000));
	read_all(&len, sizeof(len));
	CHECK_IS(len, <=, sizeof(buf));
	read_all(buf, len);
	decoder_init(&dec, buf, len, NULL, 0);
	CHECK_IS(decode_header(&dec, &header), ==, 0);
	if (header.type == MSG_arc_data) {
		CHECK_IS(msg_arc_data_decode(&dec, &data), ==, 0);
		snprintf(path, 64, "%s", data.path);
		*number = data.flush;
	} else if (header.type == MSG_arc_end) {
		CHECK_IS(msg_arc_end_decode(&dec, &end), ==, 0);
		snprintf(path, 64, "%s", end.path);
		*number = end.number;
	} else {
		CHECK_IS(header.type, ==, MSG_arc_alive);
	}
	return header.type;
}

static void send_message(const struct encoder *enc)
{
	uint8_t head[FRAME_HEAD_BYTES];

	frame_head(head, enc->len);
	CHECK_IS(send(child, head, sizeof(head), 0), ==, (ssize_t)sizeof(head));
	CHECK_IS(send(child, enc->buf, enc->len, 0), ==, (ssize_t)enc->len);
}

#define SEND(name, ...)                                  \
	do {                                             \
		struct msg_##name msg_ = __VA_ARGS__;    \
		uint8_t buf_[1024];                      \
		struct encoder enc_;                     \
                                                         \
		encoder_init(&enc_, buf_, sizeof(buf_)); \
		encode_header(&enc_, MSG_##name, 0, 0);  \
		msg_##name##_encode(&enc_, &msg_);       \
		send_message(&enc_);                     \
	} while (0)

/* Signs of life are given, and data before an end is passed over. */
static void expect(uint16_t type, const char *path, uint64_t *number)
{
	char got[64];
	uint16_t its;

	while ((its = next_message(got, number)) == MSG_arc_alive ||
	       (its == MSG_arc_data && type == MSG_arc_end))
		if (its == MSG_arc_alive)
			SEND(arc_state, { "", 0 });
	CHECK_IS(its, ==, type);
	CHECK_IS(strcmp(got, path), ==, 0);
}

#define AWAIT(condition)                                          \
	do {                                                      \
		for (int i_ = 0; i_ < 5000 && !(condition); i_++) \
			usleep(1000);                             \
		CHECK(condition);                                 \
	} while (0)

static void test_data(void)
{
	struct archived *session = archiver_receive(archiver, "host/one", first_id);
	uint64_t number, seq = 0;
	char problem[ARCHIVER_PROBLEM_BYTES];

	expect(MSG_arc_data, "host/one", &number);
	CHECK_IS(number, ==, 0);
	CHECK(!archived_durable(session, "ust", 0, 3, &seq));
	SEND(arc_durable, { "host/one", "ust", 0, 3, 7 });
	SEND(arc_durable, { "host/one", "ust", 0, 3, 5 });
	SEND(arc_durable, { "host/two", "ust", 0, 3, 9 });
	AWAIT(archived_durable(session, "ust", 0, 3, &seq));
	CHECK_IS(seq, ==, 7);
	archived_flush(session);
	expect(MSG_arc_data, "host/one", &number);
	CHECK_IS(number, ==, 1);
	archived_note(session);
	archived_note(session);
	expect(MSG_arc_data, "host/one", &number);
	SEND(arc_state, { "closed on Sundays", 3 });
	AWAIT((archived_problem(session, problem), strcmp(problem, "closed on Sundays") == 0));
	SEND(arc_state, { "", 0 });
	archived_leave(session, false);
	session = archiver_receive(archiver, "host/one", second_id);
	CHECK(!archived_durable(session, "ust", 0, 3, &seq));
	archived_leave(session, true);
}

static void test_end(void)
{
	uint64_t number, later;

	expect(MSG_arc_end, "host/one", &number);
	CHECK(!archiver_has(archiver, "host/one", true, false));
	archived_leave(archiver_receive(archiver, "host/one", second_id), true);
	SEND(arc_done, { "host/one", number }); /* of the end before */
	expect(MSG_arc_end, "host/one", &later);
	CHECK_IS(later, !=, number);
	SEND(arc_done, { "host/one", later });
	AWAIT(archiver_has(archiver, "host/one", true, false));
	SEND(arc_done, { "host/one/archives/a", 0 });
	AWAIT(archiver_has(archiver, "host/one/archives/a", true, true));
	CHECK(!archiver_has(archiver, "host/one/archives/b", true, true));
	archiver_sweep(archiver);
	CHECK(archiver_has(archiver, "host/one", true, false));
	archiver_sweep(archiver);
	archiver_sweep(archiver);
	CHECK(!archiver_has(archiver, "host/one", false, false)); /* it is unknown, and is found */
	expect(MSG_arc_data, "host/one", &number);
}

static void expect_kill(void)
{
	int fds[MSG_MAX_FDS];
	unsigned int nr;
	char byte;

	CHECK(has_input(spawner, 5000));
	CHECK_IS(sock_recv(spawner, &byte, sizeof(byte), fds, &nr), ==, 1);
}

static void test_silent(void)
{
	uint64_t number;
	char path[64];

	CHECK_IS(next_message(path, &number), ==, MSG_arc_alive);
	expect_kill();
	close(child);
	start_child();
	expect(MSG_arc_data, "host/one", &number); /* again */
}

static void test_nonsense(void)
{
	const uint8_t nonsense[] = { 255, 255, 255, 255, 1, 2, 3 };
	char problem[ARCHIVER_PROBLEM_BYTES];
	struct archived *session;

	CHECK_IS(send(child, nonsense, sizeof(nonsense), 0), ==, (ssize_t)sizeof(nonsense));
	expect_kill();
	close(child);
	session = archiver_receive(archiver, "host/one", second_id);
	AWAIT((archived_problem(session, problem), strstr(problem, "does not run")));
	archived_leave(session, false);
}

int main(void)
{
	struct loop_thread thread = { 0 };
	struct loop *loop;
	int fds[2];

	CHECK_IS(loop_new(&loop), ==, 0);
	CHECK_IS(sock_pair(fds), ==, 0);
	CHECK_IS(fcntl(fds[0], F_SETFL, O_NONBLOCK), ==, 0);
	spawner = fds[1];
	CHECK_IS(archiver_new(&archiver, loop, fds[0], SILENCE_US), ==, 0);
	start_child();
	loop_thread_start(&thread, loop);
	test_data();
	test_end();
	test_silent();
	test_nonsense();
	loop_thread_stop(&thread);
	archiver_free(archiver);
	loop_free(loop);
	close(spawner);
	return 0;
}
