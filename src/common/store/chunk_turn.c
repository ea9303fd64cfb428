/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "store/chunk_turn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/mem.h"
#include "base/str.h"
#include "store/append.h"
#include "trace/streamlist.h"

#define COPY_BYTES (64u << 10)

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

/* --- moving ------------------------------------------------------------------------ */

int chunk_turn_move(const struct chunk *chunk, const char *path, uint64_t owner)
{
	struct archive a;
	int ret = archive_find(chunk, path, owner, true, &a), fd;

	if (ret < 0)
		return ret;
	fd = archive_open_done(&a, owner);
	if (fd < 0)
		ret = chunk_hand_on(chunk,
				    &(struct chunk_place){ a.dir_fd, a.hidden, a.name });
	if (fd < 0 && ret == 0)
		fd = chunk_open_dir(a.dir_fd, a.name);
	close_fd(a.dir_fd);
	return ret < 0 ? ret : fd;
}

int chunk_turn_resume(const struct chunk *chunk, const char *path, uint64_t owner)
{
	struct archive a;
	int ret = archive_find(chunk, path, owner, false, &a), fd;

	if (ret < 0)
		return ret;
	fd = archive_open_done(&a, owner);
	if (fd == -ENOENT && chunk_has(a.dir_fd, a.hidden)) {
		ret = chunk_hand_on_again(chunk->fd,
					  &(struct chunk_place){ a.dir_fd, a.hidden, a.name });
		fd = ret < 0 ? ret : chunk_open_dir(a.dir_fd, a.name);
	}
	close_fd(a.dir_fd);
	return fd;
}

uint64_t chunk_turn_bytes(int fd, uint64_t owner)
{
	AUTO_FREE char *list = NULL;
	char *rest = chunk_read_list(fd, &list) < 0 ? NULL : archive_part(list, owner), *entry;
	const size_t end = strlen(TRACELIST_END);
	uint64_t bytes = 0;

	while ((entry = strsep(&rest, "\n")) && strncmp(entry, "/.", 2) != 0) {
		size_t len = strlen(entry);

		if (len <= end || *entry == '/')
			continue;
		entry[len - end] = '\0';
		{
			AUTO_FD int dir = chunk_open_path(fd, entry);
			AUTO_FD int index = dir < 0 ? -1 : chunk_open_dir(dir, "index");

			bytes += dir < 0 ? 0 : chunk_dir_bytes(dir);
			bytes += index < 0 ? 0 : chunk_dir_bytes(index);
		}
	}
	return bytes;
}

/* --- going on ---------------------------------------------------------------------- */

static int copy_file(int from, int to, uint64_t bytes)
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

/* Under its name, the file is whole. */
static int renew_metadata(const struct chunk_trace *trace, struct chunk_trace_files *next)
{
	bool sync = disk_syncs(trace->disk);
	int ret;

	if (unlinkat(next->fd, ".metadata", 0) < 0 && errno != ENOENT)
		return -errno;
	next->metadata_fd = chunk_create_file(next->fd, ".metadata");
	if (next->metadata_fd < 0)
		return next->metadata_fd;
	ret = copy_file(trace->metadata_fd, next->metadata_fd, trace->metadata_bytes);
	if (ret == 0 && sync)
		ret = disk_sync_data(next->metadata_fd);
	if (ret == 0 && renameat(next->fd, ".metadata", next->fd, "metadata") < 0)
		ret = -errno;
	return ret == 0 && sync ? disk_sync_dir(next->fd) : ret;
}

static int renew_trace(struct chunk_trace *trace)
{
	struct chunk_trace_files *next = &trace->next;
	int ret;

	next->fd = chunk_make_path(trace->chunk->fd, trace->path, disk_syncs(trace->disk));
	if (next->fd < 0)
		return next->fd;
	next->index_fd = chunk_make_dir(next->fd, "index");
	ret = next->index_fd < 0 ? next->index_fd : renew_metadata(trace, next);
	return ret;
}

/* Whether the trace's directory has its path. */
static bool is_in_place(const struct chunk_trace *trace)
{
	AUTO_FD int fd = chunk_open_path(trace->chunk->fd, trace->path);
	struct stat here, ours;

	return fd >= 0 && fstat(fd, &here) == 0 && fstat(trace->fd, &ours) == 0 &&
	       here.st_dev == ours.st_dev && here.st_ino == ours.st_ino;
}

int chunk_turn_renew(struct chunk *chunk)
{
	struct chunk_trace *trace;
	int ret = 0;

	list_for_each(trace, &chunk->traces, node)
		if (ret == 0 && trace->next.fd < 0 && !is_in_place(trace))
			ret = renew_trace(trace);
	if (ret < 0)
		list_for_each(trace, &chunk->traces, node)
			chunk_trace_files_close(&trace->next);
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
