/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tail.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <string.h>
#include <sys/stat.h>

#include "base/dir.h"
#include "base/mem.h"
#include "read/clock/clock.h"
#include "read/feed/feed.h"
#include "read/find.h"
#include "live.h"
#include "read/feed/seek.h"
#include "read/source.h"
#include "read/view_priv.h"

/* An index may contain any time: streams wait behind it, and it moves on with each turn. */
#define TAIL_LAST_NS (INT64_MAX / 2)

/** struct tail_file - a stream's file, known by its inode wherever a rotation moves it. @index_fd:
 *  of its index. @written: bytes that are complete, up to its packet @last. */
struct tail_file {
	dev_t dev;
	ino_t ino;
	struct feed *feed;
	int index_fd;
	uint64_t written;
	struct seek_entry last;
};

/**
 * struct tail
 * @bound: a stream without events, whose time is that up to which all events are in the files; so
 *         those of others that are later wait. Of @bound_source, which the view does not have.
 * @files: the @nr known ones. @by_inode: a tree of them.
 * @fresh: those from here on are not in the merge yet.
 * @newest_ns: the end of the latest packet.
 * @bound_taken: it is in the merge.
 */
struct tail {
	struct live base;
	struct tail_session session;
	struct view *view;
	struct source *bound_source;
	struct feed *bound;
	struct tail_file **files;
	size_t nr, fresh;
	void *by_inode;
	int64_t newest_ns;
	bool bound_taken;
	bool ended;
};

static struct tail *tail_of(struct live *base)
{
	return container_of(base, struct tail, base);
}

static bool tail_is_stopped(const struct tail *tail)
{
	return tail->session.stop && *tail->session.stop;
}

/* --- files -------------------------------------------------------------------------------- */

static int tail_order(const void *a, const void *b)
{
	const struct tail_file *x = a, *y = b;

	return x->ino != y->ino ? (x->ino < y->ino ? -1 : 1) :
	       x->dev != y->dev ? (x->dev < y->dev ? -1 : 1) :
				  0;
}

/* The index is written behind its packets. */
static void tail_measure(struct tail_file *file)
{
	struct seek_entry last;

	if (seek_last(file->index_fd, &last) <= 0 || last.offset + last.size <= file->written)
		return;
	file->written = last.offset + last.size;
	file->last = last;
}

static void tail_note_time(struct tail *tail, const struct tail_file *file)
{
	const struct ctf_stream_class *sc =
		trace_class_stream(file->feed->source->tc, file->last.stream_id);

	if (file->written && sc && sc->clock)
		tail->newest_ns = MAX(tail->newest_ns,
				      MIN(clock_ns(sc->clock, file->last.end), TAIL_LAST_NS));
}

static int tail_open_index(int dir_fd, const char *name)
{
	char *path AUTO_FREE = xasprintf("index/%s.idx", name);

	return openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

static struct source *tail_source(struct tail *tail, int dir_fd, const char *label, int *ret_error)
{
	struct view *view = tail->view;
	int fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 3);
	struct source *source;

	*ret_error = fd < 0 ? -errno :
			      source_open_growing(&tail->base, fd, label, &view->reporter, &source);
	return *ret_error ? NULL : view_add_source(view, source);
}

static struct source *tail_known_source(const struct tail *tail, int dir_fd)
{
	const struct view *view = tail->view;
	struct stat own, st;

	for (size_t i = 0; i < view->nr_sources && fstat(dir_fd, &own) == 0; i++)
		if (fstat(view->sources[i]->dir_fd, &st) == 0 && st.st_ino == own.st_ino &&
		    st.st_dev == own.st_dev)
			return view->sources[i];
	return NULL;
}

/* Its first packet is written. */
static bool tail_is_begun(int dir_fd, const char *name)
{
	AUTO_FD int fd = tail_open_index(dir_fd, name);
	struct seek_entry last;

	return fd >= 0 && seek_last(fd, &last) > 0;
}

static void tail_add_file(struct tail *tail, struct source *source, const char *name,
			  const struct stat *st)
{
	struct tail_file *file = xalloc(sizeof(*file));

	*file = (struct tail_file){ .dev = st->st_dev, .ino = st->st_ino };
	file->index_fd = tail_open_index(source->dir_fd, name);
	file->feed = source_add_growing_feed(source, name, 0);
	file->feed->live_id = tail->nr;
	file->feed->order = (uint32_t)tail->nr;
	if (!(tail->nr & (tail->nr - 1))) /* full at each power of two */
		tail->files = xrealloc(tail->files, MAX(2 * tail->nr, 1u) * sizeof(*tail->files));
	tail->files[tail->nr++] = file;
	(void)!tsearch(file, &tail->by_inode, tail_order);
}

