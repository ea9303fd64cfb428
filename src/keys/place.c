/* SPDX-License-Identifier: GPL-2.0-only */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "io/tls_keys.h"

int place_open(int at_fd, const char *name, bool make, struct err *err)
{
	int fd;

	if (make && mkdirat(at_fd, name, 0700) < 0 && errno != EEXIST) {
		err_errno(err, ERR_OUTPUT, errno, "can't create the directory %s", name);
		return -1;
	}
	fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		err_errno(err, ERR_OUTPUT, errno, "can't open the directory %s", name);
	return fd;
}

static int keys_place_write_all(int fd, const gnutls_datum_t *text)
{
	size_t done = 0;

	while (done < text->size) {
		ssize_t n = write(fd, text->data + done, text->size - done);

		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

/* A link does not replace an existing file, a rename does. */
static int give_name(int dir_fd, const char *temp, const char *name, enum place_how how)
{
	if (how == PLACE_REPLACE)
		return renameat(dir_fd, temp, dir_fd, name) < 0 ? -errno : 0;
	return linkat(dir_fd, temp, dir_fd, name, 0) < 0 ? -errno : 0;
}

int place_write(int dir_fd, const char *name, const gnutls_datum_t *text, bool secret,
		enum place_how how, struct err *err)
{
	AUTO_FREE char *temp = xasprintf(".%s.%d", name, (int)getpid());
	AUTO_FD int fd = openat(dir_fd, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
				secret ? 0600 : 0644);
	int ret;

	if (fd < 0)
		return err_errno(err, ERR_OUTPUT, errno, "can't create %s", name);
	ret = keys_place_write_all(fd, text);
	if (ret == 0)
		ret = give_name(dir_fd, temp, name, how);
	unlinkat(dir_fd, temp, 0);
	if (ret == -EEXIST)
		return err_set(err, ERR_INVALID, "%s is there already, and nothing is overwritten",
			       name);
	return ret < 0 ? err_errno(err, ERR_OUTPUT, -ret, "can't write %s", name) : 0;
}

int place_read(int dir_fd, const char *name, bool secret, char **ret, struct err *err)
{
	if (tls_file_read(dir_fd, ".", name, secret, ret, err))
		return err->code;
	return *ret ? 0 : err_set(err, ERR_OUTPUT, "there is no %s", name);
}
