/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "listener.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "base/log.h"

#define BATCH 16 /* the other sources of the loop are served in between */
#define PAUSE_US 100000u

static void listener_resume(struct loop_timer *timer)
{
	struct listener *listener = container_of(timer, struct listener, pause);

	loop_fd_events(&listener->source, EPOLLIN);
}

/* Return: whether more may be pending. */
static bool listener_accept(struct listener *listener)
{
	int fd = accept4(listener->source.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0) {
		listener->take(listener, fd);
		return true;
	}
	if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
		return false;
	log_warn_some("can't accept a connection: %s", strerror(errno));
	loop_fd_events(&listener->source, 0);
	loop_timer_set(&listener->pause, PAUSE_US);
	return false;
}

static void listener_ready(struct loop_fd *source, uint32_t events)
{
	struct listener *listener = container_of(source, struct listener, source);
	int nr = 0;

	(void)events;
	while (source->fd >= 0 && nr++ < BATCH && listener_accept(listener))
		;
}

int listener_init(struct listener *listener, struct loop *loop, int fd,
		  void (*take)(struct listener *listener, int fd))
{
	listener->take = take;
	loop_timer_init(&listener->pause, loop, listener_resume);
	return loop_fd_init(&listener->source, loop, fd, EPOLLIN, listener_ready);
}

void listener_fini(struct listener *listener)
{
	loop_fd_fini(&listener->source);
	loop_timer_cancel(&listener->pause);
}
