/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* macros.h - variables with automatic cleanup, and small arithmetic. */
#ifndef BASE_MACROS_H
#define BASE_MACROS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define CLEANUP(fn) __attribute__((cleanup(fn)))

/** Transfer ownership out of a cleanup variable. */
#define TAKE(ptr)                                                                              \
	({                                                                                     \
		__typeof__(ptr) taken_ = (ptr);                                                \
		(ptr) = NULL;                                                                  \
		taken_;                                                                        \
	})
#define TAKE_FD(fd)                                                                            \
	({                                                                                     \
		int taken_ = (fd);                                                             \
		(fd) = -1;                                                                     \
		taken_;                                                                        \
	})

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

/** close() that accepts -1 and returns -1: fd = close_fd(fd). */
static inline int close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
	return -1;
}

static inline void cleanup_fd(int *fd)
{
	close_fd(*fd);
}

#define AUTO_FREE CLEANUP(cleanup_free)
#define AUTO_FD   CLEANUP(cleanup_fd)

#endif
