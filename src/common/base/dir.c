/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
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

#define OPEN_LEVELS 12u
#define HOIST_TRIES 100000u

/* Return: was it moved to @top_fd, under a name that nothing has there? */
static bool hoist(int at_fd, const char *name, int top_fd, unsigned int *number)
{
	char new_name[32];

	for (unsigned int i = 0; i < HOIST_TRIES; i++) {
		snprintf(new_name, sizeof(new_name), ".deep-%u", (*number)++);
		if (renameat(at_fd, name, top_fd, new_name) == 0)
			return true;
		if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
			return false;
	}
	return false;
}

/* As dir_empty(), but entries that are too deep are moved to the top. Return: whether there were
 * any. */
static bool empty_or_hoist(int top_fd, int at_fd, const char *name, unsigned int depth,
			   unsigned int *number)
{
	AUTO_DIR DIR *dir = dir_open(at_fd, name);
	struct dirent *entry;
	bool hoisted = false;

	while ((entry = dir_next(dir))) {
		if (unlinkat(dirfd(dir), entry->d_name, 0) == 0)
			continue;
		if (depth == 0 && unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR) < 0) {
			hoisted |= hoist(dirfd(dir), entry->d_name, top_fd, number);
		} else if (depth) {
			hoisted |= empty_or_hoist(top_fd, dirfd(dir), entry->d_name, depth - 1,
						  number);
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
		}
	}
	return hoisted;
}

void dir_remove(int at_fd, const char *name)
{
	AUTO_FD int top = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	unsigned int number = 0;

	while (top >= 0 && empty_or_hoist(top, top, ".", OPEN_LEVELS, &number))
		;
	unlinkat(at_fd, name, AT_REMOVEDIR);
}
