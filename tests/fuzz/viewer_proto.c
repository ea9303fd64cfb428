/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ltt-relayd receives arbitrary messages of a viewer: it is accepted, follows a live session
 * with a trace that has a packet, and sends the input, in chunks of sizes that the input chooses
 * (a byte of length before each; a chunk may be a whole request that is put together from its
 * first bytes). The relay lives, leaks no descriptor, and counts no viewer afterwards.
 */
#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"
#include "lib/fuzz_fds.h"
#include "lib/fuzz_loop.h"
#include "lib/fuzz_top.h"
#include "relayd/store/stream.h"
#include "relayd/viewer/viewer.h"

static struct disk disk;
static struct live live;
static const unsigned int none; /* of other descriptors */
static struct live_session *session;
static struct chunk_trace *dir;
static struct relstream *stream;
static uint64_t seq;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void store_packet(void)
{
	static const uint8_t uuid[16];
	const struct packet_stream of = { .uuid = uuid };
	struct packet_header header = packet_make(&of);
	struct err err = { 0 };

	header.packet_seq_num = header.timestamp_begin = header.timestamp_end = seq++;
	header.crc32c = packet_checksum(&header, NULL, 0);
	MUST_HOLD(relstream_begin(stream, &header, &err) == 0);
	MUST_HOLD(relstream_finish(stream, &err) == 0);
	live_beacon(session, seq);
}

static void set_up(void)
{
	static const uint8_t uuid[16];
	const struct chunk_trace_spec spec = { .id = 1, .path = "ust", .uuid = uuid };
	struct stream_config config = { .disk = &disk, .channel = (char *)"chan" };
	static struct chunk chunk;
	struct err err = { 0 };
	int fd;

	fuzz_loop_begin();
	fuzz_top_make();
	fd = open(fuzz_top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	live_init(&live, &none, 100);
	session =
		live_session_open(&live, "path", "path", -1, "host", "name", 1000000, false, false);
	chunk_init(&chunk, fd, &disk);
	MUST_HOLD(chunk_trace_open(&chunk, &spec, &dir, &err) == 0);
	close(fd);
	MUST_HOLD(chunk_append(dir, "/* text */", 10) == 0);
	config.trace = dir;
	MUST_HOLD(relstream_new(1, &config, 0, &stream, &err) == 0);
	relstream_show(stream, session);
	store_packet();
}

static void say(int fd, uint32_t command, const void *body, size_t len)
{
	struct view_request head = { htobe64(len), htobe32(command), 0 };

	(void)!send(fd, &head, sizeof(head), MSG_NOSIGNAL);
	if (len)
		(void)!send(fd, body, len, MSG_NOSIGNAL);
	fuzz_pump();
}

static void drain(int fd)
{
	static uint8_t answers[1 << 16];

	while (read(fd, answers, sizeof(answers)) > 0)
		fuzz_pump();
}

static void introduce(int fd)
{
	struct view_connect hello = { 0, htobe32(2), htobe32(4), htobe32(1) };
	struct view_attach attach = { htobe64(session->id), 0, htobe32(VIEW_FROM_BEGIN) };

	say(fd, VIEW_CONNECT, &hello, sizeof(hello));
	say(fd, VIEW_CREATE_SESSION, NULL, 0);
	say(fd, VIEW_ATTACH_SESSION, &attach, sizeof(attach));
}

/* Command, small numbers: inputs that get far, because they are like a request. */
static void put_together(int fd, const uint8_t *data, size_t len)
{
	int bytes = len ? viewer_body_bytes(data[0]) : -1;
	uint8_t body[VIEWER_MAX_BODY] = { 0 };

	if (bytes < 0)
		return;
	for (int i = 0; i < bytes && (size_t)i / 4 + 1 < len; i++)
		body[i] = (i + 1) % 4 ? 0 : data[i / 4 + 1];
	say(fd, data[0], body, (size_t)bytes);
}

static void feed(int fd, const uint8_t *data, size_t size)
{
	while (size > 1) {
		size_t len = MIN((size_t)(data[0] & 0x7f), size - 1);

		if (data[0] & 0x80)
			put_together(fd, data + 1, len);
		else if (len)
			(void)!send(fd, data + 1, len, MSG_NOSIGNAL);
		fuzz_pump();
		drain(fd);
		data += 1 + len;
		size -= 1 + len;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct viewers viewers;
	int fds[2], before;

	if (!fuzz_loop)
		set_up();
	before = fuzz_open_fds();
	MUST_HOLD(viewers_init(&viewers, fuzz_loop, &live, 20) == 0);
	MUST_HOLD(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
	MUST_HOLD(viewers_serve(&viewers, fds[0], NULL, true, (const uint8_t[16]){ 0 }) == 0);
	if (size && data[0] & 1)
		introduce(fds[1]);
	drain(fds[1]);
	if (size)
		feed(fds[1], data + 1, size - 1);
	close(fds[1]);
	fuzz_pump();
	MUST_HOLD(viewers.nr == 0 && viewers.files.nr == 0 && session->nr_viewers == 0);
	viewers_fini(&viewers);
	MUST_HOLD(fuzz_open_fds() == before);
	return 0;
}
