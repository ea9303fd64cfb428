/* SPDX-License-Identifier: GPL-2.0-only */
#include "window.h"

#include <errno.h>

void window_fini(struct window *window)
{
	free(window->buf);
	*window = (struct window){ .fd = close_fd(window->fd) };
}

static int window_grow(struct window *w, size_t size)
{
	uint8_t *buf;

	if (size <= w->size)
		return 0;
	buf = malloc(size);
	if (!buf)
		return -ENOMEM;
	free(w->buf);
	w->buf = buf;
	w->size = size;
	w->len = 0;
	return 0;
}

static int window_load(struct window *w, uint64_t offset, size_t size)
{
	w->offset = offset;
	w->len = 0;
	while (w->len < size) {
		ssize_t n = pread(w->fd, w->buf + w->len, size - w->len, offset + w->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		w->len += n;
	}
	return 0;
}

int window_get(struct window *w, uint64_t offset, size_t want, const uint8_t **ret_bytes,
	       size_t *ret_len)
{
	uint64_t left = offset < w->limit ? w->limit - offset : 0;
	int r = 0;

	want = MIN(MIN(want, left), WINDOW_MAX);
	if (offset < w->offset || offset + want > w->offset + w->len) {
		size_t size = MIN(MAX(want, w->preferred), left);

		r = window_grow(w, size);
		r = r ? r : window_load(w, offset, size);
	}
	if (r < 0)
		return r;
	*ret_bytes = w->buf + (offset - w->offset);
	*ret_len = want ? MIN(w->offset + w->len - offset, left) : 0;
	return 0;
}
