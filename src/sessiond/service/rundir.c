/* SPDX-License-Identifier: GPL-2.0-only */
#include "rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/log.h"
#include "base/mem.h"
#include "io/lockfile.h"
#include "io/paths.h"
#include "io/peer.h"
#include "io/sock.h"

#define DEFAULT_GROUP "tracing"
#define HAND_OVER_MS 5000 /* for a daemon that leaves: it ends as soon as its loop turns */

static char *in_dir(const struct rundir *dir, const char *name)
{
	return xasprintf("%s/%s", dir->path, name);
}

static bool rundir_others_may_change(const struct stat *st)
{
	bool written = st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && st->st_gid != 0);

	return st->st_uid != 0 || (written && !(st->st_mode & S_ISVTX));
}

/* Not that of a user namespace, where no directory of the machine's root belongs to it. */
static bool rundir_is_root(void)
{
	AUTO_FD int fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
	unsigned long inside = 1, outside = 1, nr = 0;
	char text[128];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	text[MAX(n, 0)] = '\0';
	return geteuid() == 0 && (n <= 0 || (sscanf(text, "%lu %lu %lu", &inside, &outside, &nr) == 3 &&
					     nr == UINT32_MAX));
}

/* A directory on the way in which another user could replace ours at any time; NULL: none. */
static char *rundir_way_of_others(const char *path)
{
	AUTO_FREE char *way = realpath(path, NULL);
	struct stat st;

	for (char *end = way ? strrchr(way, '/') : NULL; end; end = strrchr(way, '/')) {
		*end = '\0';
		if (stat(*way ? way : "/", &st) == 0 && rundir_others_may_change(&st))
			return *way ? TAKE(way) : xstrdup("/");
	}
	return NULL;
}

static int make_dir(struct rundir *dir, struct err *err)
{
	mode_t mode = geteuid() == 0 ? 0755 : 0700;
	AUTO_FREE char *way = NULL;
	struct stat st;
	int ret;

	dir->path = paths_rundir();
	if (!dir->path)
		return err_set(err, ERR_INVALID,
			       "there is no runtime directory: set LTT_RUNDIR or HOME");
	ret = paths_make_dir(dir->path, mode);
	if (ret == 0 && stat(dir->path, &st) < 0)
		ret = -errno;
	if (ret < 0)
		return err_errno(err, ERR_INVALID, -ret,
				 "set LTT_RUNDIR to another directory: can't create %s",
				 dir->path);
	/* users with the right to write there could replace our sockets */
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return err_set(err, ERR_INVALID,
			       "%s must belong to user %u and be writable by that user alone",
			       dir->path, (unsigned int)geteuid());
	way = rundir_is_root() ? rundir_way_of_others(dir->path) : NULL;
	if (way)
		return err_set(err, ERR_INVALID,
			       "root's runtime directory %s is in %s, which other users may change; "
			       "choose another LTT_RUNDIR, or none",
			       dir->path, way);
	return 0;
}

static int lock_taken(const struct rundir *dir, struct err *err)
{
	char pid[32] = "";
	ssize_t n = pread(dir->lock, pid, sizeof(pid) - 1, 0);

	pid[n > 0 ? n : 0] = '\0';
	pid[strspn(pid, "0123456789")] = '\0';
	return err_set(err, ERR_BUSY, "another ltt-sessiond (pid %s) serves %s",
		       pid[0] ? pid : "unknown", dir->path);
}

/* Whether @pid is an ltt-sessiond, as the lock file claims. */
static bool is_sessiond(pid_t pid)
{
	char name[32];

	peer_process_name(pid, name, sizeof(name));
	return strcmp(name, "ltt-sessiond") == 0;
}

/* Have the daemon that holds the lock leave its sessions to this one. Return: whether it has
 * ended. */
static bool succeed(const struct rundir *dir)
{
	char text[32] = "";
	pid_t pid = pread(dir->lock, text, sizeof(text) - 1, 0) > 0 ? atoi(text) : 0;
	AUTO_FD int pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	struct pollfd pfd = { .fd = pidfd, .events = POLLIN };

	if (pidfd < 0 || !is_sessiond(pid) ||
	    syscall(SYS_pidfd_send_signal, pidfd, SIGUSR1, NULL, 0) < 0)
		return false;
	return poll(&pfd, 1, HAND_OVER_MS) > 0;
}

int rundir_lock(struct rundir *dir, const struct fdstore *store, struct err *err)
{
	AUTO_FREE char *path = NULL, *clients = NULL;
	char pid[32];
	int code, len, ret;

	dir->lock = dir->clients = dir->apps = -1;
	code = make_dir(dir, err);
	if (code)
		return code;
	path = in_dir(dir, "sessiond.lock");
	clients = in_dir(dir, "client.sock");
	ret = lockfile_lock(AT_FDCWD, path, &dir->lock);
	if (ret == -EWOULDBLOCK && fdstore_listens(store, clients) && succeed(dir)) {
		close_fd(dir->lock);
		ret = lockfile_lock(AT_FDCWD, path, &dir->lock);
	}
	if (ret == -EWOULDBLOCK)
		return lock_taken(dir, err);
	if (ret < 0)
		return err_errno(err, ERR_INVALID, -ret, "can't lock %s", path);
	len = snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
	if (ftruncate(dir->lock, 0) < 0 || pwrite(dir->lock, pid, (size_t)len, 0) != len)
		return err_errno(err, ERR_OUTPUT, errno, "can't write %s", path);
	return 0;
}

