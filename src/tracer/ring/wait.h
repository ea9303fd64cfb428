/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wait.h - threads wait for free space in a full ring, if the channel and the program allow it
 * (--blocking-timeout, LTT_ALLOW_BLOCKING).
 *
 * A waiting thread sleeps for short periods, which grow, and then tries the record again. It holds
 * no ring, lock or reader's mark meanwhile, so that it may be killed, cancelled, forked or left by
 * siglongjmp() at any time, and so that it finds by itself that a new consumer reads the ring, that
 * the session was stopped, or that the ring set is gone. A futex that the consumer wakes would save
 * a few milliseconds of sleep, but each of these cases would need a wake-up of its own, and a
 * consumer that is killed between the release and the wake-up would leave threads asleep.
 */
#ifndef TRACER_RING_WAIT_H
#define TRACER_RING_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "hook.h"

/** struct ring_wait - the wait of one event; begins zeroed. */
struct ring_wait {
	uint64_t begin_ns;
	uint64_t pause_ns;
};

/** Whether threads of this process may wait: read from the environment, once. */
void ring_wait_read_environment(void);
/** The same, for ring_set_map(). */
bool ring_wait_is_allowed(void);

/** The calling thread never waits. */
void ring_wait_never_here(void);

/**
 * ring_wait_once() - sleep for a moment, since the ring of @hook's binding is full.
 * Async-signal safe; keeps errno. Return: false: the wait is over, and the event is lost.
 */
bool ring_wait_once(const struct hook *hook, struct ring_wait *wait);

#endif
