/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A packet that can't be written whole leaves the file as it was, wherever the room ends;
 * one that can is there whole, by whichever steps.
 */
#include "store/append.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

#define BEFORE 3000u /* bytes that the file has */
#define HEAD 64u
#define BODY_MAX 9000u

static uint8_t before[BEFORE], head[HEAD], body[BODY_MAX];

/* No file may be longer than @bytes. */
static void limit(uint64_t bytes)
{
	struct rlimit room = { bytes, RLIM_INFINITY };

	CHECK_IS(setrlimit(RLIMIT_FSIZE, &room), ==, 0);
}

static int new_file(void)
{
	char name[] = "/tmp/append-XXXXXX";
	int fd = mkstemp(name);

	CHECK(fd >= 0 && unlink(name) == 0);
	CHECK_IS(write(fd, before, BEFORE), ==, BEFORE);
	return fd;
}

static uint64_t size_of(int fd)
{
	struct stat st;

	CHECK_IS(fstat(fd, &st), ==, 0);
	return (uint64_t)st.st_size;
}

static void check_bytes(int fd, const void *want, size_t len, uint64_t offset)
{
	static uint8_t got[BODY_MAX];

	CHECK(pread(fd, got, len, (off_t)offset) == (ssize_t)len && !memcmp(got, want, len));
}

static void check_packet(const struct append_packet *packet, uint64_t room)
{
	uint64_t end = BEFORE + packet->head_bytes + packet->body_bytes;
	int fd = new_file(), ret;

	limit(room);
	ret = append_packet(fd, BEFORE, packet);
	limit(RLIM_INFINITY);
	check_bytes(fd, before, BEFORE, 0);
	if (room < end) {
		CHECK(ret == -EFBIG && size_of(fd) == BEFORE);
	} else {
		CHECK(ret == 0 && size_of(fd) == end);
		check_bytes(fd, packet->head, packet->head_bytes, BEFORE);
		check_bytes(fd, packet->body, packet->body_bytes, BEFORE + packet->head_bytes);
	}
	close(fd);
}

/* The room ends everywhere in the packet, at its ends, and behind it. */
static void check_rooms(size_t body_bytes, bool head_first)
{
	struct append_packet packet = { .head = head,
					.head_bytes = HEAD,
					.body = body,
					.body_bytes = body_bytes,
					.content_at = 16,
					.content_bytes = 8,
					.head_first = head_first };
	uint64_t end = BEFORE + HEAD + body_bytes;

	for (uint64_t room = BEFORE; room < end; room += 1 + body_bytes / 50)
		check_packet(&packet, room);
	check_packet(&packet, end - 1);
	check_packet(&packet, end);
	check_packet(&packet, end + 1);
}

int main(void)
{
	signal(SIGXFSZ, SIG_IGN);
	memset(before, 1, sizeof(before));
	memset(head, 2, sizeof(head));
	memset(body, 3, sizeof(body));
	for (int head_first = 0; head_first < 2; head_first++) {
		check_rooms(0, head_first);
		check_rooms(100, head_first); /* within a page: at once */
		check_rooms(BODY_MAX, head_first);
	}
	return 0;
}
