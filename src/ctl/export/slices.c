/* SPDX-License-Identifier: GPL-2.0-only */
#include "slices.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/calls.h"
#include "analyse/symbol/names.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/text.h"
#include "read/event.h"

#define ROWS_MOST (1u << 20)
#define OPEN_MOST (1u << 20)
#define SHOWN_FIRST (UINT64_C(1) << 30) /* of numbers that are no process's own */

/** Facts of the trace whose event was the last one. */
struct slice_source {
	const struct source *source;
	const char *host, *program; /* NULL: it is not of one process */
	bool has_vpid;
	uint64_t vpid;
};

struct slices {
	struct slice_source source;
	struct slice_row *last_row; /* of it */
	struct pairs *pairs;
	struct names *names;
	struct idmap processes, shown, rows, openings;
	struct slice_process *all_processes;
	struct slice_row *all_rows;
	struct list_node open;
	struct slice_opening *ended, *begun; /* by the last event */
	uint64_t next_shown, next_number;
	uint32_t nr_rows, nr_openings, next_mark;
	bool begins; /* the current event */
};

/* --- rows ---------------------------------------------------------------------------------- */

static void slices_set_name(char name[SLICE_NAME_BYTES], const char *text, size_t len,
			    bool *is_told)
{
	len = MIN(len, SLICE_NAME_BYTES - 1u);
	if (strlen(name) == len && memcmp(name, text, len) == 0)
		return;
	memcpy(name, text, len);
	name[len] = '\0';
	if (!text_is_utf8((const uint8_t *)name, len))
		for (size_t i = 0; i < len; i++)
			name[i] = (char)(name[i] & 0x80 ? '?' : name[i]);
	*is_told = false;
}

static void slices_add_process(struct slices *slices, struct slice_process *process, uint64_t key)
{
	process->pid = process->real_pid;
	if (process->is_cpus || idmap_find(&slices->shown, process->pid))
		process->pid = SHOWN_FIRST + slices->next_shown++;
	process->id = ++slices->next_number;
	process->next = slices->all_processes;
	slices->all_processes = process;
	idmap_add(&slices->processes, &process->node, key);
	idmap_add(&slices->shown, &process->shown_node, process->pid);
}

static struct slice_process *slices_process(struct slices *slices, const char *host, uint64_t pid,
					    bool is_cpus)
{
	uint64_t key = idmap_hash_text(host) ^ pid;
	struct slice_process *process;

	for (struct idmap_node *node = idmap_find(&slices->processes, key); node;
	     node = idmap_next(&slices->processes, node)) {
		process = container_of(node, struct slice_process, node);
		if (process->real_pid == pid && process->is_cpus == is_cpus &&
		    strcmp(process->host, host) == 0)
			return process;
	}
	process = xalloc(sizeof(*process));
	process->host = xstrdup(host);
	process->real_pid = pid;
	process->is_cpus = is_cpus;
	slices_add_process(slices, process, key);
	return process;
}

static struct slice_row *slices_row(struct slices *slices, struct slice_process *process,
				    uint64_t tid)
{
	uint64_t key = process->id << 32 ^ tid;
	struct slice_row *row;

	for (struct idmap_node *node = idmap_find(&slices->rows, key); node;
	     node = idmap_next(&slices->rows, node)) {
		row = container_of(node, struct slice_row, node);
		if (row->process == process && row->real_tid == tid)
			return row;
	}
	if (slices->nr_rows == ROWS_MOST) /* of a damaged trace */
		return slices->all_rows;
	slices->nr_rows++;
	row = xalloc(sizeof(*row));
	row->process = process;
	row->real_tid = row->tid = tid;
	if (process->pid != process->real_pid && !process->is_cpus)
		row->tid = tid == process->real_pid ? process->pid :
						      SHOWN_FIRST + slices->next_shown++;
	row->id = ++slices->next_number;
	row->next = slices->all_rows;
	slices->all_rows = row;
	idmap_add(&slices->rows, &row->node, key);
	return row;
}

