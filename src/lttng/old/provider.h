/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * provider.h - providers and call sites of programs built for LTTng-UST 2.7 to 2.12: their
 * descriptions are translated into those of 2.13, and their functions record through structures of
 * their own.
 *
 * Fields that are not recorded (ctf_integer_nowrite) are left out: no filter reads them.
 */
#ifndef LTTNG_OLD_PROVIDER_H
#define LTTNG_OLD_PROVIDER_H

#include "abi.h"
#include "lttng/event.h"

/** struct old_recorder - an event for the function of such a provider. */
struct old_recorder {
	struct old_event event;
	struct event *of;
};

/** Make event->old. -ENOMEM. Freed with free(). */
int old_prepare(struct event *event);

/** Wait for threads inside call sites whose read lock is that of liburcu-bp, which such programs
 *  contain if they were compiled with _LGPL_SOURCE. */
void old_synchronize(void);

#endif
