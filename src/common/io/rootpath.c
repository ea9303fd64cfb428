/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rootpath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PID_DIGITS 10u

/* Return: the length of /proc/PID/root in front of a slash; 0: it is another path. */
static size_t rootpath_root(const char *path)
{
	static const char proc[] = "/proc/", root[] = "/root/";
	size_t at = strlen(proc), digits;

	if (strncmp(path, proc, at) != 0)
		return 0;
	digits = strspn(path + at, "0123456789");
	at += digits;
	if (!digits || digits > PID_DIGITS || strncmp(path + at, root, strlen(root)) != 0)
		return 0;
	return at + strlen(root) - 1;
}

bool rootpath_is(const char *path)
{
	return rootpath_root(path) > 0;
}

int rootpath_open(const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	size_t len = rootpath_root(path);
	AUTO_FD int root = -1;
	char text[64];
	long fd;

	if (!len) {
		fd = open(path, flags | O_CLOEXEC);
		return fd < 0 ? -errno : (int)fd;
	}
	snprintf(text, sizeof(text), "%.*s", (int)len, path);
	root = open(text, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	path += len + strspn(path + len, "/");
	fd = syscall(SYS_openat2, root, *path ? path : ".", &how, sizeof(how));
	return fd < 0 ? -errno : (int)fd;
}
