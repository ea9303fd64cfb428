/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tracer/base/env.h"
#include "tracer/base/sys.h"
#include "thread.h"

#define EVENTS (DN_CREATE | DN_RENAME | DN_ATTRIB)

static int watch_dir(const char *path, int thread)
{
	struct f_owner_ex owner = { .type = F_OWNER_TID, .pid = thread };
	int fd = sys_open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
	int err;

	if (fd < 0)
		return -errno;
	if (sys_fcntl(fd, F_SETOWN_EX, (unsigned long)&owner) == 0 &&
	    sys_fcntl(fd, F_SETSIG, AGENT_SIGNAL) == 0 && sys_fcntl(fd, F_NOTIFY, EVENTS) == 0)
		return fd;
	err = -errno;
	sys_close(fd);
	return err;
}

/* Remove the last component. Return: 0 if none is left. */
static int go_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || path[1] == '\0')
		return 0;
	slash[slash == path] = '\0';
	return 1;
}

int agent_watch_arm(struct agent_watch *watch, const char *dir, int thread)
{
	char path[AGENT_PATH_MAX];
	int is_dir = 1;

	agent_watch_disarm(watch);
	tracer_join(path, sizeof(path), dir, NULL);
	for (;;) {
		watch->dir_fd = watch_dir(path, thread);
		if (watch->dir_fd >= 0)
			break;
		if (watch->dir_fd != -ENOENT && watch->dir_fd != -ENOTDIR)
			return watch->dir_fd;
		is_dir = 0;
		if (!go_up(path))
			return -ENOENT;
	}
	if (is_dir && go_up(path))
		watch->parent_fd = watch_dir(path, thread);
	return 0;
}

static void close_watch(int *fd)
{
	sys_close(*fd);
	*fd = -1;
}

void agent_watch_disarm(struct agent_watch *watch)
{
	close_watch(&watch->dir_fd);
	close_watch(&watch->parent_fd);
}
