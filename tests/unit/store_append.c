/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A packet that can't be written whole leaves the file as it was, wherever the room ends;
 * one that can is there whole, by whichever steps. So is one that is spliced out of a ring, also
 * where its body wraps, and where splice() fails. A long one has its blocks from the first step on,
 * and a step is long enough for the page cache, and short enough for a thread that rests. Its
 * checksum is computed on the way.
 */
#include "store/append.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "check.h"
#include "trace/crc32c.h"

#define BEFORE 3000u /* bytes that the file has */
#define HEAD 64u
#define BODY_MAX 9000u

#define RING 16384u /* bytes; a body begins near its end */

static uint8_t before[BEFORE], head[HEAD], body[BODY_MAX];
static const uint8_t *ring; /* mapped twice in a row */
static struct splicer splicer = SPLICER_NONE;
static struct splice_source source;

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
static void check_rooms(const uint8_t *from, size_t body_bytes, bool head_first)
{
	struct append_packet packet = { .head = head,
					.head_bytes = HEAD,
					.body = from,
					.body_bytes = body_bytes,
					.content_at = 16,
					.content_bytes = 8,
					.head_first = head_first,
					.source = from == body ? NULL : &source };
	uint64_t end = BEFORE + HEAD + body_bytes;

	for (uint64_t room = BEFORE; room < end; room += 1 + body_bytes / 50)
		check_packet(&packet, room);
	check_packet(&packet, end - 1);
	check_packet(&packet, end);
	check_packet(&packet, end + 1);
}

/* Between other bytes, as in the file of a ring set. */
static void make_ring(void)
{
	int fd = memfd_create("ring", MFD_CLOEXEC);
	uint8_t *at;

	CHECK(fd >= 0 && ftruncate(fd, 4096 + 2 * RING) == 0);
	for (off_t i = 4096; i < 4096 + (off_t)RING; i++)
		CHECK_IS(pwrite(fd, &(uint8_t){ (uint8_t)(i * 7 + i / 256) }, 1, i), ==, 1);
	at = mmap(NULL, 2 * RING, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 2; i++)
		CHECK(mmap(at + i * RING, RING, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 4096) !=
		      MAP_FAILED);
	ring = at;
	source = (struct splice_source){ &splicer, ring, fd, 4096, RING };
}

static void check_spliced(void)
{
	const uint8_t *wraps = ring + RING - 4100;

	for (int head_first = 0; head_first < 2; head_first++) {
		check_rooms(ring + 5, BODY_MAX, head_first);
		check_rooms(wraps, BODY_MAX, head_first);
	}
}

/* It fails at each call: all is written. */
static void check_unspliced(void)
{
	int fd = source.fd;

	source.fd = -1;
	check_rooms(ring + 5, BODY_MAX, false);
	CHECK(splicer.warned && splicer.pipe[0] < 0);
	source.fd = fd;
}

/* No more descriptors are permitted. */
static void check_no_pipe(void)
{
	struct rlimit old, none;
	uint64_t at = 0, moved;
	int fd = new_file(), ret;

	splicer_fini(&splicer);
	CHECK_IS(getrlimit(RLIMIT_NOFILE, &old), ==, 0);
	none = (struct rlimit){ 0, old.rlim_max };
	CHECK_IS(setrlimit(RLIMIT_NOFILE, &none), ==, 0);
	ret = splice_move(&source, ring, 8192, fd, &at, false, NULL, NULL, &moved);
	CHECK_IS(setrlimit(RLIMIT_NOFILE, &old), ==, 0);
	CHECK(ret == -EMFILE && moved == 0);
	close(fd);
}

/* After an error the pipe has no bytes that would come before the next packet. */
static void check_emptied(void)
{
	uint64_t at = 0, moved, next = 0;
	int fd = new_file(), full = open("/dev/full", O_WRONLY);

	CHECK_IS(splice_move(&source, ring, 8192, full, &at, false, NULL, NULL, &moved), <, 0);
	CHECK(moved == 0 && splicer.pipe[0] < 0);
	CHECK_IS(splice_move(&source, ring + 100, 4096, fd, &next, false, NULL, NULL, &moved), ==,
		 0);
	CHECK(moved == 4096 && splicer.pipe[0] >= 0);
	check_bytes(fd, ring + 100, 4096, 0);
	close(full);
	close(fd);
}

struct reader {
	int fd;
	uint8_t got[RING];
	size_t len;
	int waits;
};

/* Read some bytes of the socket. */
static int make_room(void *data)
{
	struct reader *r = data;
	ssize_t n = read(r->fd, r->got + r->len, MIN((size_t)3000, sizeof(r->got) - r->len));

	CHECK(n > 0);
	r->len += (size_t)n;
	r->waits++;
	return r->waits < 1000 ? 0 : -ETIMEDOUT;
}

static int give_up(void *data)
{
	(void)data;
	return -ETIMEDOUT;
}

static void new_pair(int fds[2])
{
	int small = 2304;

	CHECK_IS(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), ==, 0);
	CHECK_IS(setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), ==, 0);
}

