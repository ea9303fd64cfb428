/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "find.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/dir.h"
#include "base/limit.h"
#include "base/mem.h"
#include "trace/streamlist.h"

#define MAX_DEPTH 16
#define SNAPSHOT_FILE ".parts" /* its counts: of snapshots only, also of empty ones */

struct search {
	struct reporter *reporter;
	const struct find_ops *ops;
	void *priv;
	uint64_t found;
	void *places; /* a tree of struct find_place: traces that were found */
};

struct find_place {
	dev_t dev;
	ino_t ino;
};

static int find_order(const void *a, const void *b)
{
	const struct find_place *x = a, *y = b;

	return x->ino != y->ino ? (x->ino < y->ino ? -1 : 1) :
	       x->dev != y->dev ? (x->dev < y->dev ? -1 : 1) :
				  0;
}

/* A rotation or a clear moves a trace, perhaps from a directory that was searched to one that was
 * not yet. */
static bool is_found_again(struct search *s, int dir_fd)
{
	struct find_place *place;
	struct stat st;
	void *node;

	if (fstat(dir_fd, &st) < 0)
		return false;
	place = xalloc(sizeof(*place));
	*place = (struct find_place){ st.st_dev, st.st_ino };
	node = tsearch(place, &s->places, find_order);
	if (node && *(struct find_place **)node == place)
		return false;
	free(place);
	return node;
}

static int search_dir(struct search *s, int dir_fd, const char *label, int depth);

/* A trace's index files are in directories of that name. */
static bool is_worth_entering(int dir_fd, const struct dirent *entry)
{
	const char *name = entry->d_name;
	struct stat st;

	if (name[0] == '.' || strcmp(name, "index") == 0)
		return false;
	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return !fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode);
}

static int view_find_enter(struct search *s, int dir_fd, const char *label, const char *name,
			   int depth)
{
	char *path AUTO_FREE = *label ? xasprintf("%s/%s", label, name) : xstrdup(name);
	int fd AUTO_FD = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		return search_dir(s, fd, path, depth);
	report(s->reporter, "%s can't be opened: %s", path, strerror(errno));
	return 0;
}

static int search_below(struct search *s, int dir_fd, const char *label, int depth)
{
	AUTO_DIR DIR *dir = dir_open(dir_fd, ".");
	struct dirent *entry;
	int r = 0;

	while (!r && (entry = dir_next(dir)))
		if (is_worth_entering(dir_fd, entry))
			r = view_find_enter(s, dir_fd, label, entry->d_name, depth + 1);
	return r;
}

static bool has_indexes(int dir_fd)
{
	AUTO_DIR DIR *dir = dir_open(dir_fd, "index");
	struct dirent *entry;

	while ((entry = dir_next(dir))) {
		size_t len = strlen(entry->d_name);

		if (len > 4 && strcmp(entry->d_name + len - 4, ".idx") == 0)
			return true;
	}
	return false;
}

/* Metadata is made before a stream, its index and the list of streams. */
enum trace_state find_trace_state(int dir_fd)
{
	struct stat st;
	bool streams = !fstatat(dir_fd, STREAMLIST_FILE, &st, AT_SYMLINK_NOFOLLOW) ||
		       has_indexes(dir_fd);

	if (fstatat(dir_fd, "metadata", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
		return TRACE_WHOLE;
	return streams ? TRACE_NO_METADATA : TRACE_NONE;
}

static int search_trace(struct search *s, int dir_fd, const char *label)
{
	enum trace_state state = find_trace_state(dir_fd);
	int fd;

	if (state == TRACE_NONE || is_found_again(s, dir_fd))
		return 0;
	s->found++;
	if (state == TRACE_NO_METADATA) {
		report(s->reporter, "%s has streams and no metadata file: its events can't be read", label);
		return 0;
	}
	fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? -errno : s->ops->trace(s->priv, fd, label);
}

static int search_dir(struct search *s, int dir_fd, const char *label, int depth)
{
	uint64_t before = s->found;
	struct stat st;
	int r = 0;

	if (s->ops->list && !fstatat(dir_fd, TRACELIST_FILE, &st, AT_SYMLINK_NOFOLLOW))
		r = s->ops->list(s->priv, dir_fd, label);
	r = r ? r : search_trace(s, dir_fd, *label ? label : ".");
	if (r == 0 && depth < MAX_DEPTH)
		r = search_below(s, dir_fd, label, depth);
	if (r == 0 && s->ops->empty && s->found == before &&
	    !fstatat(dir_fd, SNAPSHOT_FILE, &st, AT_SYMLINK_NOFOLLOW))
		s->ops->empty(s->priv);
	return r;
}

int find_traces(const char *dir, struct reporter *reporter, const struct find_ops *ops, void *priv,
		uint64_t *ret_found)
{
	struct search s = { .reporter = reporter, .ops = ops, .priv = priv };
	int fd AUTO_FD = -1, r;

	(void)limit_raise(RLIMIT_NOFILE); /* one for each trace, and for each stream that is read */
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = search_dir(&s, fd, "", 0);
	tdestroy(s.places, free);
	*ret_found = s.found;
	return r;
}
