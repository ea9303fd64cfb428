/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * points.h - the points that have been sent to each daemon.
 *
 * Filled by the registry's listener, in the thread that loads or unloads a library; read by the
 * helper thread, for each link. Protected by one lock; no other lock is taken while it is held.
 * While it is held no point is removed, so that the helper may read the strings of a library that
 * is being unloaded.
 */
#ifndef TRACER_AGENT_POINTS_H
#define TRACER_AGENT_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct point;

/** Listen to the registry; called once, by the constructor. */
void agent_points_start(void);

/** Reset a link that is connected: all points must be sent. */
void agent_points_open(unsigned int link);
/** Reset a link that is disconnected. */
void agent_points_close(unsigned int link);

/** Whether any link is connected. */
bool agent_points_any_link_up(void);

/** A number that is incremented for each new point; starts at 1. */
uint32_t agent_points_generation(void);

void agent_points_lock(void);
void agent_points_unlock(void);
/** With the lock held: the next point to send, or NULL; agent_points_advance() skips it. */
const struct point *agent_points_peek(unsigned int link);
void agent_points_advance(unsigned int link);
/** With the lock held: ids of points removed since; at most @max. Return: their number. */
size_t agent_points_take_gone(unsigned int link, uint32_t *ret_ids, size_t max);

void agent_points_after_fork_child(void);

#endif