static void check_socket(void)
{
	static struct reader r;
	uint64_t moved;
	int fds[2], ret;
	ssize_t n;

	new_pair(fds);
	r.fd = fds[1];
	CHECK_IS(splice_move(&source, ring + RING - 6000, 12000, fds[0], NULL, false, make_room, &r,
			     &moved),
		 ==, 0);
	CHECK(moved == 12000 && r.waits > 0);
	while ((n = read(fds[1], r.got + r.len, sizeof(r.got) - r.len)) > 0)
		r.len += (size_t)n;
	CHECK(r.len == 12000 && memcmp(r.got, ring + RING - 6000, 12000) == 0);
	do /* the socket's buffer is as large as it likes */
		ret = splice_move(&source, ring, RING, fds[0], NULL, false, give_up, NULL, &moved);
	while (ret == 0);
	CHECK_IS(ret, ==, -ETIMEDOUT);
	CHECK(moved < RING && splicer.pipe[0] < 0);
	close(fds[1]);
	CHECK_IS(splice_move(&source, ring, RING, fds[0], NULL, false, give_up, NULL, &moved), ==,
		 -EPIPE);
	close(fds[0]);
}

#define LONG_BYTES ((8u << 20) + 100)

struct steps {
	int fd;
	unsigned int nr;
	uint64_t blocks_bytes; /* of the file, after the first one */
};

static void count_step(void *data)
{
	struct steps *steps = data;
	struct stat st;

	CHECK_IS(fstat(steps->fd, &st), ==, 0);
	if (!steps->nr++)
		steps->blocks_bytes = (uint64_t)st.st_blocks * 512;
}

static bool can_reserve(void)
{
	int fd = new_file();
	bool can = fallocate(fd, FALLOC_FL_KEEP_SIZE, BEFORE, HEAD) == 0;

	close(fd);
	return can;
}

static void check_long(void)
{
	struct steps steps = { .fd = new_file() };
	struct disk disk = { .progress = count_step, .data = &steps };
	uint8_t *bytes = xalloc(LONG_BYTES), *got = xalloc(LONG_BYTES);
	struct append_packet packet = { .head = head,
					.head_bytes = HEAD,
					.body = bytes,
					.body_bytes = LONG_BYTES,
					.content_at = 16,
					.content_bytes = 8,
					.disk = &disk };

	for (size_t i = 0; i < LONG_BYTES; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 4096);
	CHECK_IS(append_packet(steps.fd, BEFORE, &packet), ==, 0);
	CHECK(steps.nr >= 8 && steps.nr <= 32);
	CHECK(steps.blocks_bytes >= LONG_BYTES || !can_reserve());
	CHECK_IS(size_of(steps.fd), ==, BEFORE + HEAD + LONG_BYTES);
	CHECK_IS(pread(steps.fd, got, LONG_BYTES, BEFORE + HEAD), ==, LONG_BYTES);
	CHECK(memcmp(got, bytes, LONG_BYTES) == 0);
	check_bytes(steps.fd, before, BEFORE, 0);
	check_bytes(steps.fd, head, HEAD, BEFORE);
	close(steps.fd);
	free(bytes);
	free(got);
}

/* The checksum goes on over the body, however it is written. */
static void check_sum(size_t body_bytes)
{
	uint8_t *bytes = xalloc(body_bytes), *got = xalloc(HEAD + body_bytes);
	uint32_t sum = 12345;
	struct append_packet packet = { .head = head,
					.head_bytes = HEAD,
					.body = bytes,
					.body_bytes = body_bytes,
					.content_at = 16,
					.content_bytes = 8,
					.sum_at = 24 };
	int fd = new_file();

	for (size_t i = 0; i < body_bytes; i++)
		bytes[i] = (uint8_t)(i * 5 + i / 999);
	memcpy(head + 24, &sum, sizeof(sum));
	sum = crc32c(sum, bytes, body_bytes);
	CHECK_IS(append_packet(fd, BEFORE, &packet), ==, 0);
	CHECK(memcmp(head + 24, &sum, sizeof(sum)) == 0);
	CHECK_IS(pread(fd, got, HEAD + body_bytes, BEFORE), ==, (ssize_t)(HEAD + body_bytes));
	CHECK(memcmp(got, head, HEAD) == 0 && memcmp(got + HEAD, bytes, body_bytes) == 0);
	close(fd);
	free(bytes);
	free(got);
}

int main(void)
{
	signal(SIGXFSZ, SIG_IGN);
	memset(before, 1, sizeof(before));
	memset(head, 2, sizeof(head));
	memset(body, 3, sizeof(body));
	for (int head_first = 0; head_first < 2; head_first++) {
		check_rooms(body, 0, head_first);
		check_rooms(body, 100, head_first); /* within a page: at once */
		check_rooms(body, BODY_MAX, head_first);
	}
	signal(SIGPIPE, SIG_IGN);
	make_ring();
	check_spliced();
	check_emptied();
	check_socket();
	check_unspliced();
	check_no_pipe();
	check_long();
	check_sum(100);
	check_sum(BODY_MAX);
	check_sum((1 << 20) + 1);
	splicer_fini(&splicer);
	return 0;
}