/* A trace that was found: its new streams are added. */
static int tail_visit(void *priv, int dir_fd, const char *label, const struct find_names *files)
{
	AUTO_FD int owned = dir_fd;
	struct tail *tail = priv;
	struct source *source = NULL;
	const char *name = NULL;
	int r = 0;

	(void)owned;
	while ((name = find_names_next(files, name)) && !r) {
		struct tail_file key = { 0 };
		struct stat st;

		if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
		    !st.st_size)
			continue;
		key.dev = st.st_dev;
		key.ino = st.st_ino;
		if (tfind(&key, &tail->by_inode, tail_order) || !tail_is_begun(dir_fd, name))
			continue;
		if (!source)
			source = tail_known_source(tail, dir_fd);
		if (!source)
			source = tail_source(tail, dir_fd, label, &r);
		if (source)
			tail_add_file(tail, source, name, &st);
	}
	return r == -ENOMEM ? r : 0;
}

/* The sizes are read before the metadata, which is written before events. */
static int tail_look(struct tail *tail)
{
	static const struct find_ops ops = { .trace = tail_visit };
	struct view *view = tail->view;
	struct reporter silent = { 0 };
	uint64_t found;
	int r = find_traces(view->dir, &silent, &ops, tail, &found);

	if (r == -ENOENT) {
		report(&view->reporter, "%s was removed while it was followed", view->dir);
		tail->ended = true;
		r = 0;
	}
	for (size_t i = 0; i < tail->nr; i++)
		tail_measure(tail->files[i]);
	for (size_t i = 0; i < view->nr_sources && !r; i++)
		r = source_read_growth(view->sources[i]);
	for (size_t i = 0; i < tail->nr; i++)
		tail_note_time(tail, tail->files[i]);
	return r;
}

/* --- time --------------------------------------------------------------------------------- */

/* Events up to the latest packet of before are in the files when the session has written. */
static int tail_turn(struct tail *tail)
{
	int64_t newest_ns = tail->newest_ns;
	enum tail_cut cut;
	int r;

	if (tail->view->idle)
		tail->view->idle(tail->view->idle_priv);
	cut = tail->session.cut(tail->session.priv);
	if (tail_is_stopped(tail))
		return 0;
	r = tail_look(tail);
	tail->ended |= cut == TAIL_ENDED;
	if (cut == TAIL_WRITTEN)
		tail->bound->until_ns = MAX(tail->bound->until_ns + 1, newest_ns);
	return r;
}

static int tail_next_bound(struct tail *tail)
{
	int r;

	if (tail->ended || tail_is_stopped(tail))
		return 0;
	r = tail_turn(tail);
	return r < 0 ? r : LIVE_LATER;
}

/* A stream without events waits behind the bound, and is read again when that has moved. */
static int tail_next(struct feed *feed)
{
	struct tail *tail = tail_of(feed->source->live);
	const struct tail_file *file;

	if (feed == tail->bound)
		return tail_next_bound(tail);
	file = tail->files[feed->live_id];
	if (feed->window.limit < file->written) {
		feed_grow(feed, file->written);
		return LIVE_PACKET;
	}
	if (tail->ended)
		return 0;
	feed->until_ns = tail->bound->until_ns + 1;
	return LIVE_LATER;
}

static struct feed *tail_take_new(struct live *base)
{
	struct tail *tail = tail_of(base);

	if (tail_is_stopped(tail)) {
		tail->view->merge.nr = 0; /* later events may not be in their order */
		return NULL;
	}
	if (!tail->bound_taken) {
		tail->bound_taken = true;
		return tail->bound;
	}
	return tail->fresh < tail->nr ? tail->files[tail->fresh++]->feed : NULL;
}

/* The bound is among the streams until the end. */
static int tail_await_stream(struct live *base)
{
	(void)base;
	return 0;
}

static void tail_keep(void *node)
{
	(void)node;
}

static void tail_free(struct live *base)
{
	struct tail *tail = tail_of(base);

	for (size_t i = 0; i < tail->nr; i++) {
		close_fd(tail->files[i]->index_fd);
		free(tail->files[i]);
	}
	tdestroy(tail->by_inode, tail_keep);
	free(tail->files);
	source_free(tail->bound_source);
	free(tail);
}

static const struct live_ops tail_ops = {
	.next = tail_next,
	.take_new = tail_take_new,
	.await_stream = tail_await_stream,
	.free = tail_free,
};

int view_open_tail(const char *dir, const struct tail_session *session, view_report_fn fn,
		   void *priv, struct view **ret_view)
{
	struct view *view = xalloc(sizeof(*view));
	struct tail *tail = xalloc(sizeof(*tail));
	struct stat st;
	int r = stat(dir, &st) < 0 ? -errno : 0;

	tail->base.ops = &tail_ops;
	tail->session = *session;
	tail->view = view;
	tail->newest_ns = INT64_MIN;
	view->live = &tail->base;
	view->dir = dir;
	view->reporter = (struct reporter){ .fn = fn, .priv = priv };
	view->peeked = true;
	view->preferred = 256u << 10;
	tail->bound_source = source_new_live(&tail->base, 0, "", &view->reporter);
	tail->bound = source_add_live_feed(tail->bound_source, "", 0);
	tail->bound->order = UINT32_MAX;
	r = r ? r : tail_look(tail);
	if (r < 0)
		view_free(view);
	else
		*ret_view = view;
	return r;
}
