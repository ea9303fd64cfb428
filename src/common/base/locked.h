/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* locked.h - hold a mutex until the end of a block. */
#ifndef BASE_LOCKED_H
#define BASE_LOCKED_H

#include <pthread.h>

#include "macros.h"

static inline void locked_end(pthread_mutex_t **mutex)
{
	pthread_mutex_unlock(*mutex);
}

/* Functions that only read the protected data have a const pointer to its owner. */
static inline pthread_mutex_t *locked_begin(const pthread_mutex_t *mutex)
{
	pthread_mutex_lock((pthread_mutex_t *)mutex);
	return (pthread_mutex_t *)mutex;
}

/** A declaration: @mutex is locked from here to the end of the block, on each way out of it. */
#define LOCKED(mutex) \
	pthread_mutex_t *locked_ CLEANUP(locked_end) __attribute__((unused)) = locked_begin(mutex)

#endif
