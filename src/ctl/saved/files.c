/* SPDX-License-Identifier: GPL-2.0-only */
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/paths.h"
#include "io/walk.h"
#include "xml/xml.h"

#define SUFFIX_LTTNG ".lttng"
#define SYSTEM_DIR PATHS_SYSTEM_CONFIG "/sessions"

/* --- places --------------------------------------------------------------------------- */

char *files_own_dir(struct err *err)
{
	char *config AUTO_FREE = paths_config();

	if (config)
		return xasprintf("%s/sessions", config);
	err_set(err, ERR_OUTPUT, "no place for saved sessions: set HOME, or name a directory");
	return NULL;
}

static bool files_is(const char *path, mode_t kind)
{
	struct stat st;

	return stat(path, &st) == 0 && (st.st_mode & S_IFMT) == kind;
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t len = strlen(name), end = strlen(suffix);

	return len > end && strcmp(name + len - end, suffix) == 0;
}

static int is_saved(const struct dirent *entry)
{
	return entry->d_name[0] != '.' &&
	       (has_suffix(entry->d_name, FILES_SUFFIX) || has_suffix(entry->d_name, SUFFIX_LTTNG));
}

/* In the order of their names. @at: a descriptor of the directory @dir, or AT_FDCWD. */
static int add_dir(int at, const char *dir, struct names *ret, struct err *err)
{
	struct dirent **entries;
	int nr = scandirat(at, at == AT_FDCWD ? dir : ".", &entries, is_saved, alphasort);

	if (nr < 0)
		return err_errno(err, ERR_OUTPUT, errno, "can't read the directory %s", dir);
	for (int i = 0; i < nr; i++) {
		char *path AUTO_FREE = xasprintf("%s/%s", dir, entries[i]->d_name);

		names_add(ret, path);
		free(entries[i]);
	}
	free(entries);
	return 0;
}

/* The file that is named as a session; allocated. NULL: there is none. */
static char *named_file(const char *dir, const char *session)
{
	static const char *const suffixes[] = { FILES_SUFFIX, SUFFIX_LTTNG };

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		char *path AUTO_FREE = xasprintf("%s/%s%s", dir, session, suffixes[i]);

		if (files_is(path, S_IFREG))
			return TAKE(path);
	}
	return NULL;
}

static int find_in(const char *dir, const char *session, struct names *ret, struct err *err)
{
	char *named AUTO_FREE = session ? named_file(dir, session) : NULL;

	if (!named)
		return add_dir(AT_FDCWD, dir, ret, err);
	names_add(ret, named);
	return 0;
}

int files_find(const char *path, const char *session, struct names *ret, struct err *err)
{
	char *own AUTO_FREE = NULL;

	*ret = (struct names){ 0 };
	if (path && files_is(path, S_IFDIR))
		return find_in(path, session, ret, err);
	if (path) {
		names_add(ret, path);
		return 0;
	}
	own = files_own_dir(err);
	if (!own)
		return err->code;
	if (files_is(own, S_IFDIR) && find_in(own, session, ret, err) != 0)
		return err->code;
	return files_is(SYSTEM_DIR, S_IFDIR) ? find_in(SYSTEM_DIR, session, ret, err) : 0;
}

