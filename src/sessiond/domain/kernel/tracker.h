/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracker.h - tracked ids of processes and users, as sent to the module.
 */
#ifndef DOMAIN_KERNEL_TRACKER_H
#define DOMAIN_KERNEL_TRACKER_H

#include "kmod.h"
#include "sessiond/domain/rec/recording.h"

struct kernel_session;

/** Send all ids to the module, for a new channel. Return: 0 or negative errno. */
int kernel_tracker_send_all(const struct kmod *kmod, int module,
			    const struct session *session) MUST_CHECK;
/** Send ids that an earlier daemon may not have sent. */
void kernel_tracker_restore(struct kernel_session *ks);

#endif
