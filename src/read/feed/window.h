/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * window.h - a part of a stream file in memory. Belongs to one stream. Files
 * are read, never mapped: one that is truncated while it is viewed causes a
 * short read and no signal.
 */
#ifndef READ_FEED_WINDOW_H
#define READ_FEED_WINDOW_H

#include <stdbool.h>

#include "base/macros.h"
#include "slab.h"

/** The largest size of a window, and so of an event. */
#define WINDOW_MAX (64u << 20)

/** struct window_file - an open file. @refs: of its owners, which any thread may be. */
struct window_file {
	unsigned int refs;
	int fd;
};

/** @fd: owned by the file. */
struct window_file *window_file_new(int fd);
/** Return: @file, which one more owner has. */
struct window_file *window_file_ref(struct window_file *file);
struct window_file *window_file_unref(struct window_file *file);

/**
 * struct window
 * @file: NULL: it is not open, or the bytes are received.
 * @limit: size of the file when the view was opened; later bytes are not read.
 * @sparse: the file has holes; @holes_left: bytes of holes that may still be read. A file's holes
 *          cost nothing to make, so reading is bounded by its data and not by its size.
 * @preferred: size of a read, unless little is needed.
 * @slab: where the memory comes from (slab_take()).
 */
struct window {
	struct window_file *file;
	uint64_t limit;
	bool sparse;
	uint64_t holes_left;
	size_t preferred;
	struct slab *slab;
	uint8_t *buf;
	size_t size;
	uint64_t offset;
	size_t len;
};

void window_fini(struct window *window);

static inline int window_fd(const struct window *window)
{
	return window->file ? window->file->fd : -1;
}

/** Whether a file of @limit bytes in @blocks of 512 has holes. */
static inline bool window_is_sparse(uint64_t limit, uint64_t blocks)
{
	return blocks < limit / 512;
}

/** Find the holes of the file that was opened; @blocks: its st_blocks.
 *  Return: the number of bytes that are not in holes. */
uint64_t window_measure(struct window *window, uint64_t blocks);

/** The first byte from @offset on that is not in a hole; the end of the file if there is none. */
uint64_t window_data(const struct window *window, uint64_t offset);

/** Have @len @bytes behind all others in place of a file's; allocated, and owned by the window. */
void window_receive(struct window *window, uint8_t *bytes, size_t len);

/**
 * window_get() - load at least @want bytes at @offset.
 * @ret_bytes: the bytes, valid until the next call.
 * @ret_len: their number: less than @want only at the end of the file.
 * Return: 0, -ENOMEM, -ENODATA: too much of the file is a hole, or an error of reading.
 */
int window_get(struct window *window, uint64_t offset, size_t want, const uint8_t **ret_bytes,
	       size_t *ret_len) MUST_CHECK;

#endif
