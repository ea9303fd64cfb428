/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "store/chunk_turn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "store/append.h"
#include "trace/streamlist.h"

/* --- the archive ------------------------------------------------------------------- */

/* Where an archive is, and the name that it has until all is in it. */
struct archive {
	int dir_fd;
	char hidden[32];
	const char *name;
};

static void archive_hide(uint64_t owner, char ret[32])
{
	snprintf(ret, 32, ".turn-%llu", (unsigned long long)owner);
}

/* Return: 0 or negative errno. */
static int archive_find(const struct chunk *chunk, const char *path, uint64_t owner, bool make,
			struct archive *ret)
{
	AUTO_FREE char *parent = xstrdup(path);
	char *slash = strrchr(parent, '/');

	archive_hide(owner, ret->hidden);
	ret->name = slash ? path + (slash - parent) + 1 : path;
	*(slash ? slash : parent) = '\0';
	ret->dir_fd = make && slash ?
			      chunk_make_path(chunk->fd, parent, disk_syncs(chunk->disk)) :
			      chunk_open_path(chunk->fd, parent);
	return MIN(ret->dir_fd, 0);
}

/* Where the list of an archive has the traces that @owner moved; NULL: nowhere. */
static char *archive_part(char *list, uint64_t owner)
{
	char hidden[32];
	AUTO_FREE char *mark = NULL;

	archive_hide(owner, hidden);
	mark = xasprintf("\n/%s" TRACELIST_END, hidden);
	list = strstr(list, mark);
	return list ? list + strlen(mark) : NULL;
}

/* Return: its descriptor; -ENOENT: @owner has moved nothing to it; or another negative errno. */
static int archive_open_done(const struct archive *a, uint64_t owner)
{
	AUTO_FD int fd = chunk_open_dir(a->dir_fd, a->name);
	AUTO_FREE char *list = NULL;
	int ret = fd < 0 ? fd : chunk_read_list(fd, &list);

	if (ret < 0)
		return ret;
	return archive_part(list, owner) ? TAKE_FD(fd) : -ENOENT;
}

/* Of an archive that a clear removes; NULL: it is another one. */
static char *cleared_entry(const char *name)
{
	const size_t len = strlen(CLEAREDLIST_NAME);

	return strncmp(name, CLEAREDLIST_NAME, len) == 0 ?
		       xasprintf("\n%llu" TRACELIST_END, strtoull(name + len, NULL, 10)) :
		       NULL;
}

static int cleared_open(int dir_fd)
{
	const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	int fd = openat(dir_fd, CLEAREDLIST_FILE, flags, 0640);

	return fd < 0 ? -errno : fd;
}

int chunk_turn_note_cleared(int dir_fd, const char *name, bool sync)
{
	AUTO_FREE char *entry = cleared_entry(name);
	AUTO_FD int fd = entry ? cleared_open(dir_fd) : -1;
	size_t len = entry ? strlen(entry) : 0;
	char last[32] = "";
	uint64_t end;
	int ret;

	if (!entry || fd < 0)
		return entry ? fd : 0;
	end = fd_bytes(fd);
	if (end >= len && pread(fd, last, len, (off_t)(end - len)) == (ssize_t)len &&
	    memcmp(last, entry, len) == 0)
		return 0;
	ret = append_bytes(fd, entry, len, end);
	return ret == 0 && sync ? disk_sync_data(fd) : ret;
}

int chunk_turn_reserve_cleared(int dir_fd, const char *name)
{
	AUTO_FREE char *entry = cleared_entry(name);
	AUTO_FD int fd = entry ? cleared_open(dir_fd) : -1;

	if (!entry || fd < 0)
		return entry ? fd : 0;
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)fd_bytes(fd), (off_t)strlen(entry)) < 0 &&
	    errno != EOPNOTSUPP)
		return -errno;
	return 0;
}

/* --- moving ------------------------------------------------------------------------ */

