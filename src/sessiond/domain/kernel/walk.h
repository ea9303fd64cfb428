/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * walk.h - a walk compares the required state of all events of a session with the actual state, and
 * sends the differences to the module. It runs for some milliseconds at a time, so that the loop is
 * not delayed.
 */
#ifndef DOMAIN_KERNEL_WALK_H
#define DOMAIN_KERNEL_WALK_H

#include "io/loop.h"

struct kernel_domain;
struct kernel_session;

/** Request a walk; if one is in progress, it is followed by another. */
void kernel_touch(struct kernel_session *ks);
void kernel_walk(struct loop_timer *timer);
void kernel_channels_free(struct kernel_session *ks);
/** Number of sessions that record an event. */
uint32_t kernel_count_active(const struct kernel_domain *kernel, uint32_t event);

#endif
