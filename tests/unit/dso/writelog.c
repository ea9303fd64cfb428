/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Preloaded into a daemon: logs, in the file LTT_WRITE_LOG, its changes of files
 * below LTT_WRITE_ROOT, call by call (struct entry of lib/power.c).
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

struct entry {
	uint32_t kind; /* 'w' write, 't' truncate, 'c' create, 's' sync */
	uint32_t len;  /* of the data behind it */
	uint64_t offset;
	char path[112];
};

static int log_fd(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open(getenv("LTT_WRITE_LOG"), O_WRONLY | O_APPEND | O_CLOEXEC);
	return fd;
}

static void put(char kind, int file, uint64_t offset, const void *data, size_t len)
{
	struct entry e = { .kind = (uint32_t)kind, .len = (uint32_t)len, .offset = offset };
	struct iovec iov[2] = { { &e, sizeof(e) }, { (void *)data, len } };
	const char *root = getenv("LTT_WRITE_ROOT");
	char link[64], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0 || !root)
		return;
	path[n] = '\0';
	if (strncmp(path, root, strlen(root)) != 0)
		return;
	if (path[strlen(root)]) /* the root itself has no name here */
		snprintf(e.path, sizeof(e.path), "%.111s", path + strlen(root) + 1);
	if (writev(log_fd(), iov, 2) < 0)
		abort();
}

EXPORT ssize_t pwritev(int fd, const struct iovec *iov, int nr, off_t offset)
{
	ssize_t n = REAL(pwritev)(fd, iov, nr, offset), left = n;
	off_t at = offset;

	for (int i = 0; i < nr && left > 0; i++) {
		size_t len = iov[i].iov_len < (size_t)left ? iov[i].iov_len : (size_t)left;

		put('w', fd, (uint64_t)at, iov[i].iov_base, len);
		at += (off_t)len;
		left -= (ssize_t)len;
	}
	return n;
}

EXPORT int ftruncate(int fd, off_t len)
{
	int ret = REAL(ftruncate)(fd, len);

	if (ret == 0)
		put('t', fd, (uint64_t)len, NULL, 0);
	return ret;
}

EXPORT int openat(int dir, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;
	int fd;

	if (flags & O_CREAT) {
		va_start(args, flags);
		mode = (mode_t)va_arg(args, int);
		va_end(args);
	}
	fd = REAL(openat)(dir, path, flags, mode);
	if (fd >= 0 && flags & O_CREAT)
		put('c', fd, 0, NULL, 0);
	return fd;
}

/* There is no power to be lost here: to write it down is enough. */
EXPORT int fsync(int fd)
{
	put('s', fd, 0, NULL, 0);
	return 0;
}

EXPORT int fdatasync(int fd)
{
	return fsync(fd);
}
