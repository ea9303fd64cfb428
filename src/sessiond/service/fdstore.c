/* SPDX-License-Identifier: GPL-2.0-only */
#include "fdstore.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

#define FIRST_FD 3

/* --- the store --------------------------------------------------------------------- */

/* Each descriptor has a name of its own: several under one name could not be distinguished. */
void fdstore_forget(struct fdstore *f, const char *name)
{
	char lines[128];

	for (unsigned int i = 0; i < INHERIT_FDS; i++) {
		snprintf(lines, sizeof(lines), "FDSTOREREMOVE=1\nFDNAME=%s.%u", name, i);
		notify_send(f->notify, lines);
	}
}

/* systemd stores each open file once, under its first name. Memory is opened again, so that several
 * names have it; -1: other files. */
static int open_again(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return fcntl(fd, F_GET_SEALS) < 0 ? -1 : open(path, O_RDWR | O_CLOEXEC);
}

void fdstore_keep(struct fdstore *f, const char *name, const int fds[INHERIT_FDS])
{
	char lines[128];

	for (unsigned int i = 0; i < INHERIT_FDS; i++) {
		AUTO_FD int again = fds[i] < 0 ? -1 : open_again(fds[i]);

		/* a manager that watched a socket would drop it when its peer goes */
		snprintf(lines, sizeof(lines), "FDSTORE=1\nFDPOLL=0\nFDNAME=%s.%u", name, i);
		if (fds[i] >= 0)
			notify_send_fd(f->notify, lines, again >= 0 ? again : fds[i]);
	}
}

/* --- inherited descriptors ----------------------------------------------------------- */

unsigned int fdstore_listen_fds(void)
{
	const char *pid = getenv("LISTEN_PID"), *nr = getenv("LISTEN_FDS");
	uint64_t who, count;

	if (!pid || !nr || parse_u64(pid, &who) < 0 || parse_u64(nr, &count) < 0)
		return 0;
	return who == (uint64_t)getpid() && count < 65536 ? (unsigned int)count : 0;
}

static bool listens(int fd)
{
	socklen_t len = sizeof(int);
	int yes = 0;

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &len) == 0 && yes;
}

static void add_socket(struct fdstore *f, int fd, bool lent)
{
	f->sockets = xrealloc(f->sockets, (f->nr_sockets + 1) * sizeof(f->sockets[0]));
	f->sockets[f->nr_sockets++] = (struct fdstore_socket){ fd, lent };
}

/* NAME.SLOT is one of those that fdstore_keep() made. */
static void fdstore_take(struct fdstore *f, int fd, char *name)
{
	char *dot = strrchr(name, '.');
	uint64_t slot = INHERIT_FDS;
	bool stored = dot && parse_u64(dot + 1, &slot) == 0 && slot < INHERIT_FDS;

	fcntl(fd, F_SETFD, FD_CLOEXEC);
	if (listens(fd)) {
		add_socket(f, fd, !stored);
	} else if (stored) {
		*dot = '\0';
		inherit_add(&f->left, name, INHERIT_TRUSTED, (unsigned int)slot, fd);
	} else {
		log_warn("the service manager passed an unknown descriptor '%.40s'", name);
		close(fd);
	}
}

void fdstore_init(struct fdstore *f, struct notify *notify)
{
	unsigned int nr = fdstore_listen_fds();
	const char *env = getenv("LISTEN_FDNAMES");
	AUTO_FREE char *names = xstrdup(env ? env : "");
	char *rest = names;

	*f = (struct fdstore){ .notify = notify };
	inherit_init(&f->left);
	for (unsigned int i = 0; i < nr; i++) {
		char *name = strsep(&rest, ":");

		fdstore_take(f, FIRST_FD + (int)i, name ? name : names + strlen(names));
	}
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
}

static bool is_at(int fd, const char *path)
{
	struct sockaddr_un addr = { 0 };
	socklen_t len = sizeof(addr), type_len = sizeof(int);
	int type = 0;

	return getsockname(fd, (struct sockaddr *)&addr, &len) == 0 &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_len) == 0 &&
	       addr.sun_family == AF_UNIX && type == SOCK_SEQPACKET &&
	       strncmp(addr.sun_path, path, sizeof(addr.sun_path)) == 0;
}

bool fdstore_listens(const struct fdstore *f, const char *path)
{
	for (unsigned int i = 0; i < f->nr_sockets; i++)
		if (f->sockets[i].lent && is_at(f->sockets[i].fd, path))
			return true;
	return false;
}

struct fdstore_socket fdstore_take_socket(struct fdstore *f, const char *path)
{
	for (unsigned int i = 0; i < f->nr_sockets; i++) {
		struct fdstore_socket *s = &f->sockets[i];

		if (s->fd >= 0 && is_at(s->fd, path) &&
		    fcntl(s->fd, F_SETFL, O_RDWR | O_NONBLOCK) == 0)
			return (struct fdstore_socket){ TAKE_FD(s->fd), s->lent };
	}
	return (struct fdstore_socket){ -1, false };
}

void fdstore_fini(struct fdstore *f)
{
	for (unsigned int i = 0; i < f->nr_sockets; i++)
		close_fd(f->sockets[i].fd);
	free(f->sockets);
	inherit_fini(&f->left);
	f->sockets = NULL;
	f->nr_sockets = 0;
}
