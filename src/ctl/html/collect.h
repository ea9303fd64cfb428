/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * collect.h - collects the parts of a trace that a page shows (html.h): rows, events, spans,
 * losses. Owned by one reader. Its memory is bounded: events beyond a limit are counted in buckets
 * of time, of spans the longest are kept.
 */
#ifndef CTL_HTML_COLLECT_H
#define CTL_HTML_COLLECT_H

#include "analyse/latency.h"
#include "analyse/states.h"
#include "base/idmap.h"

#define COLLECT_EVENTS_MOST 1000000u
#define COLLECT_SPANS_MOST 400000u
#define COLLECT_ROWS_MOST 4096u
#define COLLECT_CLASSES_MOST 2048u
#define COLLECT_NAMES_MOST 1024u /* of spans */
#define COLLECT_CALLS_MOST 1024u /* names of system calls */
#define COLLECT_SLOWEST 500u
#define COLLECT_LOSSES_MOST 1000u

struct event;
struct overview_process;
struct overview_thread;
struct series_set;

enum collect_kind { COLLECT_CPU, COLLECT_PROCESS, COLLECT_THREAD };

/** struct collect_row - @parent: row of the process of a thread. @number: of CPU, process or
 *  thread. @key: the object that it stands for. @more: others beyond the limit are in it. */
struct collect_row {
	struct idmap_node node, by_number;
	const void *key;
	enum collect_kind kind;
	uint16_t parent;
	bool more;
	uint64_t number, events;
};

/** struct collect_event - @cpu: its row; COLLECT_ROWS_MOST: unknown. @number: of the event. */
struct collect_event {
	int64_t ns;
	uint64_t number;
	uint16_t row, cpu, class;
};

enum collect_state {
	COLLECT_PAIR,	  /* two events */
	COLLECT_RUNNING,  /* of a CPU: thread @name */
	COLLECT_RUNNABLE, /* a thread waits for a CPU */
	COLLECT_ASLEEP,	  /* and for another thing: in call @name; 0: unknown */
};

/** struct collect_span - @name: group of a pair; row of a thread that runs; a call. */
struct collect_span {
	int64_t from_ns;
	uint64_t ns;
	uint16_t row, name;
	uint8_t state;
	bool lossy, failed;
};

/** struct collect_loss - between these times. */
struct collect_loss {
	int64_t from_ns, to_ns;
};

/** struct collect_cell - events of a row and class in a bucket; @count: 0: free. */
struct collect_cell {
	uint64_t key;
	uint64_t count;
};

#define COLLECT_CELL(bucket, row, class) \
	((uint64_t)(row) << 48 | (uint64_t)(class) << 32 | (uint64_t)(bucket))

struct collect {
	struct collect_row *rows;
	struct collect_event *events;
	struct collect_span *spans;
	struct collect_loss losses[COLLECT_LOSSES_MOST];
	const char *classes[COLLECT_CLASSES_MOST];
	const char *calls[COLLECT_CALLS_MOST]; /* the first one is the unknown one */
	uint32_t next_event;		       /* nr_events % COLLECT_EVENTS_MOST */
	uint32_t nr_rows, nr_classes, nr_spans, nr_losses, nr_calls;
	uint64_t nr_events, left_out_spans, least_span_ns;
	int64_t first_ns, last_ns;
	struct latency *latency;
	struct series_set *series;
	/* once there are more events than COLLECT_EVENTS_MOST: all of them, in buckets of
	 * 2^bucket_bits ns, and those in the slowest spans */
	struct collect_cell *cells, *fresh;
	uint32_t nr_cells;
	unsigned int bucket_bits;
	struct collect_event *kept;
	uint32_t nr_kept;
	/* of collect.c */
	struct idmap rows_map, numbers_map, classes_map, names_map;
	struct collect_class *all_classes;
	struct collect_known *known;
	struct collect_group *groups;
	struct collect_class **recent; /* by parts of the address of their class */
	bool has_lines;
	struct states *states;
	struct collect_running *running;
	int64_t *lossy_until;
	uint32_t nr_sources;
	const struct packet *cpu_packet;
	uint64_t cpu_offset;
	uint16_t cpu_row;
};

/** @series: the lines; they are the collection's from now on. */
struct collect *collect_new(struct series_set *series);
void collect_free(struct collect *collect);

/** The event is the next one in time. @thread: its thread; NULL: unknown. */
void collect_take(struct collect *collect, const struct event *event,
		  const struct overview_thread *thread);

/** Count all events in buckets instead of keeping each. */
void collect_fold(struct collect *collect);
/** Make the buckets larger. Return: false: it has no effect. */
bool collect_coarsen(struct collect *collect);
/** The longer half of the spans. */
void collect_drop_spans(struct collect *collect);
/** Sort spans and events by time. */
void collect_sort(struct collect *collect);
/** The cells in use, by row, class and time; allocated. */
struct collect_cell *collect_cells(const struct collect *collect, uint32_t *ret_nr);

#endif
