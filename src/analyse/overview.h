/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * overview.h - one pass over the events of a trace: its processes, threads and CPUs, the longest
 * time without an event, locks and allocations. Owned by one reader. Its memory is bounded, as the
 * trace may be damaged.
 */
#ifndef ANALYSE_OVERVIEW_H
#define ANALYSE_OVERVIEW_H

#include <stdbool.h>

#include "base/idmap.h"
#include "allocations.h"
#include "callsites.h"
#include "locks.h"
#include "read/task.h"
#include "waits.h"
#include "wakes.h"

#define OVERVIEW_TASKS_MOST (1u << 16) /* processes, and threads */
#define OVERVIEW_CPUS_MOST 4096u

struct ctf_event_class;
struct event;
struct packet;
struct source;
struct value;
struct view;

#define OVERVIEW_LATEST 32u
#define OVERVIEW_TASK_BYTES 40u

/** struct overview_process - @name: of its main thread, or in its state dump, or of the first
 *  thread. @namer: the thread whose name it has; NULL: it is another one. */
struct overview_process {
	struct idmap_node node;
	struct overview_process *next;
	const struct source *source;
	char *name;
	uint64_t pid, events;
	uint32_t nr_threads;
	bool has_pid, has_own_name;
	const struct overview_thread *namer;
};

/** struct overview_thread - @latest: the name in its latest event; @nr_latest: bytes of it, 0: it
 *  was none, or longer. @task: bytes of its latest event (event_task_bytes()); @nr_task: 0: not
 *  known. @layout: of these bytes. @chosen: its latest event is one of those that the user wants.
 *  @waits_in: the call of its latest wait for a condition. @waits_for: of wakes.c; or NULL.
 *  @last_ns: the time of its latest event. */
struct overview_thread {
	struct idmap_node node;
	struct overview_thread *next;
	struct overview_process *process;
	char *name;
	uint8_t latest[OVERVIEW_LATEST];
	uint32_t nr_latest, nr_task;
	uint8_t task[OVERVIEW_TASK_BYTES];
	uint64_t layout, tid, events;
	int64_t last_ns;
	bool chosen;
	struct locks_request request;
	const struct callchain *waits_in;
	struct waits_begun waits[WAITS_NR_KINDS];
	struct wakes_wait *waits_for;
};

/** struct overview_name - events of a name. */
struct overview_name {
	const char *name;
	uint64_t events;
};

/** An event at one end of a gap. @thread: NULL: unknown. */
struct overview_end {
	const struct ctf_event_class *ec;
	const struct overview_thread *thread;
};

/**
 * struct overview - state dumps are not among the events, nor are threads that are not chosen:
 * these hold mutexes and free memory of others.
 * @events, @state_dump: events. @first_ns, @last_ns: of the events.
 * @gap_ns: the longest time without an event, from @gap_from_ns on.
 * @no_thread: events without a thread; @left_out: of those beyond OVERVIEW_TASKS_MOST.
 * @wakes: of the user; or NULL.
 * @chosen_threads: patterns; NULL: all. @names: of the processes seen, for these.
 */
struct overview {
	uint64_t events, state_dump, no_thread, left_out;
	int64_t first_ns, last_ns, gap_from_ns;
	uint64_t gap_ns;
	struct overview_end gap_before, gap_behind, last;
	struct overview_process *processes;
	struct overview_thread *threads;
	uint32_t nr_processes, nr_threads, nr_cpus;
	struct locks *locks;
	struct waits *waits;
	struct wakes *wakes;
	struct allocations *allocations;
	struct callsites *callsites;
	/* of overview.c */
	const char *chosen_threads;
	struct task_names names;
	struct idmap processes_map, threads_map, classes_map;
	struct overview_class *classes;
	struct overview_recent *recent;
	struct overview_packet *packets;
	/* of the next event of overview_take(); @nr_task: 0: none */
	uint8_t task[OVERVIEW_TASK_BYTES];
	uint32_t nr_task;
	uint64_t cpus[OVERVIEW_CPUS_MOST / 64];
};

/** @objects, @host: to name addresses; they outlive the overview; NULL: there are no objects.
 *  @threads: as in view_select, but holders of mutexes and frees of memory are of all threads.
 *  @most_waits: that are kept. */
struct overview *overview_new(struct objects *objects, const struct view_host *host,
			      const char *threads, uint32_t most_waits);
void overview_free(struct overview *overview);

/** Whether overview_take() uses the fields of events of this name (view_select.needs_fields). */
bool overview_needs_fields(const char *name);
/** Whether a trace of the view declares events whose addresses are named by the objects. */
bool overview_needs_objects(const struct view *view);

/**
 * overview_take_known() - the next event in time, which is not decoded.
 * @task: event_task_bytes(); or NULL.
 * Return: whether it was taken: its fields are not used, and the latest event of its thread has the
 * same bytes. If not, it is to be decoded for overview_take().
 */
bool overview_take_known(struct overview *overview, const struct event *event, const uint8_t *task,
			 size_t len);

/** The event is the next one in time. */
void overview_take(struct overview *overview, const struct event *event);
/** After the last event. */
void overview_finish(struct overview *overview);
/** The names of events, processes and threads with events, sorted by their number; allocated. */
struct overview_name *overview_names(const struct overview *overview, size_t *ret_nr);
const struct overview_process **overview_busiest_processes(const struct overview *overview,
							   size_t *ret_nr);
const struct overview_thread **overview_busiest_threads(const struct overview *overview,
							size_t *ret_nr);

#endif
