/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * service.c - detects a session daemon that runs but can't be reached, as a service manager has
 * replaced its socket. A daemon with the manager's sockets requests the running one to exit, but a
 * daemon that is suspended, hangs or is of an older version does not.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/mem.h"
#include "ctl/print/text.h"
#include "doctor.h"

/* The name of a process; "" if there is none. */
static void process_name(pid_t pid, char *buf, size_t len)
{
	char *path AUTO_FREE = xasprintf("/proc/%d/comm", (int)pid);

	text_read(path, buf, len);
	buf[strcspn(buf, "\n")] = '\0';
}

/* The session daemon that has locked a runtime directory; 0: none that can be known. */
static pid_t lock_holder(const char *rundir)
{
	char *path AUTO_FREE = xasprintf("%s/sessiond.lock", rundir);
	char text[32], name[32];
	pid_t pid;

	text_read(path, text, sizeof(text));
	pid = atoi(text);
	if (pid <= 0)
		return 0;
	process_name(pid, name, sizeof(name));
	return strcmp(name, "ltt-sessiond") == 0 ? pid : 0;
}

/* The process that began to listen at a socket; 0: none does; -1: it can't be known. */
static pid_t listener(const char *path)
{
	int fd AUTO_FD = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (fd < 0 || strlen(path) >= sizeof(addr.sun_path))
		return -1;
	strcpy(addr.sun_path, path);
	if (connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) != 0)
		return errno == ENOENT || errno == ECONNREFUSED ? 0 : -1;
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 ? peer.pid : -1;
}

bool doctor_service(struct doctor *d, const char *rundir)
{
	char *path AUTO_FREE = xasprintf("%s/client.sock", rundir);
	pid_t holder = lock_holder(rundir), other = holder ? listener(path) : -1;
	char name[32];

	if (other < 0 || other == holder)
		return false;
	process_name(other, name, sizeof(name));
	if (other)
		doctor_found(d, GRADE_BAD, "service",
			     "the session daemon of pid %d serves %s and can't be reached: "
			     "client.sock is that of %s (pid %d), whose session daemon can't start "
			     "beside it",
			     (int)holder, rundir, *name ? name : "a process that is gone",
			     (int)other);
	else
		doctor_found(d, GRADE_BAD, "service",
			     "the session daemon of pid %d serves %s and can't be reached: "
			     "client.sock is gone, as a socket unit removes it when it is stopped",
			     (int)holder, rundir);
	doctor_repair(d, "kill -9 %d; lttctl list # its sessions stay, the next daemon has them",
		      (int)holder);
	return true;
}
