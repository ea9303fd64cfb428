/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "store/append.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/mem.h"

#define COPY_BYTES (64u << 10)

#include "trace/crc32c.h"

/* A disk that needs seconds for this hangs. Fewer bytes, so that the thread can rest in between:
 * 0.2 ms. With still fewer the kernel's work for each page is a third more. */
#define STEP_BYTES (512u << 10)
#define SPLICE_BYTES (1u << 20)
#define LONG_BYTES (4u << 20) /* a body that is worth a reservation */

/* Take @n written bytes off the front. */
static void append_advance(struct iovec *iov, size_t n)
{
	for (int i = 0; i < 2 && n; i++) {
		size_t step = MIN(n, iov[i].iov_len);

		iov[i].iov_base = (char *)iov[i].iov_base + step;
		iov[i].iov_len -= step;
		n -= step;
	}
}

static int append_write_all(int fd, struct iovec iov[2], uint64_t offset)
{
	while (iov[0].iov_len || iov[1].iov_len) {
		struct iovec *first = iov[0].iov_len ? iov : iov + 1;
		ssize_t n = pwritev(fd, first, first == iov ? 2 : 1, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		append_advance(iov, (size_t)n);
		offset += (uint64_t)n;
	}
	return 0;
}

int append_bytes(int fd, const void *data, size_t len, uint64_t offset)
{
	struct iovec iov[2] = { { .iov_base = (void *)data, .iov_len = len }, { 0 } };

	return append_write_all(fd, iov, offset);
}

static void append_sum(const struct append_packet *p, uint64_t at, uint64_t bytes)
{
	uint8_t *field = (uint8_t *)p->head + p->sum_at;
	uint32_t sum;

	if (!p->sum_at)
		return;
	memcpy(&sum, field, sizeof(sum));
	sum = crc32c(sum, (const uint8_t *)p->body + at, bytes);
	memcpy(field, &sum, sizeof(sum));
}

static int append_at_once(int fd, uint64_t offset, const struct append_packet *p)
{
	struct iovec iov[2] = {
		{ .iov_base = (void *)p->head, .iov_len = p->head_bytes },
		{ .iov_base = (void *)p->body, .iov_len = p->body_bytes },
	};

	append_sum(p, 0, p->body_bytes);
	return append_write_all(fd, iov, offset);
}

/* The file's new size at once. */
static int append_end(int fd, uint64_t offset, const struct append_packet *p)
{
	static const uint8_t none;
	const uint8_t *last = p->body ? (const uint8_t *)p->body + p->body_bytes - 1 : &none;

	return append_bytes(fd, last, 1, offset + p->head_bytes + p->body_bytes - 1);
}

static int append_empty_head(int fd, uint64_t offset, const struct append_packet *p)
{
	uint64_t none = p->head_bytes * 8; /* little-endian, so right for both widths */
	uint8_t head[APPEND_HEAD_MAX];

	memcpy(head, p->head, p->head_bytes);
	memcpy(head + p->content_at, &none, p->content_bytes);
	return append_bytes(fd, head, p->head_bytes, offset);
}

static int append_empty(int fd, uint64_t offset, const struct append_packet *p)
{
	int ret = p->head_first ? append_empty_head(fd, offset, p) : append_end(fd, offset, p);

	if (ret == 0)
		ret = p->head_first ? append_end(fd, offset, p) : append_empty_head(fd, offset, p);
	return ret;
}

int append_finish(int fd, uint64_t offset, const struct append_packet *p)
{
	const uint8_t *head = p->head;
	int ret = 0;

	if (p->sum_at)
		ret = append_bytes(fd, head + p->sum_at, sizeof(uint32_t), offset + p->sum_at);
	if (ret < 0)
		return ret;
	return append_bytes(fd, head + p->content_at, p->content_bytes, offset + p->content_at);
}

/* @source: NULL: not spliced. After a failure the rest is written, which succeeds, or returns the
 * error of the file. */
static int append_step(int fd, uint64_t offset, const uint8_t *data, uint64_t len,
		       const struct splice_source **source)
{
	uint64_t moved = 0;
	int spliced = 0, written;

	if (*source)
		spliced = splice_move(*source, data, len, fd, &offset, false, NULL, NULL, &moved);
	written = append_bytes(fd, data + moved, len - moved, offset + moved);
	if (spliced < 0 && written == 0)
		splice_warn(*source, spliced);
	if (spliced < 0)
		*source = NULL;
	return written;
}

static int append_body(int fd, uint64_t offset, const struct append_packet *p)
{
	const struct splice_source *source = p->source;
	int ret = 0;

	for (uint64_t done = 0, step; ret == 0 && done < p->body_bytes; done += step) {
		step = MIN(p->body_bytes - done, (uint64_t)(source ? SPLICE_BYTES : STEP_BYTES));
		append_sum(p, done, step);
		ret = append_step(fd, offset + done, (const uint8_t *)p->body + done, step,
				  &source);
		if (p->disk)
			disk_progress(p->disk);
	}
	return ret;
}

/* So that the file system finds blocks for all at once, and not for each page. Errors are ignored:
 * not every file system supports it, and if the disk is full, writing fails, too. */
static void append_reserve(int fd, uint64_t offset, const struct append_packet *p)
{
	if (p->body_bytes >= LONG_BYTES)
		(void)!fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)offset,
				 (off_t)(p->head_bytes + p->body_bytes));
}

static int append_in_steps(int fd, uint64_t offset, const struct append_packet *p)
{
	int ret;

	append_reserve(fd, offset, p);
	ret = append_empty(fd, offset, p);
	if (ret == 0)
		ret = append_body(fd, offset + p->head_bytes, p);
	return ret < 0 ? ret : append_finish(fd, offset, p);
}

int append_begin(int fd, uint64_t offset, const struct append_packet *p)
{
	int ret;

	if (p->head_bytes > APPEND_HEAD_MAX)
		return -EINVAL;
	ret = p->body_bytes ? append_empty(fd, offset, p) : append_empty_head(fd, offset, p);
	if (ret < 0 && ftruncate(fd, (off_t)offset) < 0)
		return ret;
	return ret;
}

int append_packet(int fd, uint64_t offset, const struct append_packet *packet)
{
	uint64_t end = offset + packet->head_bytes + packet->body_bytes;
	int ret;

	if (packet->head_bytes > APPEND_HEAD_MAX)
		return -EINVAL;
	if (offset / APPEND_PAGE == (end - 1) / APPEND_PAGE || !packet->body_bytes ||
	    !packet->content_bytes)
		ret = append_at_once(fd, offset, packet);
	else
		ret = append_in_steps(fd, offset, packet);
	if (ret < 0 && ftruncate(fd, (off_t)offset) < 0)
		return ret; /* the next attempt writes over it */
	return ret;
}

int append_file(int from, int to, uint64_t bytes)
{
	AUTO_FREE char *buf = xalloc(COPY_BYTES);

	for (uint64_t at = 0; at < bytes;) {
		ssize_t n = pread(from, buf, MIN(bytes - at, COPY_BYTES), (off_t)at);
		int ret = n <= 0 ? -EIO : append_bytes(to, buf, (size_t)n, at);

		if (ret < 0)
			return ret;
		at += (uint64_t)n;
	}
	return 0;
}
