/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "splice.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "mem.h"

/* If the user's limit permits no pipe of this size, a round has 16 pages, or two. */
#define PIPE_BYTES (1 << 20)

static int splicer_open(struct splicer *s)
{
	if (s->pipe[0] >= 0)
		return 0;
	if (pipe2(s->pipe, O_CLOEXEC) < 0) {
		s->pipe[0] = s->pipe[1] = -1;
		return -errno;
	}
	(void)fcntl(s->pipe[1], F_SETPIPE_SZ, PIPE_BYTES);
	return 0;
}

void splicer_fini(struct splicer *s)
{
	s->pipe[0] = close_fd(s->pipe[0]);
	s->pipe[1] = close_fd(s->pipe[1]);
}

static ssize_t splice_in(const struct splice_source *source, uint64_t position, uint64_t len)
{
	uint64_t in_ring = position & (source->size - 1);
	loff_t at = (loff_t)(source->base + in_ring);
	ssize_t n = splice(source->fd, &at, source->splicer->pipe[1], NULL,
			   MIN(len, source->size - in_ring), SPLICE_F_NONBLOCK);

	return n < 0 ? -errno : n ? n : -EIO; /* the ring's file is never shorter */
}

/* Move the contents of the pipe, @len bytes. */
static int splice_out(const struct splicer *s, uint64_t len, int out, const uint64_t *offset,
		      bool more, splice_wait wait, void *data, uint64_t *moved)
{
	unsigned int flags = SPLICE_F_NONBLOCK | (more ? SPLICE_F_MORE : 0);

	while (len) {
		loff_t at = offset ? (loff_t)(*offset + *moved) : 0;
		ssize_t n = splice(s->pipe[0], NULL, out, offset ? &at : NULL, len, flags);
		int ret = n > 0 ? 0 : n < 0 ? -errno : -ENOSPC;

		if (ret == -EAGAIN && wait)
			ret = wait(data);
		else if (ret == -EINTR)
			ret = 0;
		if (ret < 0)
			return ret;
		if (n > 0) {
			len -= (uint64_t)n;
			*moved += (uint64_t)n;
		}
	}
	return 0;
}

int splice_move(const struct splice_source *source, const void *at, uint64_t len, int out,
		const uint64_t *offset, bool more, splice_wait wait, void *data,
		uint64_t *ret_moved)
{
	uint64_t position = (uint64_t)((const uint8_t *)at - source->mapped);
	int ret = splicer_open(source->splicer);

	*ret_moved = 0;
	while (ret == 0 && *ret_moved < len) {
		ssize_t n = splice_in(source, position + *ret_moved, len - *ret_moved);

		if (n == -EINTR)
			continue;
		ret = n < 0 ? (int)n :
			      splice_out(source->splicer, (uint64_t)n, out, offset,
					 more || *ret_moved + (uint64_t)n < len, wait, data,
					 ret_moved);
	}
	if (ret < 0) /* the next packet must not begin with the rest of this one */
		splicer_fini(source->splicer);
	return ret;
}

void splice_warn(const struct splice_source *source, int error)
{
	struct splicer *s = source->splicer;

	if (!s->warned)
		log_warn("splice() failed, so data is written from the mapping instead: %s",
			 strerror(-error));
	s->warned = true;
}
