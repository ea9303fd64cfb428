/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "census.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "alone.h"
#include "next.h"
#include "tracer/agent/thread.h"
#include "tracer/base/sys.h"
#include "tracer/ring/section.h"
#include "tracer/ring/sys.h"

#if SECTION_SUPPORTED && !AGENT_UNDER_TSAN

#define EXPORT __attribute__((visibility("default")))
#define NAME "task"
#define TASKS "/proc/self/" NAME

/* Some linkers take this file from libltt.a for a shared library that calls stat(): the helper does
 * not come along. */
#pragma weak agent_thread_id
#pragma weak agent_alone_depart

static bool has_helper(void)
{
	return agent_thread_id && agent_thread_id() != 0;
}

/* Whether it may be the directory of two threads: in /proc, directories have no size. */
static bool may_be_tasks(mode_t mode, long size, unsigned long links)
{
	return links == AGENT_LINKS_OF_TWO && size == 0 && S_ISDIR(mode) && has_helper();
}

/* Return: whether the helper has ended. */
static bool end_if_tasks(dev_t dev, ino_t ino)
{
	struct stat own;

	return ring_syscall(SYS_newfstatat, AT_FDCWD, (long)TASKS, (long)&own, 0) == 0 &&
	       own.st_dev == dev && own.st_ino == ino && agent_alone_depart();
}

bool agent_census_stat(const struct stat *st)
{
	return may_be_tasks(st->st_mode, st->st_size, st->st_nlink) &&
	       end_if_tasks(st->st_dev, st->st_ino);
}

bool agent_census_statx(const struct statx *stx)
{
	return may_be_tasks(stx->stx_mode, (long)stx->stx_size, stx->stx_nlink) &&
	       end_if_tasks(makedev(stx->stx_dev_major, stx->stx_dev_minor), stx->stx_ino);
}

void agent_census_list(int fd)
{
	struct stat st;

	if (has_helper() && fd >= 0 && ring_syscall(SYS_fstat, fd, (long)&st, 0, 0) == 0)
		(void)agent_census_stat(&st);
}

/*
 * The functions have names of their own here, as a header may redirect the usual ones, and take
 * stat64 for stat, which it is on these machines. If libc lacks one, the kernel is called.
 * @args: those of the call; behind them are those of the system call.
 */