/* A socket that we were given has its mode and group already. */
static int rundir_listen_at(struct fdstore_socket *s, const char *path, mode_t mode, gid_t gid,
			    struct err *err)
{
	if (s->fd < 0)
		s->fd = sock_listen(path, mode, gid);
	if (s->fd == -EINVAL && gid != (gid_t)-1) {
		log_warn("the group of the daemon's users is not one of this container: only root "
			 "can use this daemon");
		s->fd = sock_listen(path, 0600, (gid_t)-1);
	}
	if (s->fd < 0)
		return err_errno(err, ERR_INTERNAL, -s->fd, "can't listen at %s", path);
	return 0;
}

int rundir_listen(struct rundir *dir, const char *group, struct fdstore *fds, struct err *err)
{
	AUTO_FREE char *client_path = in_dir(dir, "client.sock");
	AUTO_FREE char *apps_path = in_dir(dir, "apps.sock");
	struct fdstore_socket clients = fdstore_take_socket(fds, client_path);
	struct fdstore_socket apps = fdstore_take_socket(fds, apps_path);
	bool system = geteuid() == 0;
	const struct group *entry = system ? getgrnam(group ? group : DEFAULT_GROUP) : NULL;
	int code;

	if (system && !entry && group)
		log_warn("--group=%s: there is no such group: only root can use this daemon",
			 group);
	else if (system && !entry)
		log_info("there is no group '" DEFAULT_GROUP "': only root can use this daemon");
	else if (!system && group)
		log_warn("--group=%s: ignored: only root's daemon can serve a group", group);
	dir->group = entry ? entry->gr_gid : (gid_t)-1;
	code = rundir_listen_at(&clients, client_path, entry ? 0660 : 0600, dir->group, err);
	if (!code)
		code = rundir_listen_at(&apps, apps_path, system ? 0666 : 0600, (gid_t)-1, err);
	dir->clients = clients.fd;
	dir->apps = apps.fd;
	dir->clients_lent = clients.lent;
	dir->apps_lent = apps.lent;
	if (!code)
		sock_accept_fds(dir->apps, false);
	if (!code &&
	    (stat(client_path, &dir->clients_made) < 0 || stat(apps_path, &dir->apps_made) < 0))
		code = err_errno(err, ERR_INTERNAL, errno, "can't find the sockets in %s",
				 dir->path);
	return code;
}

static void rundir_store_fd(struct fdstore *fds, const char *name, int fd, bool keep)
{
	fdstore_forget(fds, name);
	if (keep)
		fdstore_keep(fds, name, (const int[INHERIT_FDS]){ fd, -1, -1 });
}

void rundir_store(const struct rundir *dir, struct fdstore *fds, bool keep)
{
	if (!dir->clients_lent)
		rundir_store_fd(fds, "clients", dir->clients, keep);
	if (!dir->apps_lent)
		rundir_store_fd(fds, "apps", dir->apps, keep);
}

void rundir_leave(struct rundir *dir)
{
	dir->clients_lent = dir->apps_lent = true;
}

int rundir_write_pid(struct rundir *dir, const char *path, struct err *err)
{
	AUTO_FD int fd = -1;

	dir->pidfile = path ? xstrdup(path) : in_dir(dir, "sessiond.pid");
	/* a FIFO would be waited for */
	fd = open(dir->pidfile, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
	if (fd < 0 || dprintf(fd, "%d\n", (int)getpid()) < 0)
		return err_errno(err, ERR_OUTPUT, errno, "can't write %s", dir->pidfile);
	return 0;
}

/* Not a service manager's, which listens there since. */
static void remove_socket(const struct rundir *dir, const char *name, const struct stat *made)
{
	AUTO_FREE char *path = in_dir(dir, name);
	struct stat st;

	if (lstat(path, &st) == 0 && st.st_dev == made->st_dev && st.st_ino == made->st_ino)
		unlink(path);
}

/* The lock file stays: removing it would let two daemons hold "the" lock. */
void rundir_fini(struct rundir *dir)
{
	if (dir->clients >= 0 && !dir->clients_lent)
		remove_socket(dir, "client.sock", &dir->clients_made);
	if (dir->apps >= 0 && !dir->apps_lent)
		remove_socket(dir, "apps.sock", &dir->apps_made);
	if (dir->pidfile)
		unlink(dir->pidfile);
	dir->clients = close_fd(dir->clients);
	dir->apps = close_fd(dir->apps);
	dir->lock = close_fd(dir->lock);
	free(dir->pidfile);
	free(dir->path);
}