/* It was moved, perhaps by a writer that was killed before it removed the rest. */
static int archive_take(struct chunk *chunk, const struct archive *a, int fd)
{
	if (fd < 0)
		return fd;
	if (chunk_has(a->dir_fd, a->hidden))
		dir_remove(a->dir_fd, a->hidden);
	/* on a full disk: when it is removed */
	(void)!chunk_turn_note_cleared(a->dir_fd, a->name, disk_syncs(chunk->disk));
	chunk->archive_fd = fd;
	return 0;
}

static int archive_move(struct chunk *chunk, const struct archive *a, uint64_t owner)
{
	const struct chunk_place place = { a->dir_fd, a->hidden, a->name };
	int fd = archive_open_done(a, owner), ret;

	if (fd >= 0)
		return archive_take(chunk, a, fd);
	ret = chunk_hand_on(chunk, &place);
	return ret < 0 ? ret : archive_take(chunk, a, chunk_open_dir(a->dir_fd, a->name));
}

static int archive_resume(struct chunk *chunk, const struct archive *a, uint64_t owner)
{
	const struct chunk_place place = { a->dir_fd, a->hidden, a->name };
	int fd = archive_open_done(a, owner), ret;

	if (fd != -ENOENT)
		return archive_take(chunk, a, fd);
	if (!chunk_has(a->dir_fd, a->hidden))
		return -ENOENT;
	ret = chunk_hand_on_again(chunk->fd, &place);
	return ret < 0 ? ret : archive_take(chunk, a, chunk_open_dir(a->dir_fd, a->name));
}

int chunk_turn_move(struct chunk *chunk, const char *path, uint64_t owner)
{
	struct archive a;
	int ret = archive_find(chunk, path, owner, true, &a);

	if (ret < 0)
		return ret;
	ret = archive_move(chunk, &a, owner);
	close_fd(a.dir_fd);
	return ret;
}

int chunk_turn_resume(struct chunk *chunk, const char *path, uint64_t owner)
{
	struct archive a;
	int ret = archive_find(chunk, path, owner, false, &a);

	if (ret < 0)
		return ret;
	ret = archive_resume(chunk, &a, owner);
	close_fd(a.dir_fd);
	return ret;
}

/* --- obstacles ----------------------------------------------------------------------- */

