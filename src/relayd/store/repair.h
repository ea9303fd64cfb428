/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * repair.h - repair of files that a relay left unfinished when it died: an incomplete packet at the
 * end of a file is truncated, and packets without an index entry get one. A thread repairs session
 * by session while the relay serves; a session whose sender reconnects is repaired immediately. A
 * turn to the next chunk that was begun is finished, see turn.h.
 * Only files that were last written before the relay started are changed.
 */
#ifndef RELAYD_STORE_REPAIR_H
#define RELAYD_STORE_REPAIR_H

#include <stdint.h>

#include "base/macros.h"

struct relay;
struct repairer;

/** Repair all traces of @relay, which outlives it, that were last written before @before_ns
 *  (CLOCK_REALTIME). Return: 0 or negative errno. */
int repairer_start(struct repairer **ret, struct relay *relay, uint64_t before_ns) MUST_CHECK;
/** Request the end of repairs: further sessions stay unrepaired. @repairer: may be NULL. */
void repairer_stop(struct repairer *repairer);
/** Stop, and free it. No repairer_claim() may run, or be called later. */
void repairer_free(struct repairer *repairer);

/** Repair the session whose directory is @fd before it is received: afterwards the thread does not
 *  change it. Called by any worker; may wait. @repairer: may be NULL. */
void repairer_claim(struct repairer *repairer, int fd);

#endif
