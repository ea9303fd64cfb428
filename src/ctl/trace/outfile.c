/* SPDX-License-Identifier: GPL-2.0-only */
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/mem.h"
#include "base/str.h"

static int outfile_failed(const struct outfile *out, int error, struct err *err)
{
	return err_errno(err, ERR_OUTPUT, error, "can't write %s",
			 out->name ? out->name : "standard output");
}

/* Of the file that a link leads to. */
static char *outfile_path(const char *name)
{
	char *real = realpath(name, NULL);

	return real ? real : xstrdup(name);
}

static char *outfile_temp(const char *path)
{
	char *dir AUTO_FREE = xstrdup(path), *base AUTO_FREE = xstrdup(path);

	return xasprintf("%s/.%s.%d", dirname(dir), basename(base), (int)getpid());
}

/* Whether an entry is that of a process that was killed: ".BASE.PID". */
static bool outfile_is_left(const char *entry, const char *base)
{
	size_t len = strlen(base);
	uint64_t pid;

	return entry[0] == '.' && strncmp(entry + 1, base, len) == 0 && entry[len + 1] == '.' &&
	       parse_u64(entry + len + 2, &pid) == 0 && pid && pid <= INT_MAX &&
	       kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

static void outfile_remove_left(const char *path)
{
	char *copy AUTO_FREE = xstrdup(path), *name AUTO_FREE = xstrdup(path);
	const char *base = basename(name);
	DIR *dir AUTO_DIR = opendir(dirname(copy));
	struct dirent *entry;

	while ((entry = dir_next(dir)))
		if (outfile_is_left(entry->d_name, base) &&
		    unlinkat(dirfd(dir), entry->d_name, 0) < 0)
			dir_remove(dirfd(dir), entry->d_name);
}

/* Without a name, so that nothing is left of a process that is killed; else with one. */
static int outfile_create(struct outfile *out)
{
	char *copy AUTO_FREE = xstrdup(out->path);
	int fd;

	outfile_remove_left(out->path);
	fd = open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
		return fd;
	out->temp = outfile_temp(out->path);
	return open(out->temp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
}

int outfile_open(struct outfile *out, const char *name, struct err *err)
{
	struct stat st;
	int fd;

	*out = (struct outfile){ .name = name };
	if (!name) {
		out->file = stdout;
		return 0;
	}
	if (stat(name, &st) == 0 && !S_ISREG(st.st_mode)) {
		fd = open(name, O_WRONLY | O_CLOEXEC);
	} else {
		out->path = outfile_path(name);
		fd = outfile_create(out);
	}
	out->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (out->file)
		return 0;
	outfile_failed(out, errno, err);
	close_fd(fd);
	outfile_drop(out);
	return err->code;
}

int outfile_open_named(struct outfile *out, const char *name, struct err *err)
{
	struct stat st;
	int fd = -1;

	*out = (struct outfile){ .name = name };
	if (stat(name, &st) == 0 && !S_ISREG(st.st_mode))
		return err_set(err, ERR_OUTPUT, "can't write %s: this is no regular file", name);
	out->path = outfile_path(name);
	outfile_remove_left(out->path);
	out->temp = outfile_temp(out->path);
	fd = open(out->temp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		outfile_failed(out, errno, err);
	close_fd(fd);
	if (fd < 0)
		outfile_drop(out);
	return fd < 0 ? err->code : 0;
}

/* Return: 0: there is no such file, or an empty directory; negative errno. */
static int outfile_check_dir(const char *path)
{
	DIR *dir AUTO_DIR = opendir(path);

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	return dir_next(dir) ? -ENOTEMPTY : 0;
}

int outfile_open_dir(struct outfile *out, const char *name, struct err *err)
{
	int error;

	*out = (struct outfile){ .name = name, .is_dir = true, .dir_fd = -1 };
	out->path = outfile_path(name);
	error = outfile_check_dir(out->path);
	if (error == -ENOTEMPTY)
		err_set(err, ERR_OUTPUT, "can't write %s: it is not empty; name a new directory", name);
	else if (error)
		outfile_failed(out, -error, err);
	if (!error) {
		outfile_remove_left(out->path);
		out->temp = outfile_temp(out->path);
		if (mkdir(out->temp, 0777) == 0)
			out->dir_fd = open(out->temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (out->dir_fd < 0)
			outfile_failed(out, errno, err);
	}
	if (out->dir_fd < 0)
		outfile_drop(out);
	return err->code;
}

/* Return: 0, or negative errno. */
static int outfile_name(struct outfile *out)
{
	char from[64];

	if (!out->temp) {
		snprintf(from, sizeof(from), "/proc/self/fd/%d", fileno(out->file));
		out->temp = outfile_temp(out->path);
		unlink(out->temp); /* of a process that was killed */
		if (linkat(AT_FDCWD, from, AT_FDCWD, out->temp, AT_SYMLINK_FOLLOW) < 0) {
			int error = errno;

			free(out->temp);
			out->temp = NULL;
			return -error;
		}
	}
	return rename(out->temp, out->path) < 0 ? -errno : 0;
}

int outfile_commit(struct outfile *out, struct err *err)
{
	int ret = 0;

	if (out->file && (fflush(out->file) != 0 || ferror(out->file)))
		ret = errno ? -errno : -EIO;
	if (ret == 0 && out->path)
		ret = outfile_name(out);
	if (ret)
		outfile_failed(out, -ret, err);
	else
		free(out->temp), out->temp = NULL;
	outfile_drop(out);
	return ret ? err->code : 0;
}

void outfile_drop(struct outfile *out)
{
	if (out->file && out->file != stdout)
		fclose(out->file);
	if (out->is_dir)
		close_fd(out->dir_fd);
	if (out->temp && out->is_dir)
		dir_remove(AT_FDCWD, out->temp);
	else if (out->temp)
		unlink(out->temp);
	free(out->temp);
	free(out->path);
	*out = (struct outfile){ 0 };
}
