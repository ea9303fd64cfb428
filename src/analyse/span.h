/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * span.h - one row of the tables of durations: a pair of events, a call of a function, a wait for a
 * CPU, a request to a disk. Each table calls a function of its user with each row, when it ends.
 */
#ifndef ANALYSE_SPAN_H
#define ANALYSE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct source;
struct value;

/**
 * struct span - valid during the call.
 * @name: of the pair, the system call, the function, the device.
 * @from_ns, @ns: begin since 1970, and duration.
 * @procname: name of the thread, @procname_len bytes; NULL: unknown.
 * @pid, @tid: where @has_pid, @has_tid.
 * @lossy: events were lost meanwhile: the begin may be another one's.
 * @failed: it ended with an error.
 * @mark: of its user, made at the begin.
 */
struct span {
	const char *name;
	int64_t from_ns;
	uint64_t ns;
	const struct source *source;
	const char *procname;
	size_t procname_len;
	uint64_t pid, tid, cpu;
	bool has_pid, has_tid, lossy, failed;
	uint32_t mark;
};

typedef void (*span_fn)(void *priv, const struct span *span);

#define SPAN_LABEL_BYTES 256u /* of longer labels, the beginning is kept */

enum span_grouping {
	SPAN_BY_NAME,
	SPAN_BY_FIELD,
	SPAN_BY_THREAD,
	SPAN_BY_PROCESS,
	SPAN_BY_CPU,
};

/** span_set_procname() - @name: of an event; NULL, or no text: unknown. */
void span_set_procname(struct span *span, const struct value *name);

/** span_of_event() - a row of the event's thread and CPU that ends with it. @name: not copied. */
void span_of_event(struct span *ret, const struct event *event, const char *name, int64_t from_ns);

/** span_of_pair() - the row of an event with a duration (view_select.pairs). */
void span_of_pair(struct span *ret, const struct event *event);

/** span_label() - the group of a row. @grouping: not SPAN_BY_FIELD. */
void span_label(char buf[SPAN_LABEL_BYTES], const struct span *span, enum span_grouping grouping);

/** span_field_label() - the value of a field or context as a label. Return: false: the event has
 *  none of this name, or of a kind that is no label. */
bool span_field_label(char buf[SPAN_LABEL_BYTES], const struct event *event, const char *field);

#endif
