/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dir.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

DIR *dir_open(int at_fd, const char *name)
{
	AUTO_FD int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (dir)
		fd = -1; /* closedir() closes it */
	return dir;
}

struct dirent *dir_next(DIR *dir)
{
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			return entry;
	return NULL;
}

void dir_empty(int at_fd, const char *name, unsigned int depth)
{
	AUTO_DIR DIR *dir = dir_open(at_fd, name);
	struct dirent *entry;

	while ((entry = dir_next(dir))) {
		if (unlinkat(dirfd(dir), entry->d_name, 0) == 0 || depth == 0)
			continue;
		dir_empty(dirfd(dir), entry->d_name, depth - 1);
		unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
}
