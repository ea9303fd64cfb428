/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* reader.h - struct ltt_read, the handle of ltt/read.h. Owned by the caller of the library; runs in
 * the caller's thread. */
#ifndef LIBREAD_READER_H
#define LIBREAD_READER_H

#include <ltt/read.h>

#include "base/macros.h"
#include "read/event.h"

#define READER_KEYS (LTT_READ_WHERE + 1)

struct batch;

/**
 * struct ltt_read
 * @keys: texts of the selection, by enum ltt_read_key; allocated.
 * @begun: an event was asked for. @broken: memory was exhausted: it can't be used.
 * @event: the current one, if @has_event.
 */
struct ltt_read {
	struct view *view;
	struct view_select select;
	char *keys[READER_KEYS];
	struct event event;
	struct batch *batch;
	ltt_read_report_fn report;
	void *priv;
	bool begun, has_event, broken;
	char why[512];
};

/** Run @fn for an open reader, guarded.
 *  Return: its result; -EBADF; -ENOMEM: also of a broken one. */
int reader_call(struct ltt_read *reader, int (*fn)(void *priv), void *priv) MUST_CHECK;
/** Set the sentence. Return: @error. */
int reader_fail(struct ltt_read *reader, int error, const char *fmt, ...) PRINTF(3, 4);

/** The next event. Return: as event_next(). */
int reader_step(struct ltt_read *reader) MUST_CHECK;
/** A value as the caller sees it. */
void reader_show_value(const struct value *value, struct ltt_read_value *ret);
/** The field or context of this name of the current event; NULL: there is none. */
const struct value *reader_find(const struct ltt_read *reader, const char *name);

void batch_free(struct batch *batch);

#endif
