/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mend.h - what a relay that died has left unfinished: ends of files that are no whole
 * packet are cut off, packets without an index entry get one. A thread does so, session by
 * session, while the relay serves; a session whose sender comes back has its turn at once.
 * Only files are touched that were last written before the relay began.
 */
#ifndef RELAYD_MEND_H
#define RELAYD_MEND_H

#include <stdint.h>

#include "base/macros.h"

struct mender;

/** Mend all traces below @dir_fd, which stays the caller's, that were last written before
 *  @before_ns (CLOCK_REALTIME). Return: 0 or negative errno. */
int mender_start(struct mender **ret, int dir_fd, uint64_t before_ns) MUST_CHECK;
/** What has not been mended stays as it is; NULL: nothing. */
void mender_free(struct mender *mender);

/** The session whose directory is @fd is going to be received: when this returns it has been
 *  mended, and the thread keeps out of it. NULL: nothing. */
void mender_claim(struct mender *mender, int fd);

#endif