/* Others than root and the caller can't change it. */
static int check_trusted(int fd, const char *path, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_errno(err, ERR_OUTPUT, errno, "can't read %s", path);
	if ((st.st_uid == geteuid() || st.st_uid == 0) && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return 0;
	return err_set(err, ERR_DENIED,
		       "%s: not loaded: another user owns it, or may write to it; use chown and "
		       "'chmod go-w'",
		       path);
}

int files_open_trusted(const char *dir, struct names *ret, struct err *err)
{
	int fd AUTO_FD = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	*ret = (struct names){ 0 };
	if (fd < 0)
		err_errno(err, ERR_OUTPUT, errno, "can't open the directory %s", dir);
	else if (check_trusted(fd, dir, err) == 0 && add_dir(fd, dir, ret, err) == 0)
		return TAKE_FD(fd);
	return -1;
}

/* --- reading -------------------------------------------------------------------------- */

static int files_read_all(int fd, const char *path, char **ret, size_t *ret_len, struct err *err)
{
	size_t len = 0, size = 65536;
	char *text AUTO_FREE = xalloc(size);
	ssize_t n;

	while ((n = read(fd, text + len, size - len)) != 0) {
		if (n < 0 && errno != EINTR)
			return err_errno(err, ERR_OUTPUT, errno, "can't read %s", path);
		len += n > 0 ? (size_t)n : 0;
		if (len > XML_MAX_BYTES)
			return err_set(err, ERR_INVALID, "%s: the file is larger than %u MiB", path,
				       XML_MAX_BYTES >> 20);
		if (len == size)
			text = xrealloc(TAKE(text), size *= 2);
	}
	*ret = TAKE(text);
	*ret_len = len;
	return 0;
}

int files_read(int trusted_dir, const char *path, char **ret, size_t *ret_len, struct err *err)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	int fd AUTO_FD = -1;
	struct stat st;

	if (strcmp(path, "-") == 0)
		return files_read_all(STDIN_FILENO, "standard input", ret, ret_len, err);
	if (trusted_dir >= 0)
		fd = openat(trusted_dir, strrchr(path, '/') + 1, flags | O_NOFOLLOW);
	else
		fd = open(path, flags);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(err, ERR_OUTPUT, errno, "can't open %s", path);
	if (trusted_dir >= 0 && check_trusted(fd, path, err) != 0)
		return err->code;
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_INVALID, "%s: not a regular file", path);
	if (st.st_size > (off_t)XML_MAX_BYTES)
		return err_set(err, ERR_INVALID, "%s: the file is larger than %u MiB", path,
			       XML_MAX_BYTES >> 20);
	return files_read_all(fd, path, ret, ret_len, err);
}

/* --- writing --------------------------------------------------------------------------- */

static int files_write_all(int fd, const char *text)
{
	size_t len = strlen(text), done = 0;

	while (done < len) {
		ssize_t n = write(fd, text + done, len - done);

		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

/* A link does not replace a file, a rename does. */
static int files_give_name(int dir_fd, const char *temp, const char *name, bool replace)
{
	int ret = replace ? renameat(dir_fd, temp, dir_fd, name) :
			    linkat(dir_fd, temp, dir_fd, name, 0);

	return ret < 0 ? -errno : fsync(dir_fd) < 0 ? -errno : 0;
}

static int files_replace(int dir_fd, const char *name, const char *text, bool replace)
{
	char temp[40];
	int fd AUTO_FD = -1;
	int ret;

	snprintf(temp, sizeof(temp), ".ltt-save-%d", (int)getpid());
	unlinkat(dir_fd, temp, 0); /* of a process that was killed */
	fd = openat(dir_fd, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	ret = files_write_all(fd, text);
	if (ret == 0)
		ret = files_give_name(dir_fd, temp, name, replace);
	unlinkat(dir_fd, temp, 0);
	return ret;
}

/* It is made if it is missing. Return: 0 or the code set in @err. */
static int files_open_to_write(const char *dir, int *ret_fd, struct err *err)
{
	int ret;

	if (dir[0] == '/')
		return walk_dir(dir, 0755, ret_fd, NULL, err);
	ret = paths_make_dir(dir, 0755);
	if (ret == 0)
		*ret_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret < 0 || *ret_fd < 0)
		return err_errno(err, ERR_OUTPUT, ret < 0 ? -ret : errno,
				 "can't open the directory %s", dir);
	return 0;
}

int files_write(const char *dir, const char *session, const char *text, bool replace,
		char **ret_path, struct err *err)
{
	char *name AUTO_FREE = xasprintf("%s%s", session, FILES_SUFFIX);
	char *path AUTO_FREE = xasprintf("%s/%s", dir, name);
	int dir_fd AUTO_FD = -1, ret;

	if (files_open_to_write(dir, &dir_fd, err) != 0)
		return err->code;
	ret = files_replace(dir_fd, name, text, replace);
	if (ret == -EEXIST)
		return err_set(err, ERR_OUTPUT,
			       "%s exists already; use --force to replace it, or --output-path for "
			       "another directory",
			       path);
	if (ret == -ENAMETOOLONG)
		return err_set(err, ERR_OUTPUT,
			       "the name of session '%.60s...' is too long for a file; use "
			       "--output-path=- to print it instead",
			       session);
	if (ret < 0)
		return err_errno(err, ERR_OUTPUT, -ret, "can't write %s", path);
	*ret_path = TAKE(path);
	return 0;
}
