/* SPDX-License-Identifier: GPL-2.0-only */
#include "bells.h"

#include <errno.h>
#include <sys/epoll.h>

int bells_open(struct bells *bells)
{
	if (bells->fd >= 0)
		return 0;
	bells->fd = epoll_create1(EPOLL_CLOEXEC);
	return bells->fd < 0 ? -errno : 0;
}

void bells_close(struct bells *bells)
{
	bells->fd = close_fd(bells->fd);
}

static int ask(const struct bells *bells, int op, const struct ringset *set)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT };

	if (set->module < 0 || bells->fd < 0)
		return 0;
	return epoll_ctl(bells->fd, op, set->module, &event) < 0 ? -errno : 0;
}

int bells_add(const struct bells *bells, const struct ringset *set)
{
	return ask(bells, EPOLL_CTL_ADD, set);
}

/* Another descriptor of it may stay open, so closing would not do. */
void bells_remove(const struct bells *bells, const struct ringset *set)
{
	(void)!ask(bells, EPOLL_CTL_DEL, set);
}

void bells_ask(const struct bells *bells, const struct ringset *set)
{
	(void)!ask(bells, EPOLL_CTL_MOD, set);
}

void bells_watch(const struct bells *bells, int fd)
{
	struct epoll_event event = { .events = EPOLLRDHUP | EPOLLONESHOT };

	if (bells->fd >= 0)
		epoll_ctl(bells->fd, EPOLL_CTL_ADD, fd, &event);
}

bool bells_take(const struct bells *bells)
{
	struct epoll_event events[16];

	return epoll_wait(bells->fd, events, ARRAY_SIZE(events), 0) > 0;
}
