/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Preloaded into a daemon: its file calls fail as the environment selects.
 *   LTT_FAULT_AT=K       from the K-th call on, counted over all kinds, from 1
 *   LTT_FAULT_FROM=PATH  not counted before this directory or file is made
 *   LTT_FAULT_TIMES=N    that many calls
 *   LTT_FAULT_ERRNO=E    with this error; a write takes half of it first if
 *   LTT_FAULT_SHORT=1
 *   LTT_FAULT_KILL=1     the call is never made, or half of it: the process is killed
 *   LTT_FAULT_STOP=1     before each call the process is stopped, until it gets SIGCONT
 *   LTT_FAULT_SLOW=MS    a write takes that long for each MiB
 *   LTT_FAULT_OPEN=NAME  files of this name can't be opened, LTT_FAULT_TIMES times; not counted
 *   LTT_FAULT_COUNT=FILE where to put the number of calls, as text
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static unsigned long calls;

static unsigned long number(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : 0;
}

static void die_if_asked(void)
{
	if (number("LTT_FAULT_KILL"))
		raise(SIGKILL); /* kill() is refused to a consumer */
}

/* Whether the calls are counted. @path: of this call, or NULL. */
static bool begins(const char *path)
{
	static bool begun;
	const char *from = getenv("LTT_FAULT_FROM");

	if (!from || (path && strcmp(path, from) == 0))
		begun = true;
	return begun;
}

/* Some calls count only where LTT_FAULT_FROM is set: callers ignore that they fail. */
static bool in_turn(void)
{
	return getenv("LTT_FAULT_FROM");
}

static bool its_turn(void)
{
	unsigned long call = begins(NULL) ? __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) : 0;
	unsigned long at = number("LTT_FAULT_AT"), times = number("LTT_FAULT_TIMES");

	if (number("LTT_FAULT_STOP"))
		raise(SIGSTOP);
	if (!at || call < at || call >= at + times)
		return false;
	errno = (int)number("LTT_FAULT_ERRNO");
	return true;
}

static bool must_fail(void)
{
	bool fail = its_turn();

	if (fail)
		die_if_asked();
	return fail;
}

EXPORT ssize_t pwritev(int fd, const struct iovec *iov, int nr, off_t offset)
{
	ssize_t half = -1;
	size_t bytes = 0;
	int error;

	for (int i = 0; i < nr; i++)
		bytes += iov[i].iov_len;
	usleep((useconds_t)(number("LTT_FAULT_SLOW") * 1000 * bytes >> 20));
	if (!its_turn())
		return REAL(pwritev)(fd, iov, nr, offset);
	error = errno;
	if (number("LTT_FAULT_SHORT") && iov[0].iov_len > 1)
		half = pwrite(fd, iov[0].iov_base, iov[0].iov_len / 2, offset);
	die_if_asked();
	if (half >= 0)
		return half;
	errno = error;
	return -1;
}

EXPORT ssize_t splice(int in, off64_t *in_at, int out, off64_t *out_at, size_t len,
		      unsigned int flags)
{
	ssize_t half = -1;
	int error;

	if (!its_turn())
		return REAL(splice)(in, in_at, out, out_at, len, flags);
	error = errno;
	if (number("LTT_FAULT_SHORT") && len > 1)
		half = REAL(splice)(in, in_at, out, out_at, len / 2, flags);
	die_if_asked();
	if (half >= 0)
		return half;
	errno = error;
	return -1;
}

EXPORT int ftruncate(int fd, off_t len)
{
	return must_fail() ? -1 : REAL(ftruncate)(fd, len);
}

EXPORT int rename(const char *from, const char *to)
{
	return must_fail() ? -1 : REAL(rename)(from, to);
}

EXPORT int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	return in_turn() && must_fail() ? -1 : REAL(renameat)(from_fd, from, to_fd, to);
}

EXPORT int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned int flags)
{
	return in_turn() && must_fail() ? -1 : REAL(renameat2)(from_fd, from, to_fd, to, flags);
}

EXPORT int unlinkat(int fd, const char *path, int flags)
{
	bool fails = in_turn() && number("LTT_FAULT_KILL") && must_fail(); /* a full disk permits it */

	return fails ? -1 : REAL(unlinkat)(fd, path, flags);
}

EXPORT int fallocate(int fd, int mode, off_t offset, off_t len)
{
	return must_fail() ? -1 : REAL(fallocate)(fd, mode, offset, len);
}

EXPORT int mkdirat(int fd, const char *path, mode_t mode)
{
	(void)begins(path);
	return must_fail() ? -1 : REAL(mkdirat)(fd, path, mode);
}

EXPORT int fdatasync(int fd)
{
	return must_fail() ? -1 : REAL(fdatasync)(fd);
}

static bool is_unopened(const char *path)
{
	static unsigned int times;
	const char *unopened = getenv("LTT_FAULT_OPEN");

	if (!unopened || strcmp(path, unopened) != 0 || times++ >= number("LTT_FAULT_TIMES"))
		return false;
	errno = (int)number("LTT_FAULT_ERRNO");
	return true;
}

EXPORT int openat(int fd, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list args;

	if (flags & O_CREAT) {
		va_start(args, flags);
		mode = (mode_t)va_arg(args, int);
		va_end(args);
	}
	if (flags & O_CREAT)
		(void)begins(path);
	return is_unopened(path) || must_fail() ? -1 : REAL(openat)(fd, path, flags, mode);
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("LTT_FAULT_COUNT");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (!f)
		return;
	fprintf(f, "%lu\n", calls);
	fclose(f);
}
