/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * points.h - the points that have been sent to each daemon.
 *
 * Filled by the registry's listener, from whatever thread loads or unloads a
 * library; read by the helper thread, link by link. One lock, a leaf: no other
 * lock is taken below it. While it is held no point can go away, so that the
 * helper may read the strings of a library that is just being unloaded.
 */
#ifndef TRACER_AGENT_POINTS_H
#define TRACER_AGENT_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct point;

/** Listen to the registry; called once, by the constructor. */
void agent_points_start(void);

/** A link is up: all points must be sent. */
void agent_points_open(unsigned int link);
/** A link is down. */
void agent_points_close(unsigned int link);

/** Whether any link is up. */
bool agent_points_anybody(void);

/** Counts whenever a point appears; starts at 1. */
uint32_t agent_points_generation(void);

void agent_points_lock(void);
void agent_points_unlock(void);
/** With the lock held: the next point to send, or NULL; then step over it. */
const struct point *agent_points_peek(unsigned int link);
void agent_points_advance(unsigned int link);
/** With the lock held: ids that are gone since; at most @max. Return: how many. */
size_t agent_points_take_gone(unsigned int link, uint32_t *ret_ids, size_t max);

void agent_points_after_fork_child(void);

#endif
