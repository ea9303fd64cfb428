/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mend.h - repair of files that a relay left unfinished when it died: ends of files that are no
 * whole packet are cut off, packets without an index entry get one. A thread does so, session by
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
/** Stop the thread: sessions that it has not reached stay as they are. NULL: no mender. */
void mender_free(struct mender *mender);

/** The session whose directory is @fd is going to be received: when this returns it has been
 *  mended, and the thread keeps out of it. NULL: no mender. */
void mender_claim(struct mender *mender, int fd);

#endif
