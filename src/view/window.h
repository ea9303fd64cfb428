/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * window.h - a part of a stream file in memory. Belongs to one stream. Files
 * are read, never mapped: one that is truncated while it is viewed causes a
 * short read and no signal.
 */
#ifndef VIEW_WINDOW_H
#define VIEW_WINDOW_H

#include "base/macros.h"

/** The largest size of a window, and so of an event. */
#define WINDOW_MAX (64u << 20)

/**
 * struct window
 * @limit: size of the file when the view was opened; later bytes are not read.
 * @preferred: size of a read, unless little is needed.
 */
struct window {
	int fd;
	uint64_t limit;
	size_t preferred;
	uint8_t *buf;
	size_t size;
	uint64_t offset;
	size_t len;
};

void window_fini(struct window *window);

/**
 * window_get() - load at least @want bytes at @offset.
 * @ret_bytes: the bytes, valid until the next call.
 * @ret_len: their number: less than @want only at the end of the file.
 * Return: 0, -ENOMEM, or an error of reading.
 */
int window_get(struct window *window, uint64_t offset, size_t want, const uint8_t **ret_bytes,
	       size_t *ret_len) MUST_CHECK;

#endif