static const struct slice_source *slices_source(struct slices *slices, const struct event *event)
{
	const struct ctf_trace_class *tc = event->source->tc;
	struct slice_source *source = &slices->source;
	const struct ctf_env *vpid;
	const char *host;

	if (source->source == event->source)
		return source;
	vpid = trace_class_env_find(tc, "vpid");
	host = trace_class_env(tc, "hostname");
	*source = (struct slice_source){
		.source = event->source,
		.host = host ? host : "",
		.program = trace_class_env(tc, "procname"),
		.has_vpid = vpid && !vpid->text,
		.vpid = vpid && !vpid->text ? (uint64_t)vpid->number : 0,
	};
	slices->last_row = NULL;
	return source;
}

struct slice_row *slices_cpu(struct slices *slices, const struct event *event)
{
	const char *host = slices_source(slices, event)->host;
	struct slice_process *process = slices_process(slices, host, 0, true);
	struct slice_row *row = slices_row(slices, process, event->packet->cpu);
	char name[SLICE_NAME_BYTES];
	int len = snprintf(name, sizeof(name), "CPUs %s", process->host);

	slices_set_name(process->name, name, (size_t)len, &process->is_told);
	len = snprintf(name, sizeof(name), "CPU %" PRIu64, row->real_tid);
	slices_set_name(row->name, name, (size_t)len, &row->is_told);
	return row;
}

/* The name of a process is that of its main thread, and until this is known, of the first one. */
static void slices_name_row(struct slice_row *row, const char *name, size_t len)
{
	struct slice_process *process = row->process;

	slices_set_name(row->name, name, len, &row->is_told);
	if (row->real_tid == process->real_pid || !*process->name)
		slices_set_name(process->name, name, len, &process->is_told);
}

static struct slice_row *slices_thread(struct slices *slices, const struct slice_source *source,
				       uint64_t pid, uint64_t tid)
{
	struct slice_row *row = slices->last_row;

	if (!row || row->real_tid != tid || row->process->real_pid != pid)
		row = slices_row(slices, slices_process(slices, source->host, pid, false), tid);
	slices->last_row = row;
	return row;
}

static struct slice_row *slices_row_of(struct slices *slices, const struct event *event)
{
	const struct slice_source *source = slices_source(slices, event);
	const struct task *task = &event->task;
	bool has_pid = task->pid || source->has_vpid;
	uint64_t pid = task->pid ? task->pid->u : source->vpid;
	uint64_t tid = task->tid ? task->tid->u : pid;
	struct slice_row *row;

	if (!has_pid && !task->tid)
		return slices_cpu(slices, event);
	row = slices_thread(slices, source, has_pid ? pid : tid, tid);
	if (task->procname)
		slices_name_row(row, (const char *)task->procname->bytes,
				value_text_length(task->procname));
	else if (source->program)
		slices_name_row(row, source->program, strlen(source->program));
	return row;
}

/* --- begins -------------------------------------------------------------------------------- */

/* Return: allocated; NULL: the event is none of a function, or it has no name. */
static char *slices_function(struct slices *slices, const struct event *event)
{
	struct name all[NAMES_MOST];

	if (!slices->names || !strstr(event->ec->name, "cyg_profile") ||
	    !names_find(slices->names, event, all) || !all[0].symbol.function)
		return NULL;
	return xstrdup(all[0].symbol.function);
}

static bool slices_is_keyed(const struct slices *slices, const char *name)
{
	const struct pairs_named *named;

	for (uint32_t i = 0; (named = pairs_named(slices->pairs, i)); i++)
		if (named->key && strcmp(named->begin, name) == 0)
			return true;
	return false;
}

/* Those that other rows may end, or that end in any order, are on no stack. */
static void slices_push(struct slices *slices, struct slice_opening *opening,
			const struct event *event)
{
	struct slice_row *row = opening->row;

	if (slices_is_keyed(slices, event->ec->name))
		return;
	opening->below = row->top;
	if (row->top)
		row->top->above = opening;
	row->top = opening;
}