#define NEXT(name) agent_next(&next_##name, #name, (const void *)census_##name)
#define IN_PLACE_OF(result, name, params)                  \
	static void *next_##name;                          \
	EXPORT result census_##name params __asm__(#name); \
	static result(*find_##name(void)) params           \
	{                                                  \
		return (result(*) params)NEXT(name);       \
	}                                                  \
	EXPORT result census_##name params

/* A system call as libc makes it. */
static long census_call(long nr, long a, long b, long c, long d, long e)
{
	long result = ring_syscall5(nr, a, b, c, d, e);

	if (result >= 0)
		return result;
	errno = (int)-result;
	return -1;
}

#define STAT(name, params, args, ...)                                           \
	IN_PLACE_OF(int, name, params)                                          \
	{                                                                       \
		int(*call) params = find_##name();                              \
		int err = call ? call args : (int)census_call(__VA_ARGS__);     \
                                                                                \
		if (err == 0 && agent_census_stat(st))                          \
			err = call ? call args : (int)census_call(__VA_ARGS__); \
		return err;                                                     \
	}

#define BY_PATH(name)                                                                         \
	STAT(name, (const char *path, struct stat *st), (path, st), SYS_newfstatat, AT_FDCWD, \
	     (long)path, (long)st, 0, 0)
#define BY_LINK(name)                                                                         \
	STAT(name, (const char *path, struct stat *st), (path, st), SYS_newfstatat, AT_FDCWD, \
	     (long)path, (long)st, AT_SYMLINK_NOFOLLOW, 0)
#define BY_FD(name) \
	STAT(name, (int fd, struct stat *st), (fd, st), SYS_fstat, fd, (long)st, 0, 0, 0)
#define BY_DIR(name)                                                        \
	STAT(name, (int dir, const char *path, struct stat *st, int flags), \
	     (dir, path, st, flags), SYS_newfstatat, dir, (long)path, (long)st, flags, 0)

BY_PATH(stat)
BY_PATH(stat64)
BY_LINK(lstat)
BY_LINK(lstat64)
BY_FD(fstat)
BY_FD(fstat64)
BY_DIR(fstatat)
BY_DIR(fstatat64)

/* Of programs that were linked with a glibc before 2.33. */
#define OLD_BY_PATH(name)                                                                 \
	STAT(name, (int version, const char *path, struct stat *st), (version, path, st), \
	     SYS_newfstatat, AT_FDCWD, (long)path, (long)st, 0, 0)
#define OLD_BY_LINK(name)                                                                 \
	STAT(name, (int version, const char *path, struct stat *st), (version, path, st), \
	     SYS_newfstatat, AT_FDCWD, (long)path, (long)st, AT_SYMLINK_NOFOLLOW, 0)
#define OLD_BY_FD(name)                                                                      \
	STAT(name, (int version, int fd, struct stat *st), (version, fd, st), SYS_fstat, fd, \
	     (long)st, 0, 0, 0)
#define OLD_BY_DIR(name)                                                                 \
	STAT(name, (int version, int dir, const char *path, struct stat *st, int flags), \
	     (version, dir, path, st, flags), SYS_newfstatat, dir, (long)path, (long)st, flags, 0)

OLD_BY_PATH(__xstat)
OLD_BY_PATH(__xstat64)
OLD_BY_LINK(__lxstat)
OLD_BY_LINK(__lxstat64)
OLD_BY_FD(__fxstat)
OLD_BY_FD(__fxstat64)
OLD_BY_DIR(__fxstatat)
OLD_BY_DIR(__fxstatat64)

IN_PLACE_OF(int, statx,
	    (int dir, const char *path, int flags, unsigned int mask, struct statx *stx))
{
	int (*call)(int, const char *, int, unsigned int, struct statx *) = find_statx();
	int err = call ? call(dir, path, flags, mask, stx) :
			 (int)census_call(SYS_statx, dir, (long)path, flags, mask, (long)stx);

	if (err == 0 && agent_census_statx(stx))
		err = call ? call(dir, path, flags, mask, stx) :
			     (int)census_call(SYS_statx, dir, (long)path, flags, mask, (long)stx);
	return err;
}

/* By its last component, as a call of fstat() for each directory would be noticed. */
static bool may_be_path_of_tasks(const char *path)
{
	size_t len = strlen(path);

	while (len > 0 && path[len - 1] == '/')
		len--;
	return (len > 0 && path[len - 1] == '.') ||
	       (len >= sizeof(NAME) - 1 &&
		memcmp(path + len - (sizeof(NAME) - 1), NAME, sizeof(NAME) - 1) == 0);
}

/* The kernel has read the path. The entries are read after this. */
IN_PLACE_OF(DIR *, opendir, (const char *path))
{
	DIR *(*call)(const char *) = find_opendir(), *dir;

	if (!call) {
		errno = ENOSYS;
		return NULL;
	}
	dir = call(path);
	if (dir && may_be_path_of_tasks(path))
		agent_census_list(dirfd(dir));
	return dir;
}

IN_PLACE_OF(DIR *, fdopendir, (int fd))
{
	DIR *(*call)(int) = find_fdopendir();

	if (!call) {
		errno = ENOSYS;
		return NULL;
	}
	agent_census_list(fd);
	return call(fd);
}

IN_PLACE_OF(ssize_t, getdents64, (int fd, void *list, size_t size))
{
	ssize_t (*call)(int, void *, size_t) = find_getdents64();

	agent_census_list(fd);
	if (call)
		return call(fd, list, size);
	return census_call(SYS_getdents64, fd, (long)list, (long)size, 0, 0);
}

void agent_census_init(void)
{
	find_stat();
	find_stat64();
	find_lstat();
	find_lstat64();
	find_fstat();
	find_fstat64();
	find_fstatat();
	find_fstatat64();
	find___xstat();
	find___xstat64();
	find___lxstat();
	find___lxstat64();
	find___fxstat();
	find___fxstat64();
	find___fxstatat();
	find___fxstatat64();
	find_statx();
	find_opendir();
	find_fdopendir();
	find_getdents64();
}

#else

void agent_census_init(void)
{
}

#endif
