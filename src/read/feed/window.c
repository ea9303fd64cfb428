/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "window.h"

#include <errno.h>
#include <unistd.h>

#include "base/mem.h"

/* Bytes of holes that may be read: a multiple of the data, and some that any file may have. A read
 * that has less than a page of holes is always possible: it has data, or is short. */
#define HOLES_FREE 4096u
#define HOLES_PER_DATA 8u
#define HOLES_LEAST (64u << 20)

struct window_file *window_file_new(int fd)
{
	struct window_file *file = xalloc(sizeof(*file));

	file->refs = 1;
	file->fd = fd;
	return file;
}

struct window_file *window_file_ref(struct window_file *file)
{
	__atomic_fetch_add(&file->refs, 1, __ATOMIC_RELAXED);
	return file;
}

struct window_file *window_file_unref(struct window_file *file)
{
	if (file && !__atomic_sub_fetch(&file->refs, 1, __ATOMIC_ACQ_REL)) {
		close(file->fd);
		free(file);
	}
	return NULL;
}

void window_fini(struct window *window)
{
	slab_give(window->slab, window->buf);
	*window = (struct window){ .file = window_file_unref(window->file), .slab = window->slab };
}

uint64_t window_data(const struct window *w, uint64_t offset)
{
	off_t data = w->sparse ? lseek(window_fd(w), (off_t)offset, SEEK_DATA) : (off_t)offset;

	if (data < 0)
		return errno == ENXIO ? w->limit : offset;
	return MIN((uint64_t)data, w->limit);
}

/* Bytes between @offset and @end that are in holes. */
static uint64_t window_holes(const struct window *w, uint64_t offset, uint64_t end)
{
	uint64_t holes = 0;

	while (w->sparse && offset < end) {
		uint64_t data = MIN(window_data(w, offset), end);
		off_t hole = lseek(window_fd(w), (off_t)data, SEEK_HOLE);

		holes += data - offset;
		offset = hole > (off_t)data ? (uint64_t)hole : end;
	}
	return holes;
}

uint64_t window_measure(struct window *w, uint64_t blocks)
{
	uint64_t data;

	w->sparse = window_is_sparse(w->limit, blocks);
	data = w->limit - window_holes(w, 0, w->limit);
	w->holes_left = HOLES_LEAST + HOLES_PER_DATA * data;
	return data;
}

static int window_grow(struct window *w, size_t size)
{
	uint8_t *buf;

	if (size <= w->size)
		return 0;
	buf = slab_take(w->slab, size);
	if (!buf)
		return -ENOMEM;
	slab_give(w->slab, w->buf);
	w->buf = buf;
	w->size = size;
	w->len = 0;
	return 0;
}

/* Holes are not read ahead. */
static size_t window_ahead(const struct window *w, uint64_t offset, size_t want, size_t size)
{
	off_t hole = w->sparse ? lseek(window_fd(w), (off_t)offset, SEEK_HOLE) : -1;

	return hole < (off_t)offset ? size : MAX(want, MIN(size, (uint64_t)hole - offset));
}

static int window_load(struct window *w, uint64_t offset, size_t size)
{
	uint64_t holes = window_holes(w, offset, offset + size);

	w->offset = offset;
	w->len = 0;
	if (holes >= HOLES_FREE && holes > w->holes_left)
		return -ENODATA;
	w->holes_left -= MIN(holes, w->holes_left);
	while (w->len < size) {
		ssize_t n = pread(window_fd(w), w->buf + w->len, size - w->len, offset + w->len);

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

void window_receive(struct window *w, uint8_t *bytes, size_t len)
{
	slab_give(w->slab, w->buf);
	w->buf = bytes;
	w->size = w->len = len;
	w->offset = w->limit;
	w->limit += len;
}

int window_get(struct window *w, uint64_t offset, size_t want, const uint8_t **ret_bytes,
	       size_t *ret_len)
{
	uint64_t left = offset < w->limit ? w->limit - offset : 0;
	int r = 0;

	want = MIN(MIN(want, left), WINDOW_MAX);
	if (offset < w->offset || offset + want > w->offset + w->len) {
		size_t size = window_ahead(w, offset, want, MIN(MAX(want, w->preferred), left));

		r = window_grow(w, size);
		r = r ? r : window_load(w, offset, size);
	}
	if (r < 0)
		return r;
	*ret_bytes = w->buf + (offset - w->offset);
	*ret_len = want ? MIN(w->offset + w->len - offset, left) : 0;
	return 0;
}
