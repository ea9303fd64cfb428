/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "store/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>

/* The file system rounds up, and needs some room for its own tables. */
#define ROUNDING (16u << 10)

static int check_free(struct disk *disk, int fd, uint64_t bytes)
{
	struct statvfs st;

	if (fstatvfs(fd, &st) < 0)
		return -errno;
	if ((uint64_t)st.f_bavail * st.f_frsize >= disk->keep_free + bytes + ROUNDING)
		return 0;
	disk->limit = DISK_KEEP_FREE;
	return -EDQUOT;
}

int disk_room(struct disk *disk, int fd, uint64_t bytes)
{
	if (disk->accounting)
		return 0;
	if (disk->max_size && disk->used + bytes + DISK_METADATA_RESERVE > disk->max_size) {
		disk->limit = DISK_MAX_SIZE;
		return -EDQUOT;
	}
	return disk->keep_free ? check_free(disk, fd, bytes) : 0;
}

int disk_sync_data(int fd)
{
	return fdatasync(fd) < 0 ? -errno : 0;
}

/* Where a file system has no such notion, there is nothing to be done. */
int disk_sync_dir(int fd)
{
	return fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
}

int disk_sync_parent(int fd)
{
	AUTO_FD int parent = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (parent < 0)
		return errno == EACCES ? 0 : -errno;
	return disk_sync_dir(parent);
}
