/* SPDX-License-Identifier: GPL-2.0-only */
/* Entries of a directory: no link is followed, and nothing outside is removed. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "check.h"

static void make(int at_fd, const char *name)
{
	AUTO_FD int fd = openat(at_fd, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

	CHECK_IS(fd, >=, 0);
}

static unsigned int count(int at_fd, const char *name)
{
	AUTO_DIR DIR *dir = dir_open(at_fd, name);
	unsigned int nr = 0;

	while (dir_next(dir))
		nr++;
	return nr;
}

static bool is_there(int at_fd, const char *name)
{
	return faccessat(at_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void entries(int top)
{
	AUTO_DIR DIR *none = dir_open(top, "file");

	CHECK(!none && errno == ENOTDIR && !dir_next(NULL));
	CHECK(count(top, ".") == 5 && count(top, ".") == 5); /* a position of its own */
	CHECK_IS(count(top, "inner"), ==, 2);
	CHECK(count(top, "to_outer") == 0 && count(top, "to_nothing") == 0);
}

static void emptied(int top)
{
	dir_empty(top, "inner", 0);
	CHECK(count(top, "inner") == 1 && is_there(top, "inner/deep/file"));
	dir_empty(top, "to_outer", 9);
	CHECK(is_there(top, "outer/file"));
	dir_empty(top, "inner", 1);
	CHECK(count(top, "inner") == 0 && is_there(top, "inner"));
	CHECK_IS(symlinkat("../outer", top, "inner/link"), ==, 0);
	dir_empty(top, "inner", 9);
	CHECK(count(top, "inner") == 0 && is_there(top, "outer/file"));
	dir_empty(top, ".", 9);
	CHECK_IS(count(top, "."), ==, 0);
}

#define DEEP 40

/* A directory below the other, each with a file; some have names that removing uses itself. */
static void make_deep(int top)
{
	AUTO_FD int at = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int i = 0; i < DEEP; i++) {
		const char *name = i % 3 ? "deep" : ".deep-0";
		int next;

		CHECK_IS(mkdirat(at, name, 0700), ==, 0);
		next = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		CHECK_IS(next, >=, 0);
		make(next, ".deep-1");
		close(at);
		at = next;
	}
}

static void removed(int top)
{
	struct rlimit limit = { 32, 32 };

	CHECK(mkdirat(top, "gone", 0700) == 0 && mkdirat(top, "stays", 0700) == 0);
	for (int i = 0; i < 3; i++) {
		char name[20];

		snprintf(name, sizeof(name), "gone/%d", i);
		CHECK_IS(mkdirat(top, name, 0700), ==, 0);
		AUTO_FD int at = openat(top, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		make_deep(at);
	}
	make(top, "stays/file");
	CHECK_IS(symlinkat("../stays", top, "gone/link"), ==, 0);
	CHECK_IS(setrlimit(RLIMIT_NOFILE, &limit), ==, 0);
	dir_remove(top, "nothing");
	dir_remove(top, "gone");
	CHECK(!is_there(top, "gone") && is_there(top, "stays/file"));
	dir_remove(top, "stays");
	CHECK_IS(count(top, "."), ==, 0);
}

int main(void)
{
	char path[] = "/tmp/base_dir.XXXXXX";
	int top;

	CHECK(mkdtemp(path));
	top = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(mkdirat(top, "inner", 0700) == 0 && mkdirat(top, "inner/deep", 0700) == 0);
	CHECK_IS(mkdirat(top, "outer", 0700), ==, 0);
	make(top, "file");
	make(top, "inner/.hidden");
	make(top, "inner/deep/file");
	make(top, "outer/file");
	CHECK_IS(symlinkat("outer", top, "to_outer"), ==, 0);
	CHECK_IS(symlinkat("nowhere", top, "to_nothing"), ==, 0);
	entries(top);
	emptied(top);
	removed(top);
	CHECK_IS(rmdir(path), ==, 0);
	close(top);
	return 0;
}
