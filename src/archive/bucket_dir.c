/* SPDX-License-Identifier: GPL-2.0-only */
/* bucket_dir.c - a directory as a place for objects: each is a file, which gets its name when it is
 * whole and synced. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/dir.h"
#include "base/mem.h"
#include "base/str.h"
#include "bucket.h"
#include "io/walk.h"
#include "store/append.h"
#include "store/chunk.h"

#define MAX_DEPTH 16

struct bucket_dir {
	int fd;
	char *path;
};

/* Where the last component of @name begins. */
static const char *last_of(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

/* The directory of an object. Return: descriptor or negative errno. */
static int open_parent(const struct bucket_dir *dir, const char *name, bool make)
{
	size_t len = (size_t)(last_of(name) - name);
	AUTO_FREE char *parent = xstrdup(name);

	parent[len ? len - 1 : 0] = '\0';
	if (!*parent)
		return fcntl(dir->fd, F_DUPFD_CLOEXEC, 3);
	return make ? chunk_make_path(dir->fd, parent, true) : chunk_open_path(dir->fd, parent);
}

static int write_whole(int parent, const char *hidden, const void *bytes, size_t len)
{
	AUTO_FD int fd =
		openat(parent, hidden, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0640);
	int ret;

	if (fd < 0)
		return -errno;
	ret = append_bytes(fd, bytes, len, 0);
	return ret == 0 ? disk_sync_data(fd) : ret;
}

static int bucket_dir_put(void *data, const char *name, const void *bytes, size_t len,
			  struct err *err)
{
	const struct bucket_dir *dir = data;
	AUTO_FD int parent = open_parent(dir, name, true);
	AUTO_FREE char *hidden = xasprintf(".%s.%d", last_of(name), (int)getpid());
	int ret = parent < 0 ? parent : write_whole(parent, hidden, bytes, len);

	if (ret == 0 && renameat(parent, hidden, parent, last_of(name)) < 0)
		ret = -errno;
	if (ret == 0)
		ret = disk_sync_dir(parent);
	else if (parent >= 0)
		(void)unlinkat(parent, hidden, 0);
	return ret == 0 ? 0 :
			  err_errno(err, ERR_OUTPUT, -ret, "can't write %s/%s", dir->path, name);
}

/* Return: 0 or negative errno; -ENODATA: it is shorter. */
static int read_piece(int fd, int64_t at, uint64_t len, uint8_t **ret, size_t *ret_len)
{
	uint64_t size = fd_bytes(fd), from = (uint64_t)at;
	size_t got = 0;

	if (at < 0) {
		len = MIN(size, (uint64_t)-at);
		from = size - len;
	} else if (from > size || len > size - from) {
		return -ENODATA;
	}
	*ret = xalloc(len + 1);
	while (got < len) {
		ssize_t n = pread(fd, *ret + got, len - got, (off_t)(from + got));

		if (n <= 0) {
			free(TAKE(*ret));
			return n < 0 ? -errno : -ENODATA;
		}
		got += (size_t)n;
	}
	*ret_len = got;
	return 0;
}

static int bucket_dir_get(void *data, const char *name, int64_t at, uint64_t len, uint8_t **ret,
			  size_t *ret_len, struct err *err)
{
	const struct bucket_dir *dir = data;
	AUTO_FD int parent = open_parent(dir, name, false);
	AUTO_FD int fd = parent < 0 ? parent : chunk_read_file(parent, last_of(name));
	int result = fd < 0 ? fd : read_piece(fd, at, len, ret, ret_len);

	if (result == -ENODATA)
		return err_set(err, ERR_OUTPUT, "%s/%s is shorter than it was written", dir->path,
			       name);
	return result == 0 ?
		       0 :
		       err_errno(err, ERR_OUTPUT, -result, "can't read %s/%s", dir->path, name);
}

/* @path: of the directory @name of @at_fd, with '/' at its end, or empty. */
static int list_below(int at_fd, const char *name, const char *path, int depth,
		      int (*each)(void *of, const char *name), void *of, struct err *err)
{
	AUTO_DIR DIR *dir = depth > MAX_DEPTH ? NULL : dir_open(at_fd, name);
	struct dirent *entry;
	int ret = 0;

	/* without its objects a trace would lack events */
	if (!dir && depth <= MAX_DEPTH && errno != ENOENT)
		return err_errno(err, ERR_OUTPUT, errno, "can't read %s in the archive", path);
	while (ret == 0 && (entry = dir_next(dir))) {
		AUTO_FREE char *below = NULL;
		struct stat st;

		if (entry->d_name[0] == '.' ||
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		below = xasprintf("%s%s%s", path, entry->d_name, S_ISDIR(st.st_mode) ? "/" : "");
		if (S_ISDIR(st.st_mode))
			ret = list_below(dirfd(dir), entry->d_name, below, depth + 1, each, of,
					 err);
		else if (S_ISREG(st.st_mode))
			ret = each(of, below);
	}
	return ret;
}

static int bucket_dir_list(void *data, const char *prefix, int (*each)(void *of, const char *name),
			   void *of, struct err *err)
{
	const struct bucket_dir *dir = data;
	AUTO_FREE char *path = xstrdup(prefix);
	AUTO_FD int fd = -1;
	size_t len = strlen(path);

	if (len && path[len - 1] == '/')
		path[len - 1] = '\0';
	fd = *path ? chunk_open_path(dir->fd, path) : fcntl(dir->fd, F_DUPFD_CLOEXEC, 3);
	if (fd == -ENOENT || fd == -ENOTDIR)
		return 0;
	if (fd < 0)
		return err_errno(err, ERR_OUTPUT, -fd, "can't read %s/%s", dir->path, path);
	return list_below(fd, ".", prefix, 0, each, of, err);
}

static void bucket_dir_close(void *data)
{
	struct bucket_dir *dir = data;

	close_fd(dir->fd);
	free(dir->path);
	free(dir);
}

const struct bucket_ops bucket_dir_ops = { bucket_dir_put, bucket_dir_get, bucket_dir_list,
					   bucket_dir_close };

int bucket_dir_open(const char *path, void **ret, struct err *err)
{
	struct bucket_dir *dir;
	int fd;

	if (walk_dir(path, 0, &fd, NULL, err))
		return err->code;
	dir = xalloc(sizeof(*dir));
	*dir = (struct bucket_dir){ .fd = fd, .path = xstrdup(path) };
	*ret = dir;
	return 0;
}
