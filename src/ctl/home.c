/* SPDX-License-Identifier: GPL-2.0-only */
#include "home.h"

#include <errno.h>
#include <stdbool.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "io/paths.h"

#define RC_MAX_BYTES 65536 /* more is none of ours */

static const char *const keys[] = {
	[HOME_SESSION] = "session",
	[HOME_TRACE] = "trace",
	[HOME_UNTRACED] = "untraced",
};

char *home_file(void)
{
	char *home AUTO_FREE = paths_home();

	return home ? xasprintf("%s/.lttrc", home) : NULL;
}

/* The whole file; empty where there is none that can be read. */
static char *home_read_file(const char *path)
{
	char *text = xalloc(RC_MAX_BYTES + 1);
	int fd AUTO_FD = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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
	char *path AUTO_FREE = home_file();
	char *text AUTO_FREE = path ? home_read_file(path) : NULL;
	char *rest = text;
	char *line;

	while (rest && (line = strsep(&rest, "\n"))) {
		const char *value = line_value(line, keys[key]);

		if (value && *value)
			return xstrdup(value);
	}
	return NULL;
}

/* The old text without the line of @key, then that line anew. */
static void write_lines(FILE *out, char *text, enum home_key key, const char *value)
{
	char *line;

	while ((line = strsep(&text, "\n")))
		if (*line && !line_value(line, keys[key]))
			fprintf(out, "%s\n", line);
	if (value)
		fprintf(out, "%s=%s\n", keys[key], value);
}

static int replace(const char *path, const char *text, size_t len, struct err *err)
{
	char *temp AUTO_FREE = xasprintf("%s.XXXXXX", path);
	int fd AUTO_FD = mkostemp(temp, O_CLOEXEC);
	bool written;

	if (fd < 0)
		return err_errno(err, ERR_OUTPUT, errno, "can't write %s", path);
	written = write(fd, text, len) == (ssize_t)len && fchmod(fd, 0644) == 0;
	if (written && rename(temp, path) == 0)
		return 0;
	err_errno(err, ERR_OUTPUT, errno, "can't write %s", path);
	unlink(temp);
	return err->code;
}

int home_set(enum home_key key, const char *value, struct err *err)
{
	char *path AUTO_FREE = home_file();
	char *old AUTO_FREE = NULL, *new AUTO_FREE = NULL;
	size_t len = 0;
	FILE *out;

	if (!path)
		return err_set(err, ERR_OUTPUT,
			       "can't store the current session and the last trace: HOME is not "
			       "set");
	if (value && strchr(value, '\n'))
		value = NULL; /* can't be expressed in this file */
	old = home_read_file(path);
	out = open_memstream(&new, &len);
	if (!out)
		return err_errno(err, ERR_NO_MEMORY, errno, "can't write %s", path);
	write_lines(out, old, key, value);
	fclose(out);
	if (len == 0) {
		unlink(path);
		return 0;
	}
	return replace(path, new, len, err);
}
