/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * states.h - the states of threads by the kernel's events sched_*: on a CPU, waiting for one (from
 * the wakeup, or from where the thread was preempted), and blocked. Owned by one reader.
 */
#ifndef ANALYSE_STATES_H
#define ANALYSE_STATES_H

#include "span.h"

struct event;
struct states;

enum states_state { STATES_UNKNOWN, STATES_RUNNING, STATES_RUNNABLE, STATES_BLOCKED };

/**
 * struct states_row - a state that has ended; @span: its name is the state's. Its CPU is the one on
 * which the thread ran; of a wait for one, the one that it got.
 * @call: the system call in which the thread is blocked; NULL: unknown.
 * @waker: the thread that ran when it was woken, if @has_waker.
 * @uninterruptible: signals don't end it.
 */
struct states_row {
	struct span span;
	enum states_state state;
	const char *call;
	uint64_t waker;
	bool has_waker, uninterruptible;
};

typedef void (*states_fn)(void *priv, const struct states_row *row);

struct states *states_new(states_fn fn, void *priv);
void states_free(struct states *states);

/** The event is the next one in time; any event may be passed. */
void states_take(struct states *states, const struct event *event);
/** After the last event. Return: the threads that were still waiting for a CPU. */
uint64_t states_waiting(const struct states *states);

#endif
