/* SPDX-License-Identifier: GPL-2.0-only */
#include "durable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/mem.h"

#define MAX_DEPTH 16

enum pass { PASS_METADATA, PASS_STREAMS, PASS_DIRS };

/*
 * Data on the disk needs the data named before it: entries of the index (a
 * directory in the trace) their packets, packets their metadata. As files grow
 * meanwhile, the data needed by the new index entries and packets is synced once more.
 */
static const enum pass passes[] = { PASS_METADATA, PASS_STREAMS, PASS_DIRS, PASS_STREAMS,
				    PASS_METADATA };

struct walk {
	struct durable *sum;
	dev_t dev;
	bool again;
	char failed[64]; /* the file, for people */
};

static int sync_file(struct walk *w, int dir_fd, const char *name)
{
	AUTO_FD int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return errno == ENOENT ? 0 : -errno; /* dropped for a newer one */
	/* fsync: the size must not be lost, and times cost little */
	if (fsync(fd) < 0)
		return -errno;
	if (!w->again) {
		w->sum->files++;
		w->sum->bytes += (uint64_t)st.st_size;
	}
	return 0;
}

static int sync_dir(struct walk *w, int dir_fd, int depth);

static int sync_entry(struct walk *w, int dir_fd, const char *name, enum pass pass, int depth)
{
	bool is_metadata = strcmp(name, "metadata") == 0;
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (S_ISREG(st.st_mode) && pass == (is_metadata ? PASS_METADATA : PASS_STREAMS))
		return sync_file(w, dir_fd, name);
	if (S_ISDIR(st.st_mode) && pass == PASS_DIRS && st.st_dev == w->dev && depth < MAX_DEPTH) {
		AUTO_FD int fd =
			openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		return fd < 0 ? -errno : sync_dir(w, fd, depth + 1);
	}
	return 0;
}

static int sync_pass(struct walk *w, DIR *dir, enum pass pass, int depth)
{
	struct dirent *entry;
	int ret = 0;

	rewinddir(dir);
	while (ret == 0 && (entry = dir_next(dir))) {
		ret = sync_entry(w, dirfd(dir), entry->d_name, pass, depth);
		if (ret < 0 && !w->failed[0])
			snprintf(w->failed, sizeof(w->failed), "%.60s", entry->d_name);
	}
	return ret;
}

static int sync_dir(struct walk *w, int dir_fd, int depth)
{
	AUTO_DIR DIR *dir = dir_open(dir_fd, ".");
	int ret = dir ? 0 : -errno;

	for (size_t i = 0; ret == 0 && i < ARRAY_SIZE(passes); i++) {
		w->again = i > PASS_DIRS;
		ret = sync_pass(w, dir, passes[i], depth);
	}
	return ret == 0 && fsync(dir_fd) < 0 ? -errno : ret;
}

/* A user that may not read the directory above has not made this one there. */
static int sync_parent(int dir_fd)
{
	AUTO_FD int fd = openat(dir_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return errno == EACCES ? 0 : -errno;
	return fsync(fd) < 0 ? -errno : 0;
}

int durable_make(const char *path, struct durable *ret, struct err *err)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct walk w = { .sum = ret };
	struct stat st;
	int result;

	*ret = (struct durable){ 0 };
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(err, ERR_OUTPUT, errno, "can't open %s", path);
	w.dev = st.st_dev;
	result = sync_dir(&w, fd, 0);
	result = result ? result : sync_parent(fd);
	if (result < 0)
		return err_errno(err, ERR_OUTPUT, -result, "%s%s%s is not on the disk", path,
				 w.failed[0] ? ": " : "", w.failed);
	return 0;
}
