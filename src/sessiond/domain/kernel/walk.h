/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * walk.h - the comparison of the wanted with the actual state of all events of a session; the
 * difference is sent to the module. A walk runs for some milliseconds at a time, so that it does
 * not delay others.
 */
#ifndef DOMAIN_KERNEL_WALK_H
#define DOMAIN_KERNEL_WALK_H

#include "io/loop.h"

struct kernel_domain;
struct kernel_session;

/** Walk through all events; if a walk is in progress, after it. */
void kernel_touch(struct kernel_session *ks);
void kernel_walk(struct loop_timer *timer);
void kernel_channels_free(struct kernel_session *ks);
/** Number of sessions that record it. */
uint32_t kernel_count_active(const struct kernel_domain *kernel, uint32_t event);

#endif
