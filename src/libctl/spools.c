/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "spools.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/str.h"
#include "io/lockfile.h"
#include "io/paths.h"
#include "io/walk.h"

#define DEPTH 16u /* of directories: a trace's path and its index */
#define EMPTY_S 60

/** As each index begins (CTF's, of LTTng). */
struct index_head {
	uint32_t magic, major, minor, entry_bytes; /* in network order */
};

int spools_dir(char **ret, struct err *err)
{
	AUTO_FREE char *home = paths_home();
	char *dir;

	if (!home && errno == ENOENT)
		return err_set(err, ERR_INVALID, "HOME is not set: it contains the spools");
	dir = home ? str_printf("%s/ltt-traces/spool", home) : NULL;
	if (!dir)
		return err_memory(err);
	*ret = dir;
	return 0;
}

void spools_fini(struct spool_info *spool)
{
	free(TAKE(spool->path));
	spool->fd = close_fd(spool->fd);
}

/* --- list of spools ------------------------------------------------------------------- */

static uint64_t ns_of(const struct statx_timestamp *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + t->tv_nsec;
}

static uint64_t entries_in(int dir_fd, const char *name, uint64_t bytes)
{
	AUTO_FD int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct index_head head;
	uint32_t entry;

	if (fd < 0 || pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head))
		return 0;
	entry = be32toh(head.entry_bytes);
	return entry && bytes > sizeof(head) ? (bytes - sizeof(head)) / entry : 0;
}

static void count_file(struct spool_info *spool, int dir_fd, const char *name)
{
	size_t len = strlen(name);
	struct statx st;
	uint64_t since;

	if (*name == '.' || strcmp(name, "metadata") == 0 ||
	    statx(dir_fd, name, AT_SYMLINK_NOFOLLOW,
		  STATX_SIZE | STATX_MTIME | STATX_BTIME | STATX_TYPE, &st) < 0 ||
	    !S_ISREG(st.stx_mode))
		return;
	if (len > 4 && strcmp(name + len - 4, ".idx") == 0) {
		spool->packets += entries_in(dir_fd, name, st.stx_size);
		return;
	}
	spool->bytes += st.stx_size;
	since = ns_of(st.stx_mask & STATX_BTIME ? &st.stx_btime : &st.stx_mtime);
	if (st.stx_size && (!spool->since_ns || since < spool->since_ns))
		spool->since_ns = since;
}

static void spools_count(struct spool_info *spool, int at_fd, const char *name, unsigned int depth)
{
	AUTO_DIR DIR *dir = dir_open(at_fd, name);
	struct dirent *entry;

	while ((entry = dir_next(dir))) {
		struct stat st;

		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (!S_ISDIR(st.st_mode))
			count_file(spool, dirfd(dir), entry->d_name);
		else if (depth < DEPTH)
			spools_count(spool, dirfd(dir), entry->d_name, depth + 1);
	}
}

/* It is locked for an instant; a consumer that needs it waits. */
static bool is_locked(int fd)
{
	return flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

static void read_facts(struct spool_info *spool)
{
	AUTO_FD int fd =
		openat(spool->fd, SPOOLFACTS_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return;
	spool->known = spoolfacts_read(fd, &spool->facts) == 0;
	spool->locked = is_locked(fd);
}

/* One that is named is in @dir; any other name is a path. NULL: no memory. */
static char *spools_path(const char *dir, const char *name)
{
	AUTO_FREE char *cwd = NULL;

	if (!name_check(name))
		return str_printf("%s/%s", dir, name);
	if (*name == '/')
		return strdup(name);
	cwd = getcwd(NULL, 0);
	if (!cwd && errno == ENOMEM)
		return NULL;
	return cwd ? str_printf("%s/%s", cwd, name) : strdup(name);
}

int spools_open(const char *name, struct spool_info *ret, struct err *err)
{
	AUTO_FREE char *dir = NULL;

	*ret = (struct spool_info){ .fd = -1 };
	if (spools_dir(&dir, err) != 0)
		return err->code;
	ret->ours = !name_check(name);
	ret->path = spools_path(dir, name);
	if (!ret->path)
		return err_memory(err);
	if (walk_dir(ret->path, 0, &ret->fd, NULL, err) != 0) {
		spools_fini(ret);
		return err->code;
	}
	read_facts(ret);
	ret->ours |= ret->known;
	spools_count(ret, ret->fd, ".", 0);
	return 0;
}

bool spools_is_sent(const struct spool_info *spool)
{
	AUTO_DIR DIR *dir = dir_open(spool->fd, ".");
	struct stat st;

	return dir && !dir_next(dir) && fstat(spool->fd, &st) == 0 &&
	       time(NULL) - st.st_mtime > EMPTY_S;
}

/* --- its end ---------------------------------------------------------------------------- */

int spools_remove(struct spool_info *spool, struct err *err)
{
	AUTO_FD int lock = -1;
	int ret;

	if (!spool->ours)
		return err_set(err, ERR_INVALID, "%s is not a spool", spool->path);
	ret = lockfile_lock(spool->fd, SPOOLFACTS_FILE, &lock);
	if (ret == -EWOULDBLOCK)
		return err_set(err, ERR_STATE, "the spool %s is in use", spool->path);
	if (ret < 0)
		return err_errno(err, ERR_OUTPUT, -ret, "can't lock the spool %s", spool->path);
	dir_empty(spool->fd, ".", DEPTH);
	if (rmdir(spool->path) < 0)
		return err_errno(err, ERR_OUTPUT, errno, "can't remove all of the spool %s",
				 spool->path);
	return 0;
}
