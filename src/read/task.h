/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * task.h - the process and thread of an event, according to its contexts, and the selection of
 * events by them. Owned by a view.
 */
#ifndef READ_TASK_H
#define READ_TASK_H

#include "base/idmap.h"
#include "base/macros.h"
#include "read/decode/value.h"

struct event;
struct task_process;

/**
 * struct task - contexts of an event, in struct values; NULL: it has no such context.
 * @pid, @tid: the numbers of the initial namespace if the event has them, else those of the
 *             process's own.
 */
struct task {
	const struct value *procname;
	const struct value *pid;
	const struct value *tid;
};

/** Find the contexts among the values from @at to @end, which are those of an event. */
void task_find(struct task *ret, const struct value *at, const struct value *end);

static inline bool task_has(const struct task *task, const struct value *value)
{
	return value == task->procname || value == task->pid || value == task->tid;
}

/** The processes that were seen, by trace and number; @nr_unknown: events without such contexts. */
struct task_names {
	struct idmap map; /* there is one if @processes is not NULL */
	struct task_process *processes;
	uint64_t nr_unknown;
};

void task_names_fini(struct task_names *names);

/**
 * task_is_selected() - whether an event is of a selected process and thread.
 * @processes, @threads: lists of patterns, which names or decimal numbers match; NULL: all.
 *
 * The name of a process is that of its main thread, or the one in its state dump; before either was
 * seen, that of the thread that was seen first. All events have to be passed, oldest first.
 */
bool task_is_selected(struct task_names *names, const struct event *event, const char *processes,
		      const char *threads);

#endif
