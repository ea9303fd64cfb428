/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * loop.h - an epoll loop: descriptors, timers, signals, child processes, and deferred work, which
 * runs after the callbacks of a round. Belongs to one thread; callbacks run in it.
 *
 * Sources are embedded in their owner's struct (x_init / x_fini) and may be
 * finished at any time, also from their own callback.
 */
#ifndef IO_LOOP_H
#define IO_LOOP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/types.h>

#include "base/list.h"
#include "base/macros.h"

struct loop;

struct loop_fd {
	struct loop *loop;
	int fd; /* -1: not watched; not owned */
	void (*ready)(struct loop_fd *source, uint32_t events);
};

struct loop_timer {
	struct loop *loop;
	struct list_node node; /* sorted by expiry */
	uint64_t at_ns;	       /* CLOCK_MONOTONIC; 0: not armed */
	void (*expired)(struct loop_timer *timer);
};

struct loop_child {
	struct loop_fd source; /* a pidfd, owned */
	pid_t pid;
	void (*exited)(struct loop_child *child, int wait_status);
};

struct loop_work {
	struct list_node node;
	void (*run)(struct loop_work *work);
};

/** Return: 0 or negative errno. */
int loop_new(struct loop **ret) MUST_CHECK;
struct loop *loop_free(struct loop *loop);
/** Run until loop_stop(). Return: 0 or negative errno of epoll_wait. */
int loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

/** Watch @fd for @events (EPOLLIN, EPOLLOUT). Return: 0 or negative errno. */
int loop_fd_init(struct loop_fd *source, struct loop *loop, int fd, uint32_t events,
		 void (*ready)(struct loop_fd *, uint32_t)) MUST_CHECK;
int loop_fd_events(struct loop_fd *source, uint32_t events);
/** Stop watching; does not close. A zeroed or finished source is allowed. */
void loop_fd_fini(struct loop_fd *source);

void loop_timer_init(struct loop_timer *timer, struct loop *loop,
		     void (*expired)(struct loop_timer *));
void loop_timer_set(struct loop_timer *timer, uint64_t after_us);
void loop_timer_cancel(struct loop_timer *timer); /* allowed if not armed, or zeroed */
/** Return: expiry of the next timer (as loop_now_ns()); UINT64_MAX: none is set. */
uint64_t loop_next_timer_ns(const struct loop *loop);

/** Block the signals and receive them through the loop. Once per loop. */
int loop_signals(struct loop *loop, const sigset_t *set, void (*caught)(int signo, void *data),
		 void *data) MUST_CHECK;

int loop_child_init(struct loop_child *child, struct loop *loop, pid_t pid,
		    void (*exited)(struct loop_child *, int)) MUST_CHECK;
void loop_child_fini(struct loop_child *child);

/** Run @work once, after the callbacks of this round, even if it is deferred several times. */
void loop_defer(struct loop *loop, struct loop_work *work);
void loop_work_init(struct loop_work *work, void (*run)(struct loop_work *));
void loop_work_cancel(struct loop_work *work);

/** CLOCK_MONOTONIC in ns. */
uint64_t loop_now_ns(void);

#endif
