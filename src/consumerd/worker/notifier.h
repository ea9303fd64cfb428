/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * notifier.h - poll notifier: a sleeping worker waits for a futex word, which applications wake,
 * but the kernel's rings report new records by poll(). The main thread polls in the worker's
 * place and rings its doorbell. The worker arms each ring set once before it sleeps. An idle
 * relay connection that the peer closes is noticed in the same way. Owned by a worker.
 */
#ifndef CONSUMERD_WORKER_NOTIFIER_H
#define CONSUMERD_WORKER_NOTIFIER_H

#include "ringset.h"

struct notifier {
	int fd; /* an epoll that the main thread polls; -1: none */
};

/** Return: 0 or negative errno. Does nothing if it is open. */
int notifier_open(struct notifier *notifier) MUST_CHECK;
void notifier_close(struct notifier *notifier);
/** Add a ring set. Worker. Return: 0 or negative errno. */
int notifier_add(const struct notifier *notifier, const struct ringset *set) MUST_CHECK;
void notifier_remove(const struct notifier *notifier, const struct ringset *set);
/** Notify once when the set has records, at once if it has some now. Worker. */
void notifier_arm(const struct notifier *notifier, const struct ringset *set);
/** Notify once when the peer closes socket @fd. Ends with close(). Worker. */
void notifier_watch(const struct notifier *notifier, int fd);
/** Drain pending notifications. Main thread. Return: whether there were any. */
bool notifier_drain(const struct notifier *notifier);

#endif
