/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slices.h - events as rows of a time line: those that begin and end something become slices, the
 * others instants; each row is a thread, or a CPU for events without one. For formats that draw
 * time lines. Owned by one exporter.
 */
#ifndef CTL_EXPORT_SLICES_H
#define CTL_EXPORT_SLICES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/idmap.h"

struct event;
struct names;
struct pairs;
struct slices;
struct slice_opening;

#define SLICE_NAME_BYTES 64u

/**
 * struct slice_process
 * @pid: as shown: another one where two hosts have the same. @is_cpus: the CPUs of a host.
 * @is_told, @id: of the format; @is_told is unset when the name has changed.
 */
struct slice_process {
	struct idmap_node node, shown_node;
	struct slice_process *next;
	char *host;
	uint64_t real_pid, pid, id;
	bool is_cpus, is_told;
	char name[SLICE_NAME_BYTES];
};

/** struct slice_row - @tid: as shown, or the CPU. @top: the begins that have not ended.
 *  @runs_since_ns: of a CPU: its thread; 0: unknown. */
struct slice_row {
	struct idmap_node node;
	struct slice_row *next;
	struct slice_process *process;
	uint64_t real_tid, tid, id;
	bool is_told;
	char name[SLICE_NAME_BYTES];
	struct slice_opening *top;
	int64_t runs_since_ns;
};

/** struct slice_opening - a begin. @note: of the format, made of the begin; @held: packets of
 *  slices in it that are not written yet. */
struct slice_opening {
	struct idmap_node node;
	struct list_node in_open; /* of all of them, in the order of time */
	struct slice_row *row;
	struct slice_opening *below, *above;
	int64_t ns;
	char *function; /* its name; NULL: it is no function, or it has none */
	char *note, *held;
	size_t note_len, held_len;
};

enum slice_kind { SLICE_INSTANT, SLICE_BEGIN, SLICE_WHOLE };

/**
 * struct slice - of one event. @row: its thread, or CPU; of a whole slice that of its begin, and
 * @end_row that of its end. @name: of the event, or of a whole slice.
 * @opening: of a begin or a whole slice; of this, NULL: unknown; valid until the next event.
 * @from_ns, @ns: of a whole slice. @crosses: it is not within the slices of its row: its begin was
 *      on another row, or another slice began in it and has not ended. @number: unique.
 */
struct slice {
	enum slice_kind kind;
	struct slice_row *row, *end_row;
	const char *name;
	struct slice_opening *opening;
	int64_t from_ns;
	uint64_t ns, number;
	bool crosses, lossy;
};

/** @pairs: that find the durations of the events. @names: NULL: functions have no names. */
struct slices *slices_new(struct pairs *pairs, struct names *names);
void slices_free(struct slices *slices);

/** slices_take() - the event is the next one in time. */
void slices_take(struct slices *slices, const struct event *event, struct slice *ret);
/** The row of the CPU of an event. */
struct slice_row *slices_cpu(struct slices *slices, const struct event *event);
/** The begins that have not ended, in the order of time: struct slice_opening.in_open. */
const struct list_node *slices_open(const struct slices *slices);

#endif
