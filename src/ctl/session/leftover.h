/* SPDX-License-Identifier: GPL-2.0-only */
/* leftover.h - spools of the caller that no session uses: their data waits for a relay, for example
 * since their daemon or host has died. */
#ifndef CTL_SESSION_LEFTOVER_H
#define CTL_SESSION_LEFTOVER_H

#include "ctl/ctl.h"

/** Call @report for each of them that has data. @spool: its name. @sentence: which data it is. A
 *  list that can't be read has none. */
void leftover_each(struct ctl *ctl,
		   void (*report)(void *data, const char *spool, const char *sentence), void *data);

/** Call @report for each sentence about saved sessions that could not be loaded when the session
 *  daemon started. Connected. */
void leftover_unloaded(struct ctl *ctl, void (*report)(void *data, const char *sentence),
		       void *data);
/** Forget these: all sessions have been loaded. */
void leftover_loaded(struct ctl *ctl);

#endif
