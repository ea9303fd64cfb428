/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Times of traces that a relay stored, by the relay's clock: in a session's directory it keeps
 * how far its clock was ahead of the sender's, a line a connection.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "read/source.h"

#define CLOCKS_FILE "clocks"
#define SESSION_FILE ".session"	 /* beside it, in the directory that a relay made */
#define CLOCKS_READ (128u << 10) /* twice the size that a relay writes */
#define MAX_ABOVE 8		 /* a trace lies not deeper below its session */

/* The measurement with the smallest uncertainty. */
static bool best_offset(char *text, int64_t *ret_ns)
{
	unsigned long long when, error, best = 0;
	bool found = false;
	long long offset;
	char *end;

	for (; (end = strchr(text, '\n')); text = end + 1) {
		*end = '\0';
		if (sscanf(text, "%llu %lld %llu", &when, &offset, &error) != 3 ||
		    (found && error >= best))
			continue;
		found = true;
		best = error;
		*ret_ns = offset;
	}
	return found;
}

static int read_clocks(int dir_fd, int64_t *ret_ns)
{
	int fd AUTO_FD =
		openat(dir_fd, CLOCKS_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char *text AUTO_FREE = NULL;
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	text = xalloc(CLOCKS_READ);
	n = pread(fd, text, CLOCKS_READ - 1, 0);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return best_offset(text, ret_ns) ? 0 : -EINVAL;
}

/* Of the session's directory, which is above the trace's. */
static int find_clocks(int dir_fd, int64_t *ret_ns)
{
	int at AUTO_FD = openat(dir_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	for (int i = 0; i <= MAX_ABOVE && at >= 0; i++) {
		int above;

		if (fstatat(at, SESSION_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
			return read_clocks(at, ret_ns);
		above = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close_fd(at);
		at = above;
	}
	return -ENOENT;
}

int source_to_relay_clock(struct source *source)
{
	int64_t offset = 0;
	int r = find_clocks(source->dir_fd, &offset);

	if (r < 0)
		return r;
	for (struct ctf_clock *clock = source->tc->clocks; clock; clock = clock->next)
		clock->base_ns = (int64_t)((uint64_t)clock->base_ns + (uint64_t)offset);
	source_change_clocks(source, offset);
	return 0;
}
