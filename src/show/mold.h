/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mold.h - the literal text of a class of events, its names of fields and braces, which is made
 * once: the general printer writes the first event of the class to a pen that takes note where
 * values belong. Later events of the class are the same text with other values. Owned by a printer.
 *
 * Only a class whose events all have the same values, in their types and order, has one: those that
 * are decoded by a plan (read/plan.h).
 */
#ifndef SHOW_MOLD_H
#define SHOW_MOLD_H

#include "pen.h"
#include "read/event.h"

struct printer;
struct value;

/** The parts that differ. Other numbers are indices of values, from the event's first one on. */
enum {
	MOLD_TASK = UINT16_MAX,
	MOLD_PACKET = UINT16_MAX - 1,
	MOLD_END = UINT16_MAX - 2,
};

#define MOLD_PARTS 100u

/** @part: follows the text up to @end. */
struct mold_part {
	uint32_t end;
	uint16_t part;
};

/**
 * struct mold
 * @text: all literal text; NULL: the class has none.
 * @tasks: indices of the values in struct task, -1: it has none.
 * @base: the event's first value, @given_up: it can't be made; while it is made.
 */
struct mold {
	struct mold *next;
	char *text;
	int32_t tasks[3];
	uint32_t nr;
	const struct value *base;
	bool given_up;
	struct mold_part parts[MOLD_PARTS];
};

/** Write an event; write a value. */
typedef void mold_write_fn(struct printer *printer, const struct event *event);
typedef const struct value *mold_value_fn(struct pen *pen, const struct value *value);

/** mold_of() - the mold of the event's class, which is made if need be by @write. NULL: it has
 *  none, or the event does not fit. */
const struct mold *mold_of(struct printer *printer, const struct event *event,
			   mold_write_fn *write);

/** The value is to be written here: note it. Return: whether a mold is being made. */
bool mold_takes(struct pen *pen, const struct value *value);
/** The same for MOLD_TASK and MOLD_PACKET. */
bool mold_takes_part(struct pen *pen, uint16_t part);
/** It can't be made: the text depends on values. */
void mold_give_up(struct pen *pen);

/** Write the event; @value writes one value. */
void mold_write(struct printer *printer, const struct mold *mold, const struct event *event,
		mold_value_fn *value);

/** Free the list. */
void mold_free(struct mold *molds);

#endif
