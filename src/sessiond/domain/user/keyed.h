/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * keyed.h - the counts of an event by keys: the tables of the users whose applications count it are
 * merged, and counts of equal keys are added. Computed for each request; runs on the daemon's loop.
 */
#ifndef DOMAIN_USER_KEYED_H
#define DOMAIN_USER_KEYED_H

#include "tally.h"

/** Report the event, with the sums over all its keys, and each key. @counted: without sums. */
void keyed_report(const struct user_session *us, const struct rule *rule,
		  const struct user_stat *stat, struct domain_counted *counted,
		  const struct domain_counted_ops *ops, void *data);

#endif
