/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log.h - log messages of a daemon, on stderr, one line each, control bytes escaped.
 * Only daemons log, where an error is handled; library code returns errors. Thread safe.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "macros.h"

enum log_level { LOG_QUIET, LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/** @name: begins each line. @level: LTT_LOG=debug in the environment overrides it. */
void log_init(const char *name, enum log_level level);
enum log_level log_level(void);
/** Read LTT_LOG_LIMIT again: if standard error is a file, it is cut to its last half as soon as it
 *  is longer than so many bytes. log_init() does so, too. */
void log_bound(void);
/** Write each line to @fd as well, which stays the caller's; -1: no longer. */
void log_copy(int fd);
void log_write(enum log_level level, const char *fmt, ...) PRINTF(2, 3);

#define log_error(...) log_write(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_write(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_write(LOG_INFO, __VA_ARGS__)
#define log_debug(...)                                     \
	do {                                               \
		if (log_level() >= LOG_DEBUG)              \
			log_write(LOG_DEBUG, __VA_ARGS__); \
	} while (0)

/** Rate limit for messages that a peer can trigger repeatedly: a place in the code logs a few
 *  lines in ten seconds, then the number of suppressed ones. Any thread. */
struct log_limit {
	uint64_t since_s;
	unsigned int logged, suppressed;
};
bool log_limit_pass(struct log_limit *limit);

#define log_warn_some(...)                      \
	do {                                    \
		static struct log_limit limit_; \
		if (log_limit_pass(&limit_))    \
			log_warn(__VA_ARGS__);  \
	} while (0)

#endif
