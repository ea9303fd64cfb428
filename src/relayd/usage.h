/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * usage.h - what is stored of a host below a relay's directory, as the disk says: at once where
 * that is little, by a thread where a sender would wait too long for it.
 */
#ifndef RELAYD_USAGE_H
#define RELAYD_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"

#define USAGE_AT_ONCE 2000u /* files and directories that are looked at at once: some 4 ms */

struct usage {
	uint64_t bytes; /* of all files */
	uint64_t files; /* and directories */
};

/** A count that a thread makes. */
struct usage_count;

/** The files of @host; of a user of this machine (".uidUID") under all names that it uses.
 *  @by_session: as in relay.h. Return: false: there are more than USAGE_AT_ONCE to look at. */
bool usage_of(int out_fd, bool by_session, const char *host, struct usage *ret) MUST_CHECK;

/** Begin to count all of them; waits for no disk. @out_fd stays the caller's.
 *  Return: 0 or negative errno. */
int usage_begin(struct usage_count **ret, int out_fd, bool by_session, const char *host) MUST_CHECK;
/** Return: whether the count is complete: @ret has it. */
bool usage_result(const struct usage_count *count, struct usage *ret) MUST_CHECK;
/** Stop the thread, which is not waited for; NULL: there is no count. Return: NULL. */
struct usage_count *usage_end(struct usage_count *count);

/** YYYYmmdd-HHMMSS. Return: what is behind it; NULL: it is none. */
const char *usage_skip_stamp(const char *text);

#endif
