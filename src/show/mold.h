/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mold.h - the literal text of a class of events, its names of fields and braces, which is made
 * once: the general printer writes the first event of the class to a pen that takes note where
 * values belong. Later events of the class are the same text with other values. Owned by a printer.
 *
 * Values are taken from struct event, or right from the bytes of the packet: then their places are
 * known (read/decode/plan.h), and no event of the class is decoded again.
 *
 * Only a class whose events all have the same values, in their types and order, has one: those that
 * are decoded by a plan (read/decode/plan.h). Classes of several traces that are alike share one:
 * those of 50 processes fit into the processor's caches then.
 */
#ifndef SHOW_MOLD_H
#define SHOW_MOLD_H

#include "memo.h"
#include "pen.h"
#include "read/event.h"
#include "read/decode/plan.h"

struct printer;
struct value;

/** The parts that differ. Other numbers are indices of values, from the event's first one on;
 *  those from MOLD_CELLS on are cells of a table (columns.h). */
enum {
	MOLD_TASK = UINT16_MAX,
	MOLD_PACKET = UINT16_MAX - 1,
	MOLD_END = UINT16_MAX - 2,
	MOLD_CLOCK = UINT16_MAX - 3, /* the event's time, in a cell */
	MOLD_RUNS = UINT16_MAX - 4,
	MOLD_CELLS = UINT16_MAX - 100,
};

#define MOLD_LABELS 8u /* of a part */
#define MOLD_LABEL 52u /* bytes of its text */

/** struct mold_label - the text of a value of an enumeration. */
struct mold_label {
	uint64_t value;
	uint32_t len;
	char text[MOLD_LABEL];
};

#define MOLD_PARTS 100u
#define MOLD_COPIED 32u /* bytes of text that are copied at once, and are behind it for that */

/** Ways to write a value. All but the first fall back to it, for values that have another form. */
enum mold_way {
	MOLD_GENERAL, /* by a function */
	MOLD_NUMBER,  /* an integer in decimal digits */
	MOLD_QUOTED,  /* a text in quotes */
	MOLD_DOUBLED, /* a text in quotes within quotes of CSV */
	MOLD_BARE,    /* a text that is a cell of CSV */
	MOLD_TASKS,   /* MOLD_TASK */
	MOLD_PACKETS, /* MOLD_PACKET */
	MOLD_TIME,    /* MOLD_CLOCK */
	MOLD_LAST,    /* MOLD_END */
	/* if the mold is placed: */
	MOLD_LABELED, /* an enumeration whose first values have texts */
	MOLD_HEX,     /* an integer without a sign in hexadecimal digits */
	MOLD_U32,     /* MOLD_NUMBER of such places */
	MOLD_U64,
	MOLD_S32,
	MOLD_KEPT_TASKS, /* MOLD_TASKS whose text may be kept */
	/* MOLD_RUNS: around parts whose text may be kept as one */
	MOLD_RUN,
	MOLD_RUN_END,
};

/** @part: follows @len bytes of text. @way: enum mold_way. @place: of the value, if the mold is
 *  placed. @labels: of MOLD_LABELED. */
struct mold_part {
	uint32_t len;
	uint16_t part;
	uint8_t way;
	uint8_t nr_labels;
	struct plan_place place;
	struct mold_label *labels;
};

/**
 * struct mold
 * @text: all literal text; NULL: the class has none.
 * @room: for the text and its numbers.
 * @tasks: indices of the values in struct task, -1: it has none.
 * @is_placed: events need not be decoded; @task_places: then, of the values in struct task.
 * @scopes, @skipped: of its first class: then, how its events are and how they are found.
 * @form, @key: of the text that may be kept (memo.h), and where its values begin; NULL: none.
 * @nr_run, @run_len: of a run: its parts, and bytes of text within it.
 * @base: the event's first value, @noted: bytes of text that belong to parts, @given_up: it can't
 *	be made; while it is made.
 */
struct mold {
	struct mold *next;
	char *text;
	size_t room;
	int32_t tasks[3];
	struct plan_place task_places[3];
	uint32_t task_forms[3]; /* print_integer_form() */
	uint32_t nr, noted;
	const struct memo_form *form;
	struct plan_place key;
	uint32_t nr_run, run_len;
	const struct plan_pick *skipped;
	const struct ctf_type *scopes[PLAN_SCOPES];
	const struct value *base;
	bool given_up, is_placed;
	struct mold_part *parts;
};

/** Write an event; write a value. */
typedef void mold_write_fn(struct printer *printer, const struct event *event);
typedef const struct value *mold_value_fn(struct pen *pen, const struct value *value);

/** mold_of() an event that is decoded. */
const struct mold *mold_find(struct printer *printer, const struct event *event,
			     mold_write_fn *write, mold_value_fn *value);

/** mold_of() - the mold of the event's class, which is made if need be by @write. @value: as of
 *  mold_write(). NULL: it has none, or the event does not fit. */
static inline const struct mold *mold_of(struct printer *printer, const struct event *event,
					 mold_write_fn *write, mold_value_fn *value)
{
	return event->bases ? event->ec->mold : mold_find(printer, event, write, value);
}

/** The value is to be written here: note it. Return: whether a mold is being made. */
bool mold_takes(struct pen *pen, const struct value *value);
/** The same, in this way. */
bool mold_takes_way(struct pen *pen, const struct value *value, enum mold_way way);
/** The same for MOLD_TASK, MOLD_PACKET and cells. */
bool mold_takes_part(struct pen *pen, uint16_t part);
/** The way to write a value in decimal digits or in quotes; MOLD_GENERAL: it has neither.
 *  @any_base: integers are decimal whatever their base is. */
enum mold_way mold_way_of(const struct value *value, bool any_base);
/** It can't be made: the text depends on values. */
void mold_give_up(struct pen *pen);

/** Write the event; @value writes one value, NULL: as in CSV. */
void mold_write(struct printer *printer, const struct mold *mold, const struct event *event,
		mold_value_fn *value);

/** Whether events of this class are written from their bytes. */
static inline bool mold_is_placed(const struct ctf_event_class *ec)
{
	return ec->mold && ec->mold->is_placed;
}

/** Free the list. */
void mold_free(struct mold *molds);

#endif
