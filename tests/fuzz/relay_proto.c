/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ltt-relayd receives arbitrary messages: a peer that has sent hello and opened a session,
 * a trace and a stream sends the input, in chunks of sizes that the input chooses (two
 * bytes of length before each). The relay lives, writes nowhere else, leaks no descriptor
 * and no count; a well-behaved peer is answered all the while.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/fuzz_fds.h"
#include "lib/fuzz_loop.h"
#include "lib/fuzz_top.h"
#include "io/frame.h"
#include "proto/relay.h"
#include "relayd/relay.h"
#include "trace/packet.h"

static struct relay relay;
static int out_fd;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void set_up(void)
{
	char path[64];

	fuzz_loop_begin();
	fuzz_top_make();
	snprintf(path, sizeof(path), "%s/out", fuzz_top);
	MUST_HOLD(mkdir(path, 0700) == 0);
	out_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	MUST_HOLD(out_fd >= 0);
}

static int connect_peer(void)
{
	int fds[2];

	MUST_HOLD(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
	MUST_HOLD(relay_serve(&relay, fds[0], NULL) == 0);
	return fds[1];
}

/* An answer may wait for a thread that syncs. Return: as read(). */
static ssize_t await_answer(int fd, uint8_t *buf, size_t len)
{
	ssize_t n = -1;

	for (int tries = 0; tries < 10000 && n < 0; tries++) {
		fuzz_pump();
		n = read(fd, buf, len);
		if (n < 0)
			usleep(20);
	}
	return n;
}

/* Send the message in @enc and wait. Return: the answer's code, or -1. */
static int ask(int fd, const struct encoder *enc)
{
	uint8_t head[FRAME_HEAD_BYTES], buf[2048];
	const char *sentence;
	struct msg_header header;
	struct decoder dec;
	ssize_t n;

	frame_head(head, enc->len);
	MUST_HOLD(encoder_finish(enc) == 0);
	if (write(fd, head, sizeof(head)) != sizeof(head) ||
	    write(fd, enc->buf, enc->len) != (ssize_t)enc->len)
		return -1;
	n = await_answer(fd, buf, sizeof(buf));
	if (n <= (ssize_t)FRAME_HEAD_BYTES)
		return -1;
	decoder_init(&dec, buf + FRAME_HEAD_BYTES, (size_t)n - FRAME_HEAD_BYTES, NULL, 0);
	MUST_HOLD(decode_header(&dec, &header) == 0 && header.flags == MSG_REPLY);
	return (int)decode_outcome(&dec, &sentence);
}

#define ASK(fd, name, ...)                               \
	({                                               \
		struct req_##name req_ = __VA_ARGS__;    \
		uint8_t buf_[1024];                      \
		struct encoder enc_;                     \
                                                         \
		encoder_init(&enc_, buf_, sizeof(buf_)); \
		encode_header(&enc_, MSG_##name, 0, 1);  \
		req_##name##_encode(&enc_, &req_);       \
		ask(fd, &enc_);                          \
	})

static const uint8_t sixteen[16] = "0123456789abcdef";
static const struct blob id = { sixteen, sizeof(sixteen) };

/* A fuzzer learns the values it is compared with: the decent sender's id must stay unknown. */
static struct blob random_id(uint8_t buf[16])
{
	MUST_HOLD(getrandom(buf, 16, 0) == 16);
	return (struct blob){ buf, 16 };
}

static void introduce(int fd, const char *name, struct blob session)
{
	MUST_HOLD(ASK(fd, rel_hello, { "fuzz", 0 }) == 0);
	MUST_HOLD(ASK(fd, rel_session, { "host", name, "stamp", session, 20000, SYNC_PACKET, 0, "" }) == 0);
	MUST_HOLD(ASK(fd, rel_trace, { 1, "ust", id, 0, 0 }) == 0);
	MUST_HOLD(ASK(fd, rel_stream, { .trace = 1, .stream = 1, .channel = "chan" }) == 0);
}

static void feed(int fd, const uint8_t *data, size_t size)
{
	uint8_t answers[4096];

	while (size > 2) {
		size_t len = data[0] | (size_t)data[1] << 8;

		data += 2;
		size -= 2;
		len = len < size ? len : size;
		if (send(fd, data, len, MSG_NOSIGNAL) < 0)
			return;
		fuzz_pump();
		while (read(fd, answers, sizeof(answers)) > 0)
			;
		data += len;
		size -= len;
	}
}

/* A whole packet without events, the next one. */
static void send_packet(int fd, uint64_t seq)
{
	const struct packet_stream stream = { .uuid = (const uint8_t *)sixteen };
	struct packet_header header = packet_make(&stream);

	header.packet_seq_num = seq;
	header.crc32c = packet_checksum(&header, NULL, 0);
	MUST_HOLD(ASK(fd, rel_packet,
		      { .stream = 1,
			.header = { (const uint8_t *)&header, sizeof(header) } }) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint64_t seq;
	uint8_t secret[16];
	struct stat st;
	int decent, peer, before;
	char path[64];

	if (!fuzz_loop)
		set_up();
	before = fuzz_open_fds();
	unlinkat(out_fd, "host/decent-stamp/.session", 0); /* with another id it goes on there */
	MUST_HOLD(relay_init(&relay, fuzz_loop, out_fd, 200) == 0);
	relay.max_workers = 0; /* one thread, which fuzz_pump() drives */
	decent = connect_peer();
	introduce(decent, "decent", random_id(secret));
	peer = connect_peer();
	introduce(peer, "peer", id);
	feed(peer, data, size);
	close(peer);
	fuzz_pump();
	send_packet(decent, seq);
	seq += 2; /* the relay makes one of the first turn */
	MUST_HOLD(ASK(decent, rel_metadata, { 1, { sixteen, sizeof(sixteen) } }) == 0);
	MUST_HOLD(ASK(decent, rel_beacon, { seq }) == 0);
	MUST_HOLD(ASK(decent, rel_clock, { .offset_ns = -5, .error_ns = 7 }) == 0);
	MUST_HOLD(ASK(decent, rel_turn, { "clear", 1 }) == 0);
	MUST_HOLD(ASK(decent, rel_stream_end, { 1 }) == 0);
	MUST_HOLD(ASK(decent, rel_end, {}) == 0);
	close(decent);
	fuzz_pump();
	MUST_HOLD(relay.nr_files == 0 && relay.nr_conns == 0);
	relay_fini(&relay);
	MUST_HOLD(fuzz_open_fds() == before);
	/* "out" and "." and "..": nothing beside it */
	snprintf(path, sizeof(path), "%s", fuzz_top);
	MUST_HOLD(stat(path, &st) == 0 && st.st_nlink == 3);
	return 0;
}
