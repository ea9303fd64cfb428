/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * relay_place.h - a relay of a unit test, in the test's process: its loop runs on a thread, its
 * directory is a temporary one. Owned by main().
 */
#ifndef TESTS_RELAY_PLACE_H
#define TESTS_RELAY_PLACE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "relayd/relay.h"
#include "relayd/store/retention.h"

struct loop_thread {
	struct loop *loop;
	pthread_t thread;
	atomic_bool over;
};

/** Run @loop, which remains the caller's. */
void loop_thread_start(struct loop_thread *t, struct loop *loop);
void loop_thread_stop(struct loop_thread *t);

struct relay_place {
	struct relay relay;
	struct retention retention; /* it keeps one byte; not started */
	struct loop_thread loop;
	char top[32];
	int fd; /* of the directory */
};

/** @fds: the far ends of @nr connections. */
void relay_place_init(struct relay_place *place, int *fds, size_t nr);
/** All connections are closed; so is the directory, and removed. */
void relay_place_fini(struct relay_place *place);
/** Whether a path in the directory is there. */
bool relay_place_has(const struct relay_place *place, const char *path);

#endif
