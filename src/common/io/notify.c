/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "notify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "sock.h"

#define TIMEOUT_S 1

static int notify_connect_to(const char *path)
{
	struct timeval timeout = { TIMEOUT_S, 0 };
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	size_t len = strlen(path);
	AUTO_FD int fd = -1;

	if ((path[0] != '/' && path[0] != '@') || len >= sizeof(addr.sun_path))
		return -EINVAL;
	memcpy(addr.sun_path, path, len);
	if (path[0] == '@') /* a name that is in no file system */
		addr.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	if (connect(fd, (struct sockaddr *)&addr,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/* It is waited for, but one that does not listen only once. */
void notify_send_fd(struct notify *n, const char *lines, int fd)
{
	int ret;

	if (n->fd < 0)
		return;
	ret = sock_send(n->fd, lines, strlen(lines), &fd, fd >= 0);
	if ((ret < 0) == n->failed)
		return;
	n->failed = ret < 0;
	(void)!fcntl(n->fd, F_SETFL, n->failed ? O_RDWR | O_NONBLOCK : O_RDWR);
	if (n->failed)
		log_warn("the service manager does not receive messages (%s): descriptors that it "
			 "should store may be lost",
			 strerror(-ret));
}

void notify_send(struct notify *n, const char *lines)
{
	notify_send_fd(n, lines, -1);
}

void notify_status(struct notify *n, const char *fmt, ...)
{
	AUTO_FREE char *lines = NULL;
	char text[200];
	va_list args;

	if (n->fd < 0)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (n->status && strcmp(n->status, text) == 0)
		return;
	free(n->status);
	n->status = xstrdup(text);
	lines = xasprintf("STATUS=%s", text);
	notify_send(n, lines);
}

/* --- that we live ---------------------------------------------------------------------- */

static void send_watchdog(struct loop_timer *timer)
{
	struct notify *n = container_of(timer, struct notify, watchdog);

	notify_send(n, "WATCHDOG=1");
	loop_timer_set(&n->watchdog, n->watchdog_us);
}

void notify_ready(struct notify *n, struct loop *loop)
{
	notify_send(n, "READY=1");
	if (n->fd < 0 || !n->watchdog_us)
		return;
	loop_timer_init(&n->watchdog, loop, send_watchdog);
	send_watchdog(&n->watchdog);
}

void notify_unwatch(struct notify *n)
{
	loop_timer_cancel(&n->watchdog);
}

/* Twice as often as it has to be, as sd_watchdog_enabled(3) advises. */
static uint64_t watchdog_period(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	uint64_t period, who = 0;

	if (!usec || parse_u64(usec, &period) < 0)
		return 0;
	if (pid && (parse_u64(pid, &who) < 0 || who != (uint64_t)getpid()))
		return 0;
	return period / 2;
}

void notify_init(struct notify *n)
{
	const char *socket = getenv("NOTIFY_SOCKET");

	*n = (struct notify){ .fd = -1, .watchdog_us = watchdog_period() };
	if (socket)
		n->fd = notify_connect_to(socket);
	if (socket && n->fd < 0)
		log_warn("can't connect to the service manager at %.100s: %s", socket,
			 strerror(-n->fd));
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

void notify_fini(struct notify *n)
{
	free(n->status);
	n->status = NULL;
	n->fd = close_fd(n->fd);
}
