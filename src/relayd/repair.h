/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * repair.h - repair of files that a relay left unfinished when it died: ends of files that are no
 * whole packet are cut off, packets without an index entry get one. A thread does so, session by
 * session, while the relay serves; a session whose sender comes back has its turn at once.
 * Only files are touched that were last written before the relay began.
 */
#ifndef RELAYD_REPAIR_H
#define RELAYD_REPAIR_H

#include <stdint.h>

#include "base/macros.h"

struct repairer;

/** Repair all traces below @dir_fd, which stays the caller's, that were last written before
 *  @before_ns (CLOCK_REALTIME). Return: 0 or negative errno. */
int repairer_start(struct repairer **ret, int dir_fd, uint64_t before_ns) MUST_CHECK;
/** End repairs soon: sessions that were not reached stay as they are. NULL: no repairer. */
void repairer_stop(struct repairer *repairer);
/** The same, and free it: no session can be claimed any more. */
void repairer_free(struct repairer *repairer);

/** The session whose directory is @fd is going to be received: when this returns it has been
 *  repaired, and the thread leaves it alone. By any worker; may wait. NULL: no repairer. */
void repairer_claim(struct repairer *repairer, int fd);

#endif
