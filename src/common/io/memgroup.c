/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memgroup.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/mem.h"
#include "base/str.h"

#define TEXT_BYTES 8192

/* The mount point of a hierarchy, and the names of its files. */
struct kind {
	const char *controller; /* in /proc/self/cgroup; "": version 2 */
	const char *root;
	const char *max, *current;
	const char *cache; /* line of memory.stat, which includes child groups */
};

static const struct kind kinds[] = {
	{ "", "/sys/fs/cgroup", "memory.max", "memory.current", "\ninactive_file " },
	{ "memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
	  "\ntotal_inactive_file " },
};

/* Return: whether any text was read. */
static bool memgroup_read_text(const char *path, char *buf, size_t len)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, len - 1);

	buf[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* Return: 0; negative: it can't be read, or is not a number ("max"). */
static int memgroup_read_number(const struct kind *kind, const char *group, const char *file,
				uint64_t *ret)
{
	AUTO_FREE char *path = xasprintf("%s%s/%s", kind->root, group, file);
	char text[64];

	if (!memgroup_read_text(path, text, sizeof(text)))
		return -1;
	text[strcspn(text, "\n")] = '\0';
	return parse_u64(text, ret) == 0 ? 0 : -1;
}

static uint64_t read_cache(const struct kind *kind, const char *group)
{
	AUTO_FREE char *path = xasprintf("%s%s/memory.stat", kind->root, group);
	char text[TEXT_BYTES];
	const char *at;

	if (!memgroup_read_text(path, text, sizeof(text)))
		return 0;
	at = strstr(text, kind->cache);
	return at ? strtoull(at + strlen(kind->cache), NULL, 10) : 0;
}

static uint64_t left_in(const struct kind *kind, const char *group)
{
	uint64_t max, current, cache;

	if (memgroup_read_number(kind, group, kind->max, &max) < 0 ||
	    memgroup_read_number(kind, group, kind->current, &current) < 0)
		return UINT64_MAX;
	if (max <= current)
		return read_cache(kind, group);
	if (max - current > UINT64_MAX / 4) /* the value that stands for no limit in version 1 */
		return UINT64_MAX;
	cache = read_cache(kind, group);
	return max - current + MIN(cache, current);
}

/* @group: "/a/b"; its components are cut off one by one. */
static uint64_t left_up_from(const struct kind *kind, char *group)
{
	uint64_t least = UINT64_MAX;
	char *slash;

	do {
		uint64_t left = left_in(kind, group);

		least = MIN(least, left);
		slash = strrchr(group, '/');
		if (slash)
			*slash = '\0';
	} while (slash);
	return least;
}

/* A line of /proc/self/cgroup: NUMBER:CONTROLLERS:GROUP */
static uint64_t left_of_line(char *line)
{
	char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;
	uint64_t least = UINT64_MAX;

	if (!group)
		return least;
	*group++ = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(names + 1, kinds[i].controller) == 0)
			least = left_up_from(&kinds[i], group);
	return least;
}

uint64_t memgroup_available(void)
{
	uint64_t least = UINT64_MAX;
	char text[TEXT_BYTES], *rest = text, *line;

	if (!memgroup_read_text("/proc/self/cgroup", text, sizeof(text)))
		return least;
	while ((line = strsep(&rest, "\n"))) {
		uint64_t left = left_of_line(line);

		least = MIN(least, left);
	}
	return least;
}
