/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pairs.h - finds for an event that ends something the event that began it, and the time between:
 * entries and exits of functions (`--wrap=cyg-profile`), of system calls, and pairs that a user
 * names. Owned by one view_print().
 */
#ifndef VIEW_PAIRS_H
#define VIEW_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct pairs;

/**
 * pairs_new() - @spec: "BEGIN,END[,KEY][;...]", names of events, and of the field whose equal value
 * makes two of them a pair; without KEY they have the thread in common. NULL: none.
 * Return: NULL: the spec is wrong; @why receives the reason.
 */
struct pairs *pairs_new(const char *spec, char *why, size_t len);
void pairs_free(struct pairs *pairs);

/** The event is the next one in time. Return: whether it ends something; @ret_ns: its duration. */
bool pairs_take(struct pairs *pairs, const struct event *event, int64_t *ret_ns);

/**
 * struct pairs_rest
 * @open: begins without an end; @alone: ends without a begin.
 * @nowhere: events of pairs that have neither a thread nor the key.
 */
struct pairs_rest {
	uint64_t open, alone, nowhere;
};
struct pairs_rest pairs_left(const struct pairs *pairs);

#endif
