/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "walk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/macros.h"
#include "base/str.h"

#define MAX_LINKS 40 /* as the kernel */
#define STEP (O_PATH | O_NOFOLLOW | O_CLOEXEC)

struct walk {
	const char *path; /* as it was given, for sentences */
	mode_t mode;
	int at;	    /* where we stand */
	char *rest; /* of the way */
	unsigned int links;
	bool made;
};

static void walk_fini(struct walk *w)
{
	close_fd(w->at);
	free(w->rest);
}

static void go(struct walk *w, int fd)
{
	close_fd(w->at);
	w->at = fd;
}

/* Take the next name off the rest. Return: false at the end. */
static bool walk_next_name(struct walk *w, char ret[NAME_MAX + 1])
{
	const char *from = w->rest + strspn(w->rest, "/");
	size_t len = strcspn(from, "/");

	if (len == 0)
		return false;
	/* a component that is too long is cut: opening it then fails */
	memcpy(ret, from, MIN(len, (size_t)NAME_MAX));
	ret[MIN(len, (size_t)NAME_MAX)] = '\0';
	memmove(w->rest, from + len, strlen(from + len) + 1);
	return true;
}

static int planted(const struct walk *w, const char *name, uid_t owner, struct err *err)
{
	return err_set(
		err, ERR_OUTPUT,
		"'%s' on the way to %s is a symbolic link of user %u, which is not followed; "
		"name the directory that it leads to",
		name, w->path, (unsigned int)owner);
}

/* Return: 0, negative errno, or the code set in @err. */
static int walk_follow(struct walk *w, const char *name, struct err *err)
{
	AUTO_FD int link = openat(w->at, name, STEP);
	char target[PATH_MAX], *rest;
	struct stat st;
	ssize_t len;

	if (link < 0 || fstat(link, &st) < 0)
		return -errno;
	if (!S_ISLNK(st.st_mode))
		return -ENOTDIR;
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return planted(w, name, st.st_uid, err);
	if (++w->links > MAX_LINKS)
		return -ELOOP;
	len = readlinkat(link, "", target, sizeof(target) - 1);
	if (len < 0)
		return -errno;
	target[len] = '\0';
	rest = str_printf("%s/%s", target, w->rest);
	if (!rest)
		return -ENOMEM;
	free(w->rest);
	w->rest = rest;
	if (target[0] == '/')
		go(w, open("/", STEP | O_DIRECTORY));
	return w->at < 0 ? -errno : 0;
}

/* One level. Return: 0, negative errno, or the code set in @err. */
static int walk_step(struct walk *w, const char *name, struct err *err)
{
	int fd = openat(w->at, name, STEP | O_DIRECTORY);

	w->made = false;
	if (fd < 0 && errno == ENOENT && w->mode) {
		if (mkdirat(w->at, name, w->mode) == 0)
			w->made = true;
		else if (errno != EEXIST)
			return -errno;
		fd = openat(w->at, name, STEP | O_DIRECTORY);
	}
	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
		return walk_follow(w, name, err);
	if (fd < 0)
		return -errno;
	go(w, fd);
	return 0;
}

int walk_dir(const char *path, mode_t mode, int *ret_fd, bool *ret_made, struct err *err)
{
	struct walk w CLEANUP(
		walk_fini) = { .path = path, .mode = mode, .at = -1, .rest = strdup(path) };
	char name[NAME_MAX + 1];
	int ret, fd;

	if (!w.rest)
		return err_memory(err);
	w.at = open("/", STEP | O_DIRECTORY);
	ret = w.at < 0 ? -errno : 0;
	while (ret == 0 && walk_next_name(&w, name))
		ret = walk_step(&w, name, err);
	if (ret > 0)
		return ret;
	fd = ret < 0 ? -1 : openat(w.at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, ERR_OUTPUT, ret < 0 ? -ret : errno,
				 "can't %s the directory %s", ret < 0 && mode ? "make" : "open",
				 path);
	*ret_fd = fd;
	if (ret_made)
		*ret_made = w.made;
	return 0;
}
