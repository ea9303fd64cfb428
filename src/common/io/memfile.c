/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "memgroup.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

/* Asking first: allocating shared memory that is not there does not fail, it
 * wakes the OOM killer. Unknown counts as enough. */
uint64_t memfile_available(void)
{
	AUTO_FD int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
	char text[1024];
	const char *at;
	ssize_t n;

	if (fd < 0)
		return UINT64_MAX;
	n = read(fd, text, sizeof(text) - 1);
	text[n < 0 ? 0 : n] = '\0';
	at = strstr(text, "MemAvailable:");
	return at ? strtoull(at + strlen("MemAvailable:"), NULL, 10) * 1024 : UINT64_MAX;
}

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* Too small for a check of /proc/meminfo. */
#define SMALL_BYTES (1u << 20)
#define SMALL_IN_GROUP (1u << 16)

static int memfile_make(const char *name)
{
	unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
		fd = memfd_create(name, flags);
	return fd < 0 ? -errno : fd;
}

static int memfile_fill(int fd, uint64_t bytes)
{
	int ret;

	do
		ret = fallocate(fd, 0, 0, (off_t)bytes) < 0 ? -errno : 0;
	while (ret == -EINTR);
	return ret == -ENOSPC ? -ENOMEM : ret;
}

static int memfile_make_sealed(const char *name, uint64_t bytes, bool fills, int *ret_fd)
{
	AUTO_FD int fd = memfile_make(name);
	int ret;

	if (fd < 0)
		return fd;
	if (fchmod(fd, 0600) < 0 || ftruncate(fd, (off_t)bytes) < 0)
		return -errno;
	ret = fills ? memfile_fill(fd, bytes) : 0;
	if (ret < 0)
		return ret;
	if (fcntl(fd, F_ADD_SEALS, SEALS) < 0)
		return -errno;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int memfile_new(const char *name, uint64_t bytes, int *ret_fd)
{
	if (bytes > INT64_MAX)
		return -ENOMEM;
	/* an eighth stays with the others */
	if (bytes > SMALL_BYTES && bytes > memfile_available() / 8 * 7)
		return -ENOMEM;
	if (bytes > SMALL_IN_GROUP && bytes > memgroup_available() / 8 * 7)
		return -EDQUOT;
	return memfile_make_sealed(name, bytes, true, ret_fd);
}

int memfile_new_sparse(const char *name, uint64_t bytes, int *ret_fd)
{
	return bytes > INT64_MAX ? -ENOMEM : memfile_make_sealed(name, bytes, false, ret_fd);
}

int memfile_read_only(int fd)
{
	char path[64];
	int ret;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ret = open(path, O_RDONLY | O_CLOEXEC);
	return ret < 0 ? -errno : ret;
}

int memfile_check(int fd, uint64_t bytes)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	if (seals < 0 || fstat(fd, &st) < 0)
		return -errno;
	return (seals & SEALS) == SEALS && (uint64_t)st.st_size == bytes ? 0 : -EBADF;
}

int memfile_check_module(int fd, const char *kind)
{
	char path[64], expected[64], is[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	snprintf(expected, sizeof(expected), "anon_inode:[ltt-%s]", kind);
	n = readlink(path, is, sizeof(is) - 1);
	if (n < 0)
		return -errno;
	is[n] = '\0';
	return strcmp(is, expected) == 0 ? 0 : -EBADF;
}
