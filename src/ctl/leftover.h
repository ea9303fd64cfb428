/* SPDX-License-Identifier: GPL-2.0-only */
/* leftover.h - spools of the caller that no session uses: their data waits for a relay, for example
 * since their daemon or host has died. */
#ifndef CTL_LEFTOVER_H
#define CTL_LEFTOVER_H

#include "ctl.h"

/** Call @report for each of them that has data. @spool: its name. @sentence: which data it is. A
 *  list that can't be read has none. */
void leftover_each(struct ctl *ctl,
		   void (*report)(void *data, const char *spool, const char *sentence), void *data);

#endif
