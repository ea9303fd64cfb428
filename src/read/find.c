/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "find.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdalign.h>
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
#define LIST_BYTES ((size_t)16 << 10)

struct search {
	struct reporter *reporter;
	const struct find_ops *ops;
	void *priv;
	uint64_t found;
	void *places; /* a tree of struct find_place: traces that were found */
	alignas(struct dirent64) char entries[LIST_BYTES];
};

/* The contents of a directory, which is read once: system calls of hundreds of traces add up. */
struct find_dir {
	struct find_names dirs, files; /* to be searched; that may be streams */
	bool has_traces, has_streams, has_metadata, has_index, has_parts;
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

/* --- directories ---------------------------------------------------------------------------- */

void find_names_add(struct find_names *names, const char *name)
{
	size_t len = strlen(name) + 1;

	if (names->size - names->len < len) {
		names->size = 2 * names->size + MAX(len, (size_t)256);
		names->text = xrealloc(names->text, names->size);
	}
	memcpy(names->text + names->len, name, len);
	names->len += len;
}

const char *find_names_next(const struct find_names *names, const char *name)
{
	name = name ? name + strlen(name) + 1 : names->text;
	return names->len && name < names->text + names->len ? name : NULL;
}

void find_names_fini(struct find_names *names)
{
	free(names->text);
}

static void find_dir_fini(struct find_dir *dir)
{
	find_names_fini(&dir->dirs);
	find_names_fini(&dir->files);
}

static bool find_is_dir(int dir_fd, const char *name, unsigned char type)
{
	struct stat st;

	if (type != DT_UNKNOWN)
		return type == DT_DIR;
	return !fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode);
}

/* A trace's index files are in directories of that name. */
static void find_dir_add(struct find_dir *dir, int dir_fd, const char *name, unsigned char type)
{
	bool is_dir = find_is_dir(dir_fd, name, type);

	if (strcmp(name, "metadata") == 0 && !is_dir)
		dir->has_metadata = true;
	else if (strcmp(name, "index") == 0)
		dir->has_index = true;
	else if (strcmp(name, STREAMLIST_FILE) == 0)
		dir->has_streams = true;
	else if (strcmp(name, TRACELIST_FILE) == 0)
		dir->has_traces = true;
	else if (strcmp(name, SNAPSHOT_FILE) == 0)
		dir->has_parts = true;
	else if (name[0] != '.')
		find_names_add(is_dir ? &dir->dirs : &dir->files, name);
}

/* @dir_fd: was not read from before. */
static void find_dir_read(struct search *s, int dir_fd, struct find_dir *ret)
{
	ssize_t len;

	while ((len = getdents64(dir_fd, s->entries, sizeof(s->entries))) > 0) {
		for (const char *at = s->entries; at < s->entries + len;) {
			const struct dirent64 *entry = (const struct dirent64 *)(const void *)at;

			find_dir_add(ret, dir_fd, entry->d_name, entry->d_type);
			at += entry->d_reclen;
		}
	}
}

/* --- the search ----------------------------------------------------------------------------- */

static int search_dir(struct search *s, int *dir_fd, const char *label, int depth);

static int view_find_enter(struct search *s, int dir_fd, const char *label, const char *name,
			   int depth)
{
	char *path AUTO_FREE = *label ? xasprintf("%s/%s", label, name) : xstrdup(name);
	int fd AUTO_FD = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		return search_dir(s, &fd, path, depth);
	report(s->reporter, "%s can't be opened: %s", path, strerror(errno));
	return 0;
}

static int search_below(struct search *s, int dir_fd, const struct find_dir *dir, const char *label,
			int depth)
{
	const char *name = NULL;
	int r = 0;

	while (!r && (name = find_names_next(&dir->dirs, name)))
		r = view_find_enter(s, dir_fd, label, name, depth + 1);
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

static bool has_metadata(int dir_fd)
{
	struct stat st;

	return fstatat(dir_fd, "metadata", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

/* Metadata is made before a stream, its index and the list of streams. */
enum trace_state find_trace_state(int dir_fd)
{
	struct stat st;
	bool streams = !fstatat(dir_fd, STREAMLIST_FILE, &st, AT_SYMLINK_NOFOLLOW) ||
		       has_indexes(dir_fd);

	if (has_metadata(dir_fd))
		return TRACE_WHOLE;
	return streams ? TRACE_NO_METADATA : TRACE_NONE;
}

static enum trace_state find_dir_state(const struct find_dir *dir, int dir_fd)
{
	if (dir->has_metadata && has_metadata(dir_fd))
		return TRACE_WHOLE;
	return dir->has_streams || (dir->has_index && has_indexes(dir_fd)) ? TRACE_NO_METADATA :
									     TRACE_NONE;
}

/* A trace's descriptor is passed on, if nothing is below it. */
static int search_trace(struct search *s, int *dir_fd, const struct find_dir *dir,
			const char *label)
{
	enum trace_state state = find_dir_state(dir, *dir_fd);
	int fd;

	if (state == TRACE_NONE || is_found_again(s, *dir_fd))
		return 0;
	s->found++;
	if (state == TRACE_NO_METADATA) {
		report(s->reporter, "%s has streams and no metadata file: its events can't be read", label);
		return 0;
	}
	fd = dir->dirs.len ? fcntl(*dir_fd, F_DUPFD_CLOEXEC, 3) : TAKE_FD(*dir_fd);
	return fd < 0 ? -errno : s->ops->trace(s->priv, fd, label, &dir->files);
}

static int search_dir(struct search *s, int *dir_fd, const char *label, int depth)
{
	struct find_dir dir CLEANUP(find_dir_fini) = { .has_index = false };
	uint64_t before = s->found;
	int r = 0;

	find_dir_read(s, *dir_fd, &dir);
	if (s->ops->list && dir.has_traces)
		r = s->ops->list(s->priv, *dir_fd, label);
	r = r ? r : search_trace(s, dir_fd, &dir, *label ? label : ".");
	if (r == 0 && depth < MAX_DEPTH)
		r = search_below(s, *dir_fd, &dir, label, depth);
	if (r == 0 && s->ops->empty && s->found == before && dir.has_parts)
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
	r = search_dir(&s, &fd, "", 0);
	tdestroy(s.places, free);
	*ret_found = s.found;
	return r;
}
