/* SPDX-License-Identifier: GPL-2.0-only */
#include "relay_sender.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "../check.h"
#include "io/frame.h"
#include "relayd/sender/conn.h"
#include "trace/index.h"

const uint8_t sender_id[16] = "0123456789abcdef";

int sender_connect(struct relay *relay)
{
	int fds[2];

	CHECK_IS(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);
	CHECK_IS(fcntl(fds[0], F_SETFL, O_NONBLOCK), ==, 0);
	CHECK_IS(relay_serve(relay, fds[0], NULL), ==, 0);
	return fds[1];
}

static bool send_bytes(int fd, const void *data, size_t len)
{
	return send(fd, data, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static bool receive_bytes(int fd, void *data, size_t len)
{
	return recv(fd, data, len, MSG_WAITALL) == (ssize_t)len;
}

bool sender_write(int fd, const struct encoder *enc, const void *body, size_t body_len)
{
	uint8_t head[FRAME_HEAD_BYTES];

	CHECK_IS(encoder_finish(enc), ==, 0);
	frame_head(head, enc->len);
	return send_bytes(fd, head, sizeof(head)) && send_bytes(fd, enc->buf, enc->len) &&
	       (!body_len || send_bytes(fd, body, body_len));
}

int sender_answer(int fd)
{
	uint8_t head[FRAME_HEAD_BYTES], buf[RELCONN_ANSWER_BYTES];
	const char *sentence;
	struct msg_header header;
	struct decoder dec;
	size_t len;

	if (!receive_bytes(fd, head, sizeof(head)))
		return -1;
	len = head[0] | (size_t)head[1] << 8;
	CHECK(len <= sizeof(buf) && !head[2] && !head[3]);
	if (!receive_bytes(fd, buf, len))
		return -1;
	decoder_init(&dec, buf, len, NULL, 0);
	CHECK(decode_header(&dec, &header) == 0 && header.flags == MSG_REPLY);
	return (int)decode_outcome(&dec, &sentence);
}

int sender_begin(int fd, const char *name, enum sync_mode sync, uint32_t live_us)
{
	const struct blob id = { sender_id, sizeof(sender_id) };
	int ret = SENDER_ASK(fd, rel_hello, { "test", 0 });

	if (ret == 0)
		ret = SENDER_ASK(fd, rel_session, { "host", name, "stamp", id, live_us, sync, 0,
						     "" });
	if (ret == 0)
		ret = SENDER_ASK(fd, rel_trace, { 1, "ust", id, 0, 0 });
	if (ret == 0)
		ret = SENDER_ASK(fd, rel_stream, { .trace = 1, .stream = 1, .channel = "chan" });
	return ret;
}

struct packet_header sender_header(uint64_t seq, const void *body, size_t body_len)
{
	const struct packet_stream stream = { .uuid = sender_id };
	struct packet_header header = packet_make(&stream);

	packet_set_body(&header, body_len);
	header.packet_seq_num = seq;
	header.crc32c = packet_checksum(&header, body, body_len);
	return header;
}

bool sender_write_packet(int fd, const struct packet_header *header, const void *body,
			 size_t body_len)
{
	const struct req_rel_packet req = {
		.stream = 1,
		.header = { (const uint8_t *)header, sizeof(*header) },
	};
	uint8_t buf[1024];
	struct encoder enc;

	encoder_init(&enc, buf, sizeof(buf));
	encode_header(&enc, MSG_rel_packet, 0, 1);
	req_rel_packet_encode(&enc, &req);
	return sender_write(fd, &enc, body, body_len);
}

uint64_t sender_stored(int out_fd, const char *name)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "host/%s-stamp/ust/index/chan_0.idx", name);
	CHECK_IS(fstatat(out_fd, path, &st, 0), ==, 0);
	return ((uint64_t)st.st_size - sizeof(struct index_header)) / sizeof(struct index_entry);
}
