/* SPDX-License-Identifier: GPL-2.0-only */
#include "home.h"

#include <errno.h>
#include <stdbool.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/paths.h"
#include "io/walk.h"

#define RC_FILE ".lttrc"
#define RC_MAX_BYTES 65536 /* more is none of ours */

static const char *const keys[] = {
	[HOME_SESSION] = "session",
	[HOME_TRACE] = "trace",
	[HOME_UNTRACED] = "untraced",
	[HOME_COST_PROGRAM] = "event-ns",
	[HOME_COST_KERNEL] = "kernel-event-ns",
};

/* Return: the descriptor of the directory, or negative errno. */
static int home_open_dir(void)
{
	char *home AUTO_FREE = paths_home();
	struct err err = { 0 };
	int fd = -1;

	if (!home)
		return -ENOENT;
	if (home[0] != '/')
		fd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	else if (walk_dir(home, 0, &fd, NULL, &err) != 0)
		return -EACCES;
	return fd < 0 ? -errno : fd;
}

/* Return: 0, or negative errno. */
static int home_check_owner(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) && (st.st_uid == geteuid() || st.st_uid == 0) ? 0 : -EPERM;
}

int home_open(const char *name, int flags, mode_t mode)
{
	int dir_fd AUTO_FD = home_open_dir();
	int fd, ret;

	if (dir_fd < 0)
		return dir_fd;
	fd = openat(dir_fd, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode);
	if (fd < 0)
		return -errno;
	ret = home_check_owner(fd);
	if (ret < 0) {
		close(fd);
		return ret;
	}
	return fd;
}

/* The whole file; empty where there is none that can be read. */
static char *home_read(void)
{
	char *text = xalloc(RC_MAX_BYTES + 1);
	int fd AUTO_FD = home_open(RC_FILE, O_RDONLY, 0);
	size_t len = 0;
	ssize_t n = 0;

	while (fd >= 0 && len < RC_MAX_BYTES &&
	       (n = read(fd, text + len, RC_MAX_BYTES - len)) != 0) {
		if (n < 0 && errno != EINTR)
			break;
		len += n > 0 ? (size_t)n : 0;
	}
	text[len] = '\0';
	return text;
}

/* The value in a line that gives @key, or NULL. */
static const char *line_value(const char *line, const char *key)
{
	size_t len = strlen(key);

	return strncmp(line, key, len) == 0 && line[len] == '=' ? line + len + 1 : NULL;
}

char *home_get(enum home_key key)
{
	char *text AUTO_FREE = home_read();
	char *rest = text;
	char *line;

	while (rest && (line = strsep(&rest, "\n"))) {
		const char *value = line_value(line, keys[key]);

		if (value && *value)
			return xstrdup(value);
	}
	return NULL;
}

/* A value of several lines can't be expressed in this file. */
static const char *one_line(const char *value)
{
	return value && !strchr(value, '\n') ? value : NULL;
}

static bool is_changed(const char *line, const struct home_entry *entries, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (line_value(line, keys[entries[i].key]))
			return true;
	return false;
}

/* The old text without the lines of these keys, then those lines anew. */
static void write_lines(FILE *out, const char *old, const struct home_entry *entries, size_t nr)
{
	char *text AUTO_FREE = xstrdup(old);
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n")))
		if (*line && !is_changed(line, entries, nr))
			fprintf(out, "%s\n", line);
	for (size_t i = 0; i < nr; i++)
		if (one_line(entries[i].value))
			fprintf(out, "%s=%s\n", keys[entries[i].key], entries[i].value);
}

/* Return: 0, or negative errno. */
static int home_replace(int dir_fd, const char *text, size_t len)
{
	char temp[sizeof(RC_FILE) + 16];
	int fd AUTO_FD = -1;

	snprintf(temp, sizeof(temp), RC_FILE ".%d", (int)getpid());
	unlinkat(dir_fd, temp, 0); /* of a process that was killed */
	fd = openat(dir_fd, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (write(fd, text, len) == (ssize_t)len && fchmod(fd, 0644) == 0 &&
	    renameat(dir_fd, temp, dir_fd, RC_FILE) == 0)
		return 0;
	unlinkat(dir_fd, temp, 0);
	return -EIO;
}

int home_change(const struct home_entry *entries, size_t nr, struct err *err)
{
	char *old AUTO_FREE = NULL, *new AUTO_FREE = NULL;
	int dir_fd AUTO_FD = home_open_dir(), ret = dir_fd;
	size_t len = 0;
	FILE *out;

	if (ret == -ENOENT)
		return err_set(err, ERR_OUTPUT,
			       "can't store the current session and the last trace: HOME is not "
			       "set, or no directory");
	old = home_read();
	out = open_memstream(&new, &len);
	if (!out)
		return err_errno(err, ERR_NO_MEMORY, errno, "can't write " RC_FILE);
	write_lines(out, old, entries, nr);
	fclose(out);
	if (ret >= 0 && strcmp(old, new) == 0)
		return 0;
	if (len == 0)
		unlinkat(dir_fd, RC_FILE, 0);
	else if (ret >= 0)
		ret = home_replace(dir_fd, new, len);
	return ret < 0 ? err_errno(err, ERR_OUTPUT, -ret, "can't write " RC_FILE " in HOME") : 0;
}

int home_set(enum home_key key, const char *value, struct err *err)
{
	return home_change(&(struct home_entry){ key, value }, 1, err);
}
