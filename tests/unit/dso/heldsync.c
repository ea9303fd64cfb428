/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Preloaded into a relay: a disk that does not answer. fdatasync() appends a byte to the file that
 * LTT_SYNC_LOG names, and returns when the file that LTT_SYNC_HOLD names is not there.
 * ftruncate() waits while LTT_TRUNCATE_HOLD names the file that it is to cut.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* By a call that a relay may make. */
static bool is_held(void)
{
	int fd = open(getenv("LTT_SYNC_HOLD"), O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool is_named(const char *path, int fd)
{
	int other = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	struct stat a, b;
	bool same = other >= 0 && fstat(other, &a) == 0 && fstat(fd, &b) == 0 &&
		    a.st_ino == b.st_ino && a.st_dev == b.st_dev;

	if (other >= 0)
		close(other);
	return same;
}

__attribute__((visibility("default"))) int ftruncate(int fd, off_t length)
{
	int (*real)(int, off_t) = (int (*)(int, off_t))dlsym(RTLD_NEXT, "ftruncate");

	while (is_named(getenv("LTT_TRUNCATE_HOLD"), fd))
		poll(NULL, 0, 5);
	return real(fd, length);
}

__attribute__((visibility("default"))) int fdatasync(int fd)
{
	int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
	int log = open(getenv("LTT_SYNC_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (log >= 0) {
		(void)!write(log, "s", 1);
		close(log);
	}
	while (is_held())
		poll(NULL, 0, 5);
	return real(fd);
}
