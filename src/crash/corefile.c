/* SPDX-License-Identifier: GPL-2.0-only */
#include "corefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/macros.h"
#include "facts.h"

#define PIECE 65536u

/* As in fs/coredump.c: a process that had changed its user must not choose the directory, and no
 * file that exists is replaced as root. */
static int corefile_open_as_root(const char *name)
{
	return *name == '/' ?
		       open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600) :
		       -1;
}

/* Into the root and the working directory of the process, as its user. */
static int corefile_enter(const char *tid)
{
	char root[64], cwd[64];
	struct facts facts;
	int root_fd AUTO_FD = -1, cwd_fd AUTO_FD = -1, ret;

	snprintf(root, sizeof(root), "/proc/%.20s/root", tid);
	snprintf(cwd, sizeof(cwd), "/proc/%.20s/cwd", tid);
	ret = core_facts_read_user(&facts, tid);
	if (ret == 0) {
		root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
		cwd_fd = open(cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (root_fd < 0 || cwd_fd < 0 || fchdir(root_fd) != 0 ||
		    (geteuid() == 0 && chroot(".") != 0) || fchdir(cwd_fd) != 0)
			ret = -1;
	}
	if (ret == 0)
		ret = core_facts_drop(&facts);
	core_facts_fini(&facts);
	return ret;
}

static int corefile_open_as_user(const char *tid, const char *name)
{
	int fd AUTO_FD = -1;
	struct stat st;

	if (corefile_enter(tid) != 0)
		return -1;
	(void)!unlink(name);
	fd = open(name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1 ||
	    st.st_uid != geteuid() || ftruncate(fd, 0) != 0)
		return -1;
	return TAKE_FD(fd);
}

static bool corefile_is_zero(const char *data, size_t len)
{
	return !*data && memcmp(data, data + 1, len - 1) == 0;
}

/* Zeros are holes, as in the kernel's own files. */
static bool corefile_put(int fd, const char *data, size_t len, uint64_t at)
{
	while (len && !corefile_is_zero(data, len)) {
		ssize_t n = pwrite(fd, data, len, (off_t)at);

		if (n < 0 && errno != EINTR)
			return false;
		n = MAX(n, 0);
		data += n;
		len -= (size_t)n;
		at += (uint64_t)n;
	}
	return true;
}

static bool corefile_copy(int fd, uint64_t limit)
{
	static char piece[PIECE];
	uint64_t done = 0;

	while (done < limit) {
		ssize_t n = read(STDIN_FILENO, piece, MIN(limit - done, (uint64_t)PIECE));

		if (n == 0)
			break;
		if (n < 0 && errno != EINTR)
			return false;
		if (n < 0)
			continue;
		if (!corefile_put(fd, piece, (size_t)n, done))
			return false;
		done += (uint64_t)n;
	}
	return ftruncate(fd, (off_t)done) == 0;
}

int corefile_write(const char *tid, const char *limits, const char *name)
{
	unsigned long long limit;
	int fd AUTO_FD = -1;
	char mode;

	if (sscanf(limits, "-%llu:%c", &limit, &mode) != 2)
		return 1;
	if (limit < (unsigned long long)sysconf(_SC_PAGESIZE))
		return 0;
	fd = mode == COREFILE_ROOT_ONLY ? corefile_open_as_root(name) :
					  corefile_open_as_user(tid, name);
	return fd >= 0 && corefile_copy(fd, limit) ? 0 : 1;
}
