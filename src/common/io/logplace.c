/* SPDX-License-Identifier: GPL-2.0-only */
#include "logplace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "base/macros.h"
#include "base/mem.h"

#define LIMIT "1048576" /* bytes; of a file that is usually in memory */

/* The lines that sd_journal_stream_fd(3) sends: identifier, unit, priority (5: notice), whether
 * lines begin with a priority, and to where the journal is to pass them on. */
int logplace_journal(const char *sock, const char *name)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	AUTO_FREE char *head = xasprintf("%s\n\n5\n0\n0\n0\n0\n", name);
	AUTO_FD int fd = -1;

	if (strlen(sock) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, sock);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 ||
	    shutdown(fd, SHUT_RD) < 0)
		return -errno;
	if (send(fd, head, strlen(head), MSG_NOSIGNAL) != (ssize_t)strlen(head))
		return -EIO;
	return TAKE_FD(fd);
}

/* A link, or another user's file, is not written to. */
static int logplace_file(const char *dir, const char *file)
{
	AUTO_FREE char *path = xasprintf("%s/%s", dir, file);
	AUTO_FD int fd =
		open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return -1;
	return TAKE_FD(fd);
}

void logplace_use(const char *dir, const char *file, const char *name)
{
	AUTO_FD int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	AUTO_FD int fd = logplace_journal(LOGPLACE_JOURNAL, name);

	if (fd < 0) {
		fd = logplace_file(dir, file);
		if (fd >= 0)
			setenv("LTT_LOG_LIMIT", LIMIT, 0);
	}
	for (int i = STDIN_FILENO; null >= 0 && i <= STDERR_FILENO; i++)
		dup2(i == STDERR_FILENO && fd >= 0 ? fd : null, i);
	log_bound();
}
