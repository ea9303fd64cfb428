/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session daemon dies while the consumer is at work for it: its successor receives no answers to
 * requests of its predecessor, and receives the objects in transfer. Workers are real; their
 * results are read only when the test runs the loop, so that all operations here are in progress
 * for as long as the test needs.
 */
#include <fcntl.h>
#include <string.h>

#include "check.h"
#include "consumerd/control.h"
#include "proto/consumer.h"

static struct control control;
static struct loop *loop;
static unsigned int replies, items;
static uint32_t serial, last_serial, last_code;
static int last_fds[MSG_MAX_FDS];

static void on_send(struct control *c, const struct encoder *enc)
{
	struct msg_header header;
	struct decoder dec;

	CHECK(c == &control && encoder_finish(enc) == 0);
	decoder_init(&dec, enc->buf, enc->len, NULL, 0);
	CHECK_IS(decode_header(&dec, &header), ==, 0);
	if (header.flags & MSG_ITEM) {
		items++;
		return;
	}
	replies++;
	last_serial = header.serial;
	last_code = decode_u32(&dec);
	for (unsigned int i = 0; i < enc->nr_fds; i++)
		last_fds[i] = fcntl(enc->fds[i], F_DUPFD_CLOEXEC, 3);
	loop_stop(loop);
}

static void on_end(struct control *c)
{
	control_end(c, false);
}

static void on_ended(struct control *c)
{
	loop_stop(c->loop);
}

static void ask(struct encoder *enc)
{
	int fds[MSG_MAX_FDS];
	struct msg_header header;
	struct decoder dec;

	CHECK_IS(encoder_finish(enc), ==, 0);
	for (unsigned int i = 0; i < enc->nr_fds; i++)
		fds[i] = fcntl(enc->fds[i], F_DUPFD_CLOEXEC, 3);
	decoder_init(&dec, enc->buf, enc->len, fds, enc->nr_fds);
	CHECK_IS(decode_header(&dec, &header), ==, 0);
	control_message(&control, &header, &dec);
}

/* Send a request; workers may be running when this returns, and no result has been read. */
#define SEND(name, ...)                                        \
	do {                                                   \
		struct req_##name req_ = { __VA_ARGS__ };      \
		uint8_t buf_[1024];                            \
		struct encoder enc_;                           \
                                                               \
		encoder_init(&enc_, buf_, sizeof(buf_));       \
		encode_header(&enc_, MSG_##name, 0, ++serial); \
		req_##name##_encode(&enc_, &req_);             \
		ask(&enc_);                                    \
	} while (0)

/* Send a request and receive the answer; it must be the only one. Return: its code. */
#define CALL(name, ...)                                  \
	({                                               \
		unsigned int before_ = replies;          \
                                                         \
		SEND(name, __VA_ARGS__);                 \
		while (replies == before_)               \
			CHECK_IS(loop_run(loop), ==, 0); \
		CHECK_IS(replies, ==, before_ + 1);      \
		CHECK_IS(last_serial, ==, serial);       \
		last_code;                               \
	})

/* As main.c does when the next session daemon connects. */
static void next_daemon(void)
{
	control.connection++;
	serial = 0;
}

static void open_trace(uint64_t id)
{
	static const uint8_t uuid[16] = { 1 };

	CHECK_IS(CALL(con_output_open, .output = id, .dir = -1, .doorbell = -1), ==, 0);
	CHECK_IS(CALL(con_trace, .metadata = -1, .output = id, .trace = id, .path = "t",
		      .uuid = { uuid, 16 }),
		 ==, 0);
}

static void open_ring(uint64_t id)
{
	CHECK_IS(CALL(con_ring, .data = -1, .ctl_rw = -1, .module = -1, .trace = id, .ring = id,
		      .channel = "c", .nr_rings = 1, .num_subbuf = 2, .subbuf_size = 4096,
		      .clock = 1),
		 ==, 0);
}

static void adopt_ring(uint64_t id, int data, int ctl_rw)
{
	SEND(con_ring, .adopt = 1, .trace = id, .ring = id, .channel = "c", .nr_rings = 1,
	     .num_subbuf = 2, .subbuf_size = 4096, .clock = 1, .data = data, .ctl_rw = ctl_rw,
	     .module = -1);
}

/* An answer whose request is dropped would be mistaken for that of another one. */
static void answers_of_the_dead(void)
{
	open_trace(1);
	for (int i = 0; i < 3; i++)
		SEND(con_output_flush, .output = 1);
	next_daemon();
	CHECK_IS(CALL(con_output_open, .output = 1, .dir = -1, .doorbell = -1), ==, 0);
	CHECK_IS(CALL(con_output_flush, .output = 1), ==, 0);
	CHECK_IS(CALL(con_output_close, .output = 1), ==, 0);
}

/* Killed while the consumer takes buffers over: its successor has them. */
static void taken_over_twice(void)
{
	int data, ctl_rw;

	open_trace(2);
	open_ring(2);
	data = last_fds[0];
	ctl_rw = last_fds[2];
	CHECK_IS(CALL(con_output_close, .output = 2), ==, 0);

	open_trace(3);
	adopt_ring(3, data, ctl_rw);
	next_daemon();
	CHECK_IS(CALL(con_output_open, .output = 3, .dir = -1, .doorbell = -1), ==, 0);
	adopt_ring(3, data, ctl_rw);
	while (last_serial != serial)
		CHECK_IS(loop_run(loop), ==, 0);
	CHECK_IS(last_code, ==, 0);
	items = 0;
	CHECK(CALL(con_stats, .output = 3) == 0 && items == 1);
	/* once is enough */
	adopt_ring(3, data, ctl_rw);
	CHECK(last_serial == serial && last_code != 0);
	CHECK_IS(CALL(con_output_close, .output = 3), ==, 0);
	for (int i = 0; i < 4; i++)
		close(last_fds[i]);
}

/* Killed while a ring set is being closed: its successor receives its last counters. */
static void closed_twice(void)
{
	open_trace(4);
	open_ring(4);
	SEND(con_ring_close, .ring = 4);
	next_daemon();
	CHECK_IS(CALL(con_output_open, .output = 4, .dir = -1, .doorbell = -1), ==, 0);
	adopt_ring(4, last_fds[0], last_fds[3]);
	CHECK(last_serial == serial && last_code == 0);
	items = 0;
	CHECK(CALL(con_ring_close, .ring = 4) == 0 && items == 1);
	CHECK_IS(CALL(con_output_close, .output = 4), ==, 0);
}

/* Closed while it is taken over, which fails: an error, not a crash. */
static void closed_unadopted(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	uint32_t asked;

	open_trace(5);
	adopt_ring(5, null, null);
	asked = serial;
	SEND(con_ring_close, .ring = 5);
	while (last_serial != asked + 1)
		CHECK_IS(loop_run(loop), ==, 0);
	CHECK_IS(last_code, !=, 0);
	CHECK_IS(CALL(con_output_close, .output = 5), ==, 0);
	close(null);
}

int main(void)
{
	static const struct control_ops ops = { .send = on_send, .end = on_end, .ended = on_ended };

	CHECK_IS(loop_new(&loop), ==, 0);
	CHECK_IS(control_init(&control, loop, &ops), ==, 0);
	answers_of_the_dead();
	taken_over_twice();
	closed_twice();
	closed_unadopted();
	control_fini(&control);
	loop_free(loop);
	return 0;
}