/* Return: NULL: none, or it is not there. */
static const char *obstacle_at(int dir_fd, const char *path)
{
	static const char rights[] =
		"may not be read and written by the session's user; change its owner or mode";
	struct stat st;

	if (fstatat(dir_fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == EACCES ? rights : NULL;
	if (S_ISLNK(st.st_mode))
		return "is a symbolic link, which is not followed; move it away";
	if (!S_ISDIR(st.st_mode))
		return "is no directory; move it away";
	return faccessat(dir_fd, path, R_OK | W_OK | X_OK, AT_EACCESS) < 0 ? rights : NULL;
}

const char *chunk_turn_obstacle(const struct chunk *chunk, const char *path, uint64_t owner,
				char **ret)
{
	const char *name = strrchr(path, '/');
	char hidden[32], *at;
	AUTO_FREE char *entry = NULL;
	const char *phrase = obstacle_at(chunk->fd, ".");

	archive_hide(owner, hidden);
	at = entry = xasprintf("%.*s%s", name ? (int)(name + 1 - path) : 0, path, hidden);
	if (phrase) {
		*ret = xstrdup(".");
		return phrase;
	}
	while (!phrase && at) {
		at = strchr(at, '/');
		if (at)
			*at = '\0';
		phrase = obstacle_at(chunk->fd, entry);
		if (!phrase && at)
			*at++ = '/';
	}
	if (phrase)
		*ret = TAKE(entry);
	return phrase;
}

/* --- clearing ---------------------------------------------------------------------- */

#define CLEARED_PREFIX ".cleared-%llu-"
#define CLEARED_NUMBERS 256u /* those of the clears before may not be removed yet */

static void archive_hide_cleared(uint64_t owner, unsigned int number, char ret[64])
{
	snprintf(ret, 64, CLEARED_PREFIX "%u", (unsigned long long)owner, number);
}

int chunk_turn_hide(const struct chunk *chunk, const char *path, uint64_t owner)
{
	char name[64];
	struct archive a;
	int ret = archive_find(chunk, path, owner, false, &a);

	if (ret < 0)
		return ret;
	ret = -EEXIST;
	for (unsigned int i = 0; ret == -EEXIST && i < CLEARED_NUMBERS; i++) {
		archive_hide_cleared(owner, i, name);
		if (!chunk_has(a.dir_fd, name))
			ret = renameat(a.dir_fd, a.name, a.dir_fd, name) < 0 ? -errno : 0;
	}
	close_fd(a.dir_fd);
	return ret;
}

/* By their names: other archives may be many. */
void chunk_turn_remove(int fd, const char *path, uint64_t owner)
{
	const struct chunk in = { .fd = fd };
	struct archive a;
	char name[64];
	int ret;

	if (archive_find(&in, path, owner, false, &a) < 0)
		return;
	for (unsigned int i = 0; i < CLEARED_NUMBERS; i++) {
		archive_hide_cleared(owner, i, name);
		if (chunk_has(a.dir_fd, name))
			dir_remove(a.dir_fd, name);
	}
	ret = chunk_turn_note_cleared(a.dir_fd, a.name, false);
	if (ret < 0)
		log_warn("%s: can't be noted as cleared, and will count as missing: %s", path,
			 strerror(-ret));
	close_fd(a.dir_fd);
}

void chunk_turn_end(struct chunk *chunk)
{
	struct chunk_trace *trace;

	list_for_each(trace, &chunk->traces, node)
		chunk_trace_files_close(&trace->moved);
	chunk->archive_fd = close_fd(chunk->archive_fd);
}

/* --- sizes ------------------------------------------------------------------------- */

uint64_t chunk_tree_bytes(int dir_fd, const char *name, unsigned int depth)
{
	AUTO_DIR DIR *dir = dir_open(dir_fd, name);
	uint64_t bytes = dir ? chunk_dir_bytes(dirfd(dir)) : 0;
	struct dirent *entry;
	struct stat st;

	while (depth && (entry = dir_next(dir)))
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISDIR(st.st_mode))
			bytes += chunk_tree_bytes(dirfd(dir), entry->d_name, depth - 1);
	return bytes;
}

uint64_t chunk_turn_bytes(const struct chunk *chunk, uint64_t owner)
{
	AUTO_FREE char *list = NULL;
	char *rest = NULL, *entry;
	uint64_t bytes = 0;

	if (chunk->archive_fd >= 0 && chunk_read_list(chunk->archive_fd, &list) == 0)
		rest = archive_part(list, owner);
	while ((entry = chunk_next_listed(&rest)) && strncmp(entry, "/.", 2) != 0) {
		AUTO_FD int dir = *entry == '/' ? -1 : chunk_open_path(chunk->archive_fd, entry);

		bytes += dir < 0 ? 0 : chunk_tree_bytes(dir, ".", 1);
	}
	return bytes;
}

/* --- going on ---------------------------------------------------------------------- */

/* Under its name, the file is whole. @from: the metadata in the directory @from_dir. */
static int renew_metadata(const struct chunk_trace *trace, int from_dir, int from, uint64_t bytes,
			  struct chunk_trace_files *next)
{
	bool sync = disk_syncs(trace->disk);
	int ret;

	if (unlinkat(next->fd, ".metadata", 0) < 0 && errno != ENOENT)
		return -errno;
	next->metadata_fd = chunk_create_file(next->fd, ".metadata");
	if (next->metadata_fd < 0)
		return next->metadata_fd;
	ret = append_file(from, next->metadata_fd, bytes);
	if (ret == 0 && sync)
		ret = disk_sync_data(next->metadata_fd);
	if (ret == 0)
		chunk_trace_link_kallsyms(trace, from_dir, next->fd);
	if (ret == 0 && renameat(next->fd, ".metadata", next->fd, "metadata") < 0)
		ret = -errno;
	return ret == 0 && sync ? disk_sync_dir(next->fd) : ret;
}

static int renew_trace(struct chunk_trace *trace)
{
	struct chunk_trace_files *next = &trace->next;
	int ret;

	chunk_trace_release(trace); /* on a full disk, the copy needs that space */
	trace->reserved_bytes = 0;
	next->fd = chunk_make_path(trace->chunk->fd, trace->path, disk_syncs(trace->disk));
	if (next->fd < 0)
		return next->fd;
	next->index_fd = chunk_make_dir(next->fd, "index");
	ret = next->index_fd;
	return ret < 0 ? ret :
			 renew_metadata(trace, trace->fd, trace->metadata_fd, trace->metadata_bytes,
					next);
}

/* Return: 1: the trace's directory has its path; 0; or negative errno: it is not known. */
static int is_in_place(const struct chunk_trace *trace)
{
	AUTO_FD int fd = chunk_open_path(trace->chunk->fd, trace->path);
	struct stat here, ours;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if (fstat(fd, &here) < 0 || fstat(trace->fd, &ours) < 0)
		return -errno;
	return here.st_dev == ours.st_dev && here.st_ino == ours.st_ino;
}

int chunk_turn_renew(struct chunk *chunk)
{
	struct chunk_trace *trace;
	int ret = 0;

	list_for_each(trace, &chunk->traces, node) {
		int in_place = ret < 0 || trace->next.fd >= 0 ? 1 : is_in_place(trace);

		ret = ret < 0 ? ret : MIN(in_place, 0);
		if (in_place == 0)
			ret = renew_trace(trace);
	}
	if (ret < 0)
		list_for_each(trace, &chunk->traces, node) {
			chunk_trace_files_close(&trace->next);
			chunk_trace_reserve(trace);
		}
	return ret;
}

void chunk_turn_switch(struct chunk *chunk)
{
	struct chunk_trace *trace;

	list_for_each(trace, &chunk->traces, node) {
		struct chunk_trace_files *next = &trace->next;

		if (next->fd < 0)
			continue;
		chunk_trace_release(trace);
		close_fd(trace->metadata_fd);
		close_fd(trace->index_fd);
		close_fd(trace->fd);
		trace->fd = TAKE_FD(next->fd);
		trace->index_fd = TAKE_FD(next->index_fd);
		trace->metadata_fd = TAKE_FD(next->metadata_fd);
		trace->disk->used += trace->metadata_bytes;
		trace->reserved_bytes = 0;
		chunk_trace_reserve(trace);
	}
}

/* --- continuing -------------------------------------------------------------------- */

int chunk_turn_continue(struct chunk_trace *trace)
{
	struct chunk_trace_files *moved = &trace->moved;
	struct chunk_trace_files files = { trace->fd, trace->index_fd, -1 };
	AUTO_FD int metadata_fd = -1;
	int ret;

	moved->fd = chunk_open_path(trace->chunk->archive_fd, trace->path);
	if (moved->fd < 0)
		return moved->fd == -ENOENT ? 0 : moved->fd;
	moved->index_fd = chunk_make_dir(moved->fd, "index");
	if (moved->index_fd < 0)
		return moved->index_fd;
	metadata_fd = chunk_read_file(moved->fd, "metadata");
	if (metadata_fd < 0 || chunk_has(trace->fd, "metadata"))
		return 0;
	ret = renew_metadata(trace, moved->fd, metadata_fd, fd_bytes(metadata_fd), &files);
	close_fd(files.metadata_fd);
	return ret;
}
