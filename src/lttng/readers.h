/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * readers.h - threads inside call sites, and the wait for them before a provider or a call site is
 * unloaded.
 *
 * Programs compiled with _LGPL_SOURCE contain the lock: they count in the first word of the
 * thread's block by the rules below. So those rules, the names and the one pointer of thread-local
 * memory are fixed. A block has the thread's buffer, too, since more thread-local memory would make
 * dlopen() of a library fail.
 *
 * A thread takes a block at its first call site, also in a signal handler; blocks of threads that
 * have ended are used again. Blocks are never freed.
 */
#ifndef LTTNG_READERS_H
#define LTTNG_READERS_H

#include <stdint.h>

#include <ltt/site.h>

#include "abi.h"

#define INLINE_BYTES 512u
#define SAVED_DEPTH 4u
#define SAVED_SLOTS 64u

/** struct frame - an event that is being written. @owner: its context in the probe; NULL: free. */
struct frame {
	const void *owner;
	unsigned char *payload, *at, *end;
};

/** struct saved - the values for filters of an event that has fields that are not recorded. */
struct saved {
	const void *owner;
	uint64_t slot[SAVED_SLOTS];
};

/**
 * struct reader - @ctr: 0: the thread is not inside; else the phase in which it entered, and the
 * number of its nested calls in the lower half. Written by the thread alone.
 */
struct reader {
	unsigned long ctr;
	struct reader *next;
	int tid; /* 0: unused */
	unsigned long left; /* value of ctr at which no wait is for the thread: longjmp() left it */
	struct saved saved[SAVED_DEPTH];
	struct frame frame;
	unsigned char room[INLINE_BYTES + LTT_PAYLOAD_SLACK];
};

extern EXPORT __thread struct reader *lttng_ust_urcu_reader;

/** Give the thread a block. */
EXPORT void lttng_ust_urcu_register(void);

/** Between these the thread is inside. They nest; any signal handler. */
EXPORT void lttng_ust_urcu_read_lock(void);
EXPORT void lttng_ust_urcu_read_unlock(void);

/** Returns when every thread that was inside has left, but for the caller. */
EXPORT void lttng_ust_urcu_synchronize_rcu(void);

/** From now on that takes 100 ms at most, instead of 10 s. */
void readers_hurry(void);

#endif
