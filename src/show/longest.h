/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * longest.h - the lines of the events with the longest durations, in this order; of equal ones the
 * first. Memory: twice the number of lines that are wanted. Owned by one view_print().
 */
#ifndef SHOW_LONGEST_H
#define SHOW_LONGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "pen.h"

struct longest;

/** @most: lines that are wanted, 1 or more. */
struct longest *longest_new(uint64_t most);
void longest_free(struct longest *longest);

/** Whether a line with this duration is one of them so far. */
bool longest_wants(const struct longest *longest, int64_t ns);
/** @line: all of it; its contents are taken out. */
void longest_take(struct longest *longest, int64_t ns, struct pen *line);
void longest_write(struct longest *longest, struct pen *pen);

#endif
