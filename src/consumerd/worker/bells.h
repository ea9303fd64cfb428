/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bells.h - the kernel's rings ring through poll(), but a worker sleeps on memory, as
 * applications ring there. So the main thread polls in its place and rings its doorbell.
 * Before each sleep the worker asks to be told, of each set once. A relay that hangs up while
 * nothing is asked of it is heard so, too. Owned by a worker.
 */
#ifndef CONSUMERD_WORKER_BELLS_H
#define CONSUMERD_WORKER_BELLS_H

#include "ringset.h"

struct bells {
	int fd; /* an epoll that the main thread polls; -1: none */
};

/** Return: 0 or negative errno. Fine where it is open. */
int bells_open(struct bells *bells) MUST_CHECK;
void bells_close(struct bells *bells);
/** Begin with a set; the worker. Return: 0 or negative errno. */
int bells_add(const struct bells *bells, const struct ringset *set) MUST_CHECK;
void bells_remove(const struct bells *bells, const struct ringset *set);
/** Tell when the set has something, also if it has now; the worker. */
void bells_ask(const struct bells *bells, const struct ringset *set);
/** Tell once when the other end of a socket has hung up; the worker. Until it is closed. */
void bells_watch(const struct bells *bells, int fd);
/** Which rang is of no matter: forget them. Main thread. Return: whether any did. */
bool bells_take(const struct bells *bells);

#endif
