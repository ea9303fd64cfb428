/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "outdir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/dir.h"
#include "base/macros.h"
#include "base/str.h"
#include "io/paths.h"
#include "io/walk.h"

#define DIR_MODE 0750 /* the umask narrows it */
#define TRIES 1000    /* names for one second */
#define TRACES "ltt-traces"

void outdir_stamp(char ret[OUTDIR_STAMP_BYTES])
{
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(ret, OUTDIR_STAMP_BYTES, "%Y%m%d-%H%M%S", &tm);
}

void outdir_fini(struct outdir *dir)
{
	free(TAKE(dir->path));
	dir->fd = close_fd(dir->fd);
}

void outdir_undo(struct outdir *dir)
{
	if (dir->made && dir->path)
		rmdir(dir->path);
	outdir_fini(dir);
}

void outdir_remove(struct outdir *dir)
{
	if (dir->made && dir->fd >= 0)
		dir_empty(dir->fd, ".", 16);
	outdir_undo(dir);
}

/* Allocated; NULL: no memory. */
static char *absolute(const char *path)
{
	char *cwd AUTO_FREE = NULL;
	char *full;
	size_t len;

	if (*path != '/')
		cwd = getcwd(NULL, 0);
	if (!cwd && errno == ENOMEM && *path != '/')
		return NULL;
	full = cwd ? str_printf("%s/%s", strcmp(cwd, "/") == 0 ? "" : cwd, path) : strdup(path);
	for (len = full ? strlen(full) : 0; len > 1 && full[len - 1] == '/'; len--)
		full[len - 1] = '\0';
	return full;
}

/* SESSION-STAMP, or the next free name like it, in @top. Return: 0 or negative errno. */
static int make_new(int top_fd, const char *top, const char *stem, struct outdir *dir)
{
	for (unsigned int i = 1; i <= TRIES; i++) {
		char number[16] = "";
		char *name AUTO_FREE = NULL;

		if (i > 1)
			snprintf(number, sizeof(number), "-%u", i);
		name = str_printf("%s%s", stem, number);
		dir->path = name ? str_printf("%s/%s", top, name) : NULL;
		if (!dir->path)
			return -ENOMEM;
		if (mkdirat(top_fd, name, DIR_MODE) != 0) {
			int error = errno;

			free(TAKE(dir->path));
			if (error == EEXIST)
				continue;
			return -error;
		}
		dir->made = true;
		dir->fd = openat(top_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		return dir->fd < 0 ? -errno : 0;
	}
	return -EEXIST;
}

static int make_below(const char *where, const char *session, const char *stamp, struct outdir *ret,
		      struct err *err)
{
	char *home AUTO_FREE = paths_home();
	char *path AUTO_FREE = NULL, *top AUTO_FREE = NULL, *stem AUTO_FREE = NULL;
	struct outdir dir = OUTDIR_NONE;
	/* a generated name has the date in it already */
	bool dated = strstr(session, stamp) != NULL;
	AUTO_FD int top_fd = -1;
	int code;

	if (!home && errno == ENOENT)
		return err_set(err, ERR_OUTPUT,
			       "no place for the trace: set HOME, or name one with --output");
	path = home ? str_printf("%s/%s", home, where) : NULL;
	top = path ? absolute(path) : NULL;
	stem = str_printf("%s%s%s", session, dated ? "" : "-", dated ? "" : stamp);
	if (!top || !stem)
		return err_memory(err);
	code = walk_dir(top, DIR_MODE, &top_fd, NULL, err);
	if (code)
		return code;
	code = make_new(top_fd, top, stem, &dir);
	if (code < 0) {
		if (code == -ENOMEM)
			err_memory(err);
		else if (code == -ENAMETOOLONG)
			err_set(err, ERR_INVALID,
				"the name of session '%.60s...' is too long for a directory with "
				"the date behind it; use at most 239 bytes%s",
				session,
				strcmp(where, TRACES) == 0 ? ", or name a directory with --output" :
							     "");
		err_errno(err, ERR_OUTPUT, -code, "can't create the directory %s/%s", top, stem);
		outdir_undo(&dir);
		return err->code;
	}
	*ret = dir;
	return 0;
}

int outdir_default(const char *session, const char *stamp, struct outdir *ret, struct err *err)
{
	return make_below(TRACES, session, stamp, ret, err);
}

int outdir_spool(const char *session, const char *stamp, struct outdir *ret, struct err *err)
{
	return make_below(TRACES "/spool", session, stamp, ret, err);
}

/* Names at the top of a trace of ours, of LTTng's or of any CTF trace. */
static bool holds_trace(int fd)
{
	static const char *const signs[] = { "metadata", "ust", "kernel" };

	for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
		if (faccessat(fd, signs[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return true;
	return false;
}

int outdir_at(const char *path, struct outdir *ret, struct err *err)
{
	struct outdir dir = OUTDIR_NONE;

	if (!*path)
		return err_set(err, ERR_INVALID, "the output directory has an empty name");
	dir.path = absolute(path);
	if (!dir.path)
		return err_memory(err);
	if (walk_dir(dir.path, DIR_MODE, &dir.fd, &dir.made, err) != 0) {
		outdir_fini(&dir);
		return err->code;
	}
	if (holds_trace(dir.fd)) {
		err_set(err, ERR_OUTPUT,
			"%s contains a trace already; name another directory, or remove it first",
			dir.path);
		outdir_fini(&dir);
		return err->code;
	}
	*ret = dir;
	return 0;
}
