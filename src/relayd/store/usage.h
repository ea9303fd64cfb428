/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * usage.h - the disk usage of a host below a relay's directory: counted at once if it is small, by
 * a thread if a sender would wait too long for it.
 */
#ifndef RELAYD_STORE_USAGE_H
#define RELAYD_STORE_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"

#define USAGE_AT_ONCE 2000u /* files and directories counted without a thread: about 4 ms */

struct usage {
	uint64_t bytes; /* sum of the files' sizes */
	uint64_t files; /* number of files and directories */
};

/** A count that a thread makes. */
struct usage_count;

/** Count the files of @host; of a local user (".uidUID"), those under all names that the user
 *  sends.
 *  @by_session: as in relay.h. Return: false: there are more than USAGE_AT_ONCE. */
bool usage_of(int out_fd, bool by_session, const char *host, struct usage *ret) MUST_CHECK;

/** Start a thread that counts them; never waits for a disk. @out_fd: owned by the caller.
 *  Return: 0 or negative errno. */
int usage_begin(struct usage_count **ret, int out_fd, bool by_session, const char *host) MUST_CHECK;
/** Return: whether the count is complete: @ret has it. */
bool usage_result(const struct usage_count *count, struct usage *ret) MUST_CHECK;
/** Stop the thread, which is not waited for; NULL: there is no count. Return: NULL. */
struct usage_count *usage_end(struct usage_count *count);

/** Skip YYYYmmdd-HHMMSS. Return: the text after it; NULL: @text does not begin so. */
const char *usage_skip_stamp(const char *text);

#endif
