/* SPDX-License-Identifier: GPL-2.0-only */
#include "outdir.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/mem.h"

static int outdir_failed(const struct outdir *out, int error, struct err *err)
{
	return err_errno(err, ERR_OUTPUT, error, "can't write %s", out->name);
}

/* Return: 0: there is no such file, or an empty directory; negative errno. */
static int outdir_check(const char *path)
{
	DIR *dir AUTO_DIR = opendir(path);

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	return dir_next(dir) ? -ENOTEMPTY : 0;
}

int outdir_open(struct outdir *out, const char *name, struct err *err)
{
	char *real = realpath(name, NULL);
	char *dir AUTO_FREE, *base AUTO_FREE;
	int error;

	*out = (struct outdir){ .fd = -1, .name = name };
	out->path = real ? real : xstrdup(name);
	dir = xstrdup(out->path);
	base = xstrdup(out->path);
	error = outdir_check(out->path);
	if (error == -ENOTEMPTY)
		return err_set(err, ERR_OUTPUT,
			       "can't write %s: it is there and not empty; name a new directory",
			       name);
	if (error)
		return outdir_failed(out, -error, err);
	out->temp = xasprintf("%s/.%s.%d", dirname(dir), basename(base), (int)getpid());
	dir_remove(AT_FDCWD, out->temp); /* of a process that was killed */
	if (mkdir(out->temp, 0777) == 0)
		out->fd = open(out->temp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return out->fd < 0 ? outdir_failed(out, errno, err) : 0;
}

int outdir_commit(struct outdir *out, struct err *err)
{
	if (rename(out->temp, out->path) < 0)
		return outdir_failed(out, errno, err);
	free(out->temp);
	out->temp = NULL;
	return 0;
}

void outdir_drop(struct outdir *out)
{
	if (out->temp && out->fd >= 0)
		dir_remove(AT_FDCWD, out->temp);
	if (out->path)
		out->fd = close_fd(out->fd);
	free(out->temp);
	free(out->path);
	out->temp = out->path = NULL;
}