static uint32_t slices_begin(void *priv, const struct event *event)
{
	struct slices *slices = priv;
	struct slice_opening *opening;

	slices->begins = true;
	if (slices->nr_openings == OPEN_MOST)
		return 0;
	slices->nr_openings++;
	opening = xalloc(sizeof(*opening));
	opening->row = slices_row_of(slices, event);
	opening->ns = event->ns;
	opening->function = slices_function(slices, event);
	slices->next_mark += 1 + (slices->next_mark == UINT32_MAX);
	idmap_add(&slices->openings, &opening->node, slices->next_mark);
	list_append(&slices->open, &opening->in_open);
	slices_push(slices, opening, event);
	slices->begun = opening;
	return slices->next_mark;
}

static void slices_free_opening(struct slice_opening *opening)
{
	if (!opening)
		return;
	free(opening->function);
	free(opening->note);
	free(opening->held);
	free(opening);
}

/* Return: whether it was the last one that had begun. */
static bool slices_pop(struct slice_opening *opening)
{
	struct slice_row *row = opening->row;
	bool is_top = row->top == opening;

	if (is_top)
		row->top = opening->below;
	if (opening->above)
		opening->above->below = opening->below;
	if (opening->below)
		opening->below->above = opening->above;
	return is_top;
}

static void slices_end(struct slices *slices, const struct event *event, struct slice *slice)
{
	const struct took *took = event->took;
	struct slice_opening *opening =
		took->mark ? idmap_get(&slices->openings, took->mark, struct slice_opening, node) :
			     NULL;

	slice->kind = SLICE_WHOLE;
	slice->name = took->name;
	slice->from_ns = event->ns - took->ns;
	slice->ns = (uint64_t)took->ns;
	slice->lossy = took->lossy;
	slice->crosses = true;
	slice->end_row = slice->row;
	slice->opening = opening;
	if (!opening)
		return;
	slice->crosses = !slices_pop(opening) || opening->row != slice->row;
	slice->row = opening->row;
	slice->name = opening->function ? opening->function : took->name;
	idmap_remove(&opening->node);
	list_remove(&opening->in_open);
	slices->nr_openings--;
	slices->ended = opening;
}

/* --- all of it ------------------------------------------------------------------------------ */

struct slices *slices_new(struct pairs *pairs, struct names *names)
{
	struct slices *slices = xalloc(sizeof(*slices));

	slices->pairs = pairs;
	slices->names = names;
	list_init(&slices->open);
	idmap_init(&slices->processes);
	idmap_init(&slices->shown);
	idmap_init(&slices->rows);
	idmap_init(&slices->openings);
	pairs_on_begin(pairs, slices_begin, slices);
	return slices;
}

void slices_free(struct slices *slices)
{
	struct slice_opening *opening, *next;
	struct slice_process *process;
	struct slice_row *row;

	if (!slices)
		return;
	slices_free_opening(slices->ended);
	list_for_each_safe(opening, next, &slices->open, in_open)
		slices_free_opening(opening);
	idmap_fini(&slices->openings);
	idmap_fini(&slices->rows);
	idmap_fini(&slices->shown);
	idmap_fini(&slices->processes);
	while ((row = slices->all_rows)) {
		slices->all_rows = row->next;
		free(row);
	}
	while ((process = slices->all_processes)) {
		slices->all_processes = process->next;
		free(process->host);
		free(process);
	}
	free(slices);
}

const struct list_node *slices_open(const struct slices *slices)
{
	return &slices->open;
}

/* pairs calls slices_begin() while the event is read, before it is taken. */
void slices_take(struct slices *slices, const struct event *event, struct slice *ret)
{
	slices_free_opening(slices->ended);
	slices->ended = NULL;
	*ret = (struct slice){ .row = slices_row_of(slices, event),
			       .name = event->ec->name,
			       .number = ++slices->next_number };
	if (event->took) {
		slices_end(slices, event, ret);
	} else if (slices->begins) {
		ret->kind = SLICE_BEGIN;
		ret->opening = slices->begun;
	}
	slices->begins = false;
	slices->begun = NULL;
}
