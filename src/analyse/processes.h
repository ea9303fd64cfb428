/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * processes.h - the processes of a trace, by the contexts of all events, and by the kernel's events
 * of their begin and end and its state dump. Owned by one reader.
 */
#ifndef ANALYSE_PROCESSES_H
#define ANALYSE_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/idmap.h"

#define PROCESSES_TASKS_MOST (1u << 18) /* processes and threads */

struct event;
struct processes;
struct source;

/**
 * struct process - or, while @pid is another number than @tid, a thread.
 * @name: NULL: unknown. @parent: the thread that forked it, or the process in the state dump.
 * @begin_ns, @end_ns: when it was forked, and had ended.
 * @exit_code: that it passed to exit_group(), or 128 + @signal, which ended it.
 * @first_ns, @last_ns: of its @events, of all threads.
 * @gone: its number is another one's.
 */
struct process {
	struct idmap_node node;
	struct process *next;
	const struct source *source;
	char *name;
	uint64_t pid, tid, parent, exit_code, signal, events;
	int64_t begin_ns, end_ns, first_ns, last_ns;
	bool has_pid, has_parent, has_begin, has_end, has_exit_code, has_signal, gone;
	bool is_killed; /* SIGKILL was sent to it */
};

struct processes *processes_new(void);
void processes_free(struct processes *processes);

/** The event is the next one in time, of any name. */
void processes_take(struct processes *processes, const struct event *event);
/** Return: the process after @process; NULL: the first one, or the end. */
const struct process *processes_next(const struct processes *processes,
				     const struct process *process);
/** The number of the process that began it. Return: false: it is unknown. */
bool processes_parent(const struct processes *processes, const struct process *process,
		      uint64_t *ret);

#endif
