/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the files of two threads in /proc: proc(5). */
#include "shadow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "tracer/base/sys.h"

#define TRIES 50
#define TRY_MS 1
#define STATUS_BYTES 4096
#define LINK_BYTES 256

#define MAIN "/proc/self/"
#define OWN "/proc/thread-self/"

/* Return: the length, or a negative errno; then @ret is empty. */
static ssize_t read_link(const char *path, char *ret)
{
	ssize_t len = sys_readlink(path, ret, LINK_BYTES - 1);

	ret[len > 0 ? len : 0] = '\0';
	return len < 0 ? -errno : len;
}

/* A namespace that has no process yet can't be read. */
static bool is_own_of_children(const char *own, const char *children)
{
	char a[LINK_BYTES], b[LINK_BYTES];
	ssize_t len;

	if (read_link(own, a) <= 0)
		return true; /* unknown */
	len = read_link(children, b);
	if (len == -ENOENT) { /* or before Linux 4.12 */
		struct stat st;

		return sys_lstat(children, &st) < 0;
	}
	return len <= 0 || strcmp(a, b) == 0;
}

bool agent_shadow_can_begin(void)
{
	int saved = errno;
	bool can = is_own_of_children(OWN "ns/pid", OWN "ns/pid_for_children") &&
		   is_own_of_children(OWN "ns/time", OWN "ns/time_for_children");

	errno = saved;
	return can;
}

static bool is_of_thread(const char *line)
{
	static const char *const names[] = { "Uid:", "Gid:",	    "Groups:",
					     "Cap",  "NoNewPrivs:", "Seccomp" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncmp(line, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* The lines of a file `status` that a thread has of its own. Return: bytes in @ret. */
static size_t read_status(const char *path, char ret[STATUS_BYTES])
{
	char text[STATUS_BYTES];
	int fd = sys_open(path, O_RDONLY);
	ssize_t len = fd >= 0 ? sys_read(fd, text, sizeof(text) - 1) : 0;
	size_t at = 0;

	sys_close(fd);
	text[len > 0 ? len : 0] = '\0';
	for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
		if (!is_of_thread(line))
			continue;
		memcpy(ret + at, line, (size_t)(end - line));
		at += (size_t)(end - line);
	}
	return at;
}

static bool has_same_status(void)
{
	char own[STATUS_BYTES], mains[STATUS_BYTES];
	size_t len = read_status(OWN "status", own);

	return len == read_status(MAIN "status", mains) && memcmp(own, mains, len) == 0;
}

static bool has_same_links(void)
{
	static const char *const links[] = { "ns/mnt", "ns/net",    "ns/user", "ns/ipc",
					     "ns/uts", "ns/cgroup", "root" };
	char path[32], own[LINK_BYTES], mains[LINK_BYTES];

	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		snprintf(path, sizeof(path), OWN "%s", links[i]);
		read_link(path, own);
		snprintf(path, sizeof(path), MAIN "%s", links[i]);
		read_link(path, mains);
		if (strcmp(own, mains) != 0)
			return false;
	}
	return true;
}

bool agent_shadow_is_true(void)
{
	for (int i = 0; i < TRIES; i++) {
		if (has_same_status() && has_same_links())
			return true;
		sys_poll(NULL, 0, TRY_MS);
	}
	return false;
}
