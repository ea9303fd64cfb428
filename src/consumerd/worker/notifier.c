/* SPDX-License-Identifier: GPL-2.0-only */
#include "notifier.h"

#include <errno.h>
#include <sys/epoll.h>

int notifier_open(struct notifier *notifier)
{
	if (notifier->fd >= 0)
		return 0;
	notifier->fd = epoll_create1(EPOLL_CLOEXEC);
	return notifier->fd < 0 ? -errno : 0;
}

void notifier_close(struct notifier *notifier)
{
	notifier->fd = close_fd(notifier->fd);
}

/* The worker does not wait for data of rings that are kept. */
static int notifier_set(const struct notifier *notifier, int op, const struct ringset *set)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT };

	if (set->module < 0 || notifier->fd < 0 || ringset_is_kept(set))
		return 0;
	return epoll_ctl(notifier->fd, op, set->module, &event) < 0 ? -errno : 0;
}

int notifier_add(const struct notifier *notifier, const struct ringset *set)
{
	return notifier_set(notifier, EPOLL_CTL_ADD, set);
}

/* Another descriptor of it may stay open, so closing would not do. */
void notifier_remove(const struct notifier *notifier, const struct ringset *set)
{
	(void)!notifier_set(notifier, EPOLL_CTL_DEL, set);
}

void notifier_arm(const struct notifier *notifier, const struct ringset *set)
{
	(void)!notifier_set(notifier, EPOLL_CTL_MOD, set);
}

void notifier_watch(const struct notifier *notifier, int fd)
{
	struct epoll_event event = { .events = EPOLLRDHUP | EPOLLONESHOT };

	if (notifier->fd >= 0)
		epoll_ctl(notifier->fd, EPOLL_CTL_ADD, fd, &event);
}

bool notifier_drain(const struct notifier *notifier)
{
	struct epoll_event events[16];

	return epoll_wait(notifier->fd, events, ARRAY_SIZE(events), 0) > 0;
}
