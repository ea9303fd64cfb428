/* SPDX-License-Identifier: GPL-2.0-only */
#include "tables.h"

#include <errno.h>
#include <string.h>

#include "analyse/calls.h"
#include "analyse/disk.h"
#include "analyse/faults.h"
#include "analyse/symbol/objects.h"
#include "analyse/overview.h"
#include "analyse/processes.h"
#include "analyse/sched.h"
#include "analyse/states.h"
#include "base/macros.h"
#include "base/mem.h"
#include "base/str.h"
#include "ctl/symbol/symbols.h"
#include "read/event.h"
#include "show/show.h"

/* Columns that all spans have; behind them are those of one table. */
enum { TS, DUR, NAME, PID, TID, PROCNAME, CPU, LOSSY, NR_SPAN };
enum { FAILED = NR_SPAN, RET, NR_CALL };
enum { REASON = NR_SPAN, UNINTERRUPTIBLE, WAKER, NR_STATE };
enum { OBJECT = NR_SPAN, DEPTH, SELF, NR_FUNCTION };
enum { ADDRESS = NR_SPAN, IP, ACCESS, PRESENT, NR_FAULT };
enum {
	LOCK_TS,
	LOCK_DUR,
	LOCK_KIND,
	LOCK_NAME,
	LOCK_PID,
	LOCK_TID,
	LOCK_PROCNAME,
	LOCK_TYPE,
	LOCK_ADDRESS,
	LOCK_FUNCTION,
	LOCK_HOLDER,
	LOCK_LOSSY,
	LOCK_WAKER,
	LOCK_TIMED_OUT,
	NR_LOCK
};

/** The filling of a table by a reading of the trace. @analysis: that makes the rows; or NULL. */
struct query_filling {
	struct query *query;
	struct query_rows *rows;
	void *analysis;
	int error;
};

static void query_set_integer(struct query_cell *cell, uint64_t value, bool has)
{
	cell->type = has ? QUERY_INTEGER : QUERY_NULL;
	cell->integer = (int64_t)value;
}

static void query_set_text(struct query_cell *cell, const char *text, size_t len)
{
	*cell = (struct query_cell){ .text = text, .len = (uint32_t)len, .type = QUERY_TEXT };
}

/* @text: NULL: unknown. */
static void query_set_string(struct query_cell *cell, const char *text)
{
	if (text)
		query_set_text(cell, text, strlen(text));
}

static void query_add_cells(struct query_filling *filling, const struct query_cell *cells)
{
	if (!filling->error)
		filling->error = query_rows_add(filling->rows, cells);
}

static void query_set_span(struct query_cell cells[NR_SPAN], const struct span *span)
{
	query_set_integer(&cells[TS], (uint64_t)span->from_ns, true);
	query_set_integer(&cells[DUR], span->ns, true);
	query_set_text(&cells[NAME], span->name, strlen(span->name));
	query_set_integer(&cells[PID], span->pid, span->has_pid);
	query_set_integer(&cells[TID], span->tid, span->has_tid);
	if (span->procname)
		query_set_text(&cells[PROCNAME], span->procname, span->procname_len);
	query_set_integer(&cells[CPU], span->cpu, true);
	query_set_integer(&cells[LOSSY], span->lossy, true);
}

static void query_add_span(struct query_filling *filling, const struct span *span,
			   const struct value *ret)
{
	struct query_cell cells[NR_CALL] = { 0 };

	query_set_span(cells, span);
	query_set_integer(&cells[FAILED], span->failed, true);
	query_set_integer(&cells[RET], ret ? ret->u : 0, ret);
	query_add_cells(filling, cells);
}

/* --- readings ------------------------------------------------------------------------------ */

typedef void (*query_event_fn)(struct query_filling *filling, const struct event *event);
typedef void (*query_end_fn)(struct query_filling *filling);

/* @end: after the last event, while the view is there; or NULL. */
static int query_read_all(struct query_filling *filling, const struct view_select *select,
			  query_event_fn fn, query_end_fn end, struct err *err)
{
	struct query *query = filling->query;
	struct event event;
	struct view *view;
	int r;

	query->reads++;
	if (show_open(query->path, false, NULL, NULL, &view, err) != 0)
		return err->code;
	while ((r = event_next(view, select, &event)) > 0 && !filling->error && !query->interrupted)
		fn(filling, &event);
	if (end && r == 0)
		end(filling);
	query_note_view(query, view);
	view_free(view);
	if (filling->error || r < 0)
		return err_set(err, filling->error ? ERR_NO_MEMORY : ERR_OUTPUT,
			       "the trace can't be read");
	query_rows_sort(filling->rows, TS);
	return 0;
}

static void query_take_pair(struct query_filling *filling, const struct event *event)
{
	struct span span;

	if (!event->took || event->took->kind == PAIRS_CALL)
		return;
	span_of_pair(&span, event);
	query_add_span(filling, &span, NULL);
}

static void query_take_call(struct query_filling *filling, const struct event *event)
{
	struct span span;

	if (!event->took || event->took->kind != PAIRS_CALL)
		return;
	span_of_pair(&span, event);
	query_add_span(filling, &span, value_member(event->fields, "ret"));
}

static int query_fill_spans(struct query *query, struct query_rows *rows, struct err *err)
{
	struct query_filling filling = { .query = query, .rows = rows };
	struct pairs *pairs = pairs_new(NULL, NULL, 0);
	const struct view_select select = { .pairs = pairs, .names = PAIRS_SUFFIX_EVENTS };
	int rc;

	pairs_by_suffix(pairs, NULL);
	rc = query_read_all(&filling, &select, query_take_pair, NULL, err);
	pairs_free(pairs);
	return rc;
}

static int query_fill_syscalls(struct query *query, struct query_rows *rows, struct err *err)
{
	struct query_filling filling = { .query = query, .rows = rows };
	struct pairs *pairs = pairs_new(NULL, NULL, 0);
	const struct view_select select = { .pairs = pairs, .names = PAIRS_CALL_EVENTS };
	int rc = query_read_all(&filling, &select, query_take_call, NULL, err);

	pairs_free(pairs);
	return rc;
}

static void query_take_span(void *priv, const struct span *span)
{
	query_add_span(priv, span, NULL);
}

static void query_take_disk(struct query_filling *filling, const struct event *event)
{
	disk_take(filling->analysis, event);
}

static int query_fill_disk(struct query *query, struct query_rows *rows, struct err *err)
{
	const struct view_select select = { .names = DISK_EVENTS };
	struct query_filling filling = { .query = query, .rows = rows };
	struct disk *disk = disk_new(query_take_span, &filling);
	int rc;

	filling.analysis = disk;
	rc = query_read_all(&filling, &select, query_take_disk, NULL, err);
	disk_free(disk);
	return rc;
}

/* --- threads ------------------------------------------------------------------------------ */

static void query_take_sched(struct query_filling *filling, const struct event *event)
{
	states_take(filling->analysis, event);
}

static int query_fill_states(struct query *query, struct query_rows *rows, const char *names,
			     states_fn fn, struct err *err)
{
	const struct view_select select = { .names = names };
	struct query_filling filling = { .query = query, .rows = rows };
	struct states *states = states_new(fn, &filling);
	int rc;

	filling.analysis = states;
	rc = query_read_all(&filling, &select, query_take_sched, NULL, err);
	states_free(states);
	return rc;
}

static void query_take_wait(void *priv, const struct states_row *row)
{
	struct span span = row->span;

	span.name = "run-queue";
	if (row->state == STATES_RUNNABLE)
		query_add_span(priv, &span, NULL);
}

static int query_fill_run_queue(struct query *query, struct query_rows *rows, struct err *err)
{
	return query_fill_states(query, rows, SCHED_EVENTS, query_take_wait, err);
}

static void query_take_state(void *priv, const struct states_row *row)
{
	struct query_cell cells[NR_STATE] = { 0 };

	query_set_span(cells, &row->span);
	query_set_string(&cells[REASON], row->call);
	query_set_integer(&cells[UNINTERRUPTIBLE], row->uninterruptible,
			  row->state == STATES_BLOCKED);
	query_set_integer(&cells[WAKER], row->waker, row->has_waker);
	query_add_cells(priv, cells);
}

static int query_fill_sched(struct query *query, struct query_rows *rows, struct err *err)
{
	return query_fill_states(query, rows, SCHED_EVENTS "," PAIRS_CALL_EVENTS, query_take_state,
				 err);
}

static void query_take_fault(struct query_filling *filling, const struct event *event)
{
	struct query_cell cells[NR_FAULT] = { 0 };
	struct fault fault;
	struct span span;

	if (!fault_of(&fault, event))
		return;
	span_of_event(&span, event, fault.mode, event->ns);
	query_set_span(cells, &span);
	query_set_integer(&cells[ADDRESS], fault.address, true);
	query_set_integer(&cells[IP], fault.ip, true);
	query_set_string(&cells[ACCESS], fault.access);
	query_set_integer(&cells[PRESENT], fault.present, fault.access);
	cells[DUR] = cells[TS]; /* there is none: the row begins behind it */
	query_add_cells(filling, &cells[DUR]);
}

static int query_fill_faults(struct query *query, struct query_rows *rows, struct err *err)
{
	struct query_filling filling = { .query = query, .rows = rows };
	const struct view_select select = { .names = FAULTS_EVENTS };

	return query_read_all(&filling, &select, query_take_fault, NULL, err);
}

/* --- processes ------------------------------------------------------------------------------ */

static void query_take_process(struct query_filling *filling, const struct event *event)
{
	processes_take(filling->analysis, event);
}

static void query_add_process(struct query_filling *filling, const struct process *process)
{
	enum {
		ID,
		PARENT,
		COMM,
		BEGIN,
		END,
		EXIT_CODE,
		SIGNAL,
		FIRST,
		LAST,
		NUMBER,
		SOURCE,
		NR_PROCESS
	};
	struct query_cell cells[NR_PROCESS] = { 0 };
	uint64_t parent;
	bool has_parent = processes_parent(filling->analysis, process, &parent);

	query_set_integer(&cells[ID], process->pid, true);
	query_set_integer(&cells[PARENT], parent, has_parent);
	query_set_string(&cells[COMM], process->name);
	query_set_integer(&cells[BEGIN], (uint64_t)process->begin_ns, process->has_begin);
	query_set_integer(&cells[END], (uint64_t)process->end_ns, process->has_end);
	query_set_integer(&cells[EXIT_CODE], process->exit_code, process->has_exit_code);
	query_set_integer(&cells[SIGNAL], process->signal, process->has_signal);
	query_set_integer(&cells[FIRST], (uint64_t)process->first_ns, process->events);
	query_set_integer(&cells[LAST], (uint64_t)process->last_ns, process->events);
	query_set_integer(&cells[NUMBER], process->events, true);
	query_set_string(&cells[SOURCE], process->source->label);
	query_add_cells(filling, cells);
}

static void query_end_processes(struct query_filling *filling)
{
	const struct process *process = NULL;

	while ((process = processes_next(filling->analysis, process)))
		query_add_process(filling, process);
}

static int query_fill_processes(struct query *query, struct query_rows *rows, struct err *err)
{
	struct query_filling filling = { .query = query, .rows = rows };
	const struct view_select select = { 0 };
	struct processes *processes = processes_new();
	int rc;

	filling.analysis = processes;
	rc = query_read_all(&filling, &select, query_take_process, query_end_processes, err);
	processes_free(processes);
	return rc;
}

/* --- functions and locks -------------------------------------------------------------------- */

/* Names are those of this machine's files, and of the trace. */
static struct view_host query_host(struct query *query)
{
	static const struct show_options none;

	if (!query->symbols)
		query->symbols = symbols_new(&none, query->path);
	return (struct view_host){ .name = symbols_name, .names_priv = query->symbols };
}

static void query_take_function_event(struct query_filling *filling, const struct event *event)
{
	calls_take(filling->analysis, event);
}

static void query_take_function(void *priv, const struct calls_call *call)
{
	struct query_cell cells[NR_FUNCTION] = { 0 };

	query_set_span(cells, &call->span);
	query_set_string(&cells[OBJECT], call->function->object);
	query_set_integer(&cells[DEPTH], call->depth, true);
	query_set_integer(&cells[SELF], call->self_ns, true);
	query_add_cells(priv, cells);
}

static int query_fill_functions(struct query *query, struct query_rows *rows, struct err *err)
{
	struct query_filling filling = { .query = query, .rows = rows };
	const struct view_select select = { .names = CALLS_EVENTS };
	const struct view_host host = query_host(query);
	struct objects *objects;
	struct calls *calls;
	int rc;

	query->reads++;
	if (show_objects(query->path, false, &objects, err) != 0)
		return err->code;
	filling.analysis = calls = calls_new(objects, &host);
	calls_on_return(calls, query_take_function, &filling);
	rc = query_read_all(&filling, &select, query_take_function_event, NULL, err);
	calls_free(calls);
	objects_free(objects);
	return rc;
}

/** @place: of the variable; NULL: unknown. */
struct query_lock {
	struct callsite *place;
	const char *type;
	uint64_t address;
};

static struct query_lock query_lock_of(const struct locks_mutex *mutex)
{
	return (struct query_lock){ mutex->place, locks_kind_name(mutex->kind), mutex->address };
}

/* @chain: of the call that locked; NULL: unknown. */
static void query_set_lock(const struct query_filling *filling, struct query_cell cells[NR_LOCK],
			   const struct query_lock *lock, const struct overview_thread *thread,
			   const struct callchain *chain)
{
	struct callsites *sites = ((const struct overview *)filling->analysis)->callsites;
	const char *name = lock->place ? callsites_label(sites, lock->place, false) : NULL;

	query_set_string(&cells[LOCK_NAME], name);
	query_set_string(&cells[LOCK_TYPE], lock->type);
	query_set_integer(&cells[LOCK_ADDRESS], lock->address, true);
	query_set_string(&cells[LOCK_FUNCTION],
			 chain ? callsites_label(sites, chain->place, true) : NULL);
	query_set_integer(&cells[LOCK_PID], thread->process->pid, thread->process->has_pid);
	query_set_integer(&cells[LOCK_TID], thread->tid, true);
	query_set_string(&cells[LOCK_PROCNAME], *thread->name ? thread->name : NULL);
}

static void query_take_lock_wait(void *priv, const struct locks_wait *wait)
{
	struct query_cell cells[NR_LOCK] = { 0 };
	const struct overview_thread *holder = wait->holder.thread;
	const struct query_lock lock = query_lock_of(wait->mutex);

	query_set_lock(priv, cells, &lock, wait->thread, wait->chain);
	query_set_string(&cells[LOCK_KIND], "wait");
	query_set_integer(&cells[LOCK_TS], (uint64_t)wait->from_ns, true);
	query_set_integer(&cells[LOCK_DUR], wait->ns, true);
	query_set_integer(&cells[LOCK_HOLDER], holder ? holder->tid : 0, holder);
	query_set_integer(&cells[LOCK_LOSSY], wait->lossy, true);
	query_add_cells(priv, cells);
}

static void query_take_lock_hold(void *priv, const struct locks_mutex *mutex,
				 const struct locks_hold *hold)
{
	struct query_cell cells[NR_LOCK] = { 0 };
	const struct query_lock lock = query_lock_of(mutex);

	query_set_lock(priv, cells, &lock, hold->thread, hold->chain);
	query_set_string(&cells[LOCK_KIND], hold->shared ? "shared hold" : "hold");
	query_set_integer(&cells[LOCK_TS], (uint64_t)hold->from_ns, true);
	query_set_integer(&cells[LOCK_DUR], hold->ns, true);
	query_set_integer(&cells[LOCK_LOSSY], hold->uncertain, true);
	query_add_cells(priv, cells);
}

static void query_take_wake(void *priv, const struct wakes_wait *wait)
{
	struct query_filling *filling = priv;
	struct query_cell cells[NR_LOCK] = { 0 };
	const struct wakes_object *object = wait->object;
	const struct query_lock lock = { object->place, wakes_kind_name(object->kind),
					 object->address };

	query_set_lock(filling, cells, &lock, wait->thread, wait->chain);
	query_set_string(&cells[LOCK_KIND], "wait");
	query_set_integer(&cells[LOCK_TS], (uint64_t)wait->from_ns, true);
	query_set_integer(&cells[LOCK_DUR], event_ns_between(wait->from_ns, wait->to_ns), true);
	query_set_integer(&cells[LOCK_LOSSY], wait->lossy, true);
	query_set_integer(&cells[LOCK_WAKER], wait->waker ? wait->waker->tid : 0, wait->waker);
	query_set_integer(&cells[LOCK_TIMED_OUT], wait->timed_out, true);
	query_add_cells(filling, cells);
}

static void query_take_lock_event(struct query_filling *filling, const struct event *event)
{
	overview_take(filling->analysis, event);
}

static void query_end_locks(struct query_filling *filling)
{
	wakes_end(((const struct overview *)filling->analysis)->wakes);
}

static int query_fill_locks(struct query *query, struct query_rows *rows, struct err *err)
{
	struct query_filling filling = { .query = query, .rows = rows };
	const struct locks_watch watch = { query_take_lock_wait, query_take_lock_hold, &filling };
	const struct view_select select = { .names = LOCKS_EVENTS };
	const struct view_host host = query_host(query);
	struct overview *overview;
	struct objects *objects;
	int rc;

	query->reads++;
	if (show_objects(query->path, false, &objects, err) != 0)
		return err->code;
	filling.analysis = overview = overview_new(objects, &host, NULL, 1);
	overview->locks->watch = &watch;
	overview->wakes = wakes_new(overview->callsites, query_take_wake, &filling);
	rc = query_read_all(&filling, &select, query_take_lock_event, query_end_locks, err);
	overview_free(overview);
	objects_free(objects);
	return rc;
}

/* --- streams ------------------------------------------------------------------------------- */

enum { TRACE, STREAM, EVENTS, PACKETS, BYTES, LOST, NR_STREAM };

static int query_add_stream(struct query_rows *rows, const struct view_stream *stream)
{
	struct query_cell cells[NR_STREAM] = { 0 };
	uint64_t lost = 0;

	for (int cause = 0; cause < VIEW_NR_LOST; cause++)
		lost += stream->lost[cause];
	query_set_text(&cells[TRACE], stream->trace, strlen(stream->trace));
	query_set_text(&cells[STREAM], stream->name, strlen(stream->name));
	query_set_integer(&cells[EVENTS], stream->events, true);
	query_set_integer(&cells[PACKETS], stream->packets, true);
	query_set_integer(&cells[BYTES], stream->bytes, true);
	query_set_integer(&cells[LOST], lost, true);
	return query_rows_add(rows, cells);
}

static int query_add_losses(struct query_rows *rows, const struct view_stream *stream)
{
	struct query_cell cells[EVENTS + 2] = { 0 };
	int rc = 0;

	query_set_text(&cells[TRACE], stream->trace, strlen(stream->trace));
	query_set_text(&cells[STREAM], stream->name, strlen(stream->name));
	for (int cause = 0; cause < VIEW_NR_LOST && rc == 0; cause++) {
		const char *name = view_lost_key((enum view_lost)cause);

		if (!stream->lost[cause])
			continue;
		query_set_text(&cells[EVENTS], name, strlen(name));
		query_set_integer(&cells[EVENTS + 1], stream->lost[cause], true);
		rc = query_rows_add(rows, cells);
	}
	return rc;
}

typedef int (*query_stream_fn)(struct query_rows *rows, const struct view_stream *stream);

static int query_fill_by_stream(struct query *query, struct query_rows *rows, query_stream_fn fn,
				struct err *err)
{
	const struct view_summary *sum;
	struct view *view;
	int rc;

	query->reads++;
	if (show_open(query->path, false, NULL, NULL, &view, err) != 0)
		return err->code;
	rc = view_scan(view, NULL);
	if (rc == 0)
		rc = view_summary(view, &sum);
	for (size_t i = 0; rc == 0 && i < sum->nr_streams; i++)
		rc = fn(rows, &sum->streams[i]);
	query_note_view(query, view);
	view_free(view);
	if (rc == 0)
		return 0;
	return err_set(err, rc == -ENOMEM ? ERR_NO_MEMORY : ERR_OUTPUT, "the trace can't be read");
}

static int query_fill_streams(struct query *query, struct query_rows *rows, struct err *err)
{
	return query_fill_by_stream(query, rows, query_add_stream, err);
}

static int query_fill_losses(struct query *query, struct query_rows *rows, struct err *err)
{
	return query_fill_by_stream(query, rows, query_add_losses, err);
}

/* --- the tables ---------------------------------------------------------------------------- */

/* Each of these has the columns of enum, above. */
#define THREAD_COLUMNS "pid,tid,procname,cpu,lossy"
#define SPAN_COLUMNS "ts,dur,name," THREAD_COLUMNS

/** @events: of which it is made; NULL: all. @missing: how they are recorded. */
static const struct {
	const char *name;
	query_fill_fn fill;
	const char *columns, *events, *missing;
} analyses[] = {
	{ "spans", query_fill_spans, SPAN_COLUMNS ",failed", NULL, NULL },
	{ "syscalls", query_fill_syscalls, SPAN_COLUMNS ",failed,ret", PAIRS_CALL_EVENTS,
	  "'lttctl record -k -- PROGRAM' records system calls" },
	{ "functions", query_fill_functions, SPAN_COLUMNS ",object,depth,self", CALLS_EVENTS,
	  "compile the program with -finstrument-functions and use lttctl record "
	  "--wrap=cyg-profile" },
	{ "sched", query_fill_sched, "ts,dur,state," THREAD_COLUMNS ",reason,uninterruptible,waker",
	  SCHED_EVENTS, "'lttctl record -k -- PROGRAM' records the scheduler" },
	{ "run_queue", query_fill_run_queue, SPAN_COLUMNS ",failed", SCHED_EVENTS,
	  "'lttctl record -k -- PROGRAM' records the scheduler" },
	{ "disk", query_fill_disk, SPAN_COLUMNS ",failed", DISK_EVENTS,
	  "'lttctl record -k -e \"block_rq_*\" -- PROGRAM' records requests" },
	{ "faults", query_fill_faults, "ts,mode," THREAD_COLUMNS ",address,ip,access,present",
	  FAULTS_EVENTS, "'lttctl record -k -e \"page_fault_*\" -- PROGRAM' records page faults" },
	{ "locks", query_fill_locks,
	  "ts,dur,kind,name,pid,tid,procname,type,address,function,holder,lossy,"
	  "waker,timed_out",
	  LOCKS_EVENTS, "'lttctl record --wrap=pthread -- PROGRAM' records locks" },
	{ "processes", query_fill_processes,
	  "pid,ppid,name,begin,end,exit_code,signal,first,last,events,trace", NULL, NULL },
	{ "streams", query_fill_streams, "trace,stream,events,packets,bytes,lost", NULL, NULL },
	{ "losses", query_fill_losses, "trace,stream,cause,events", NULL, NULL },
};

static void query_add_column(struct query_table *table, const char *name, size_t len)
{
	static const char texts[] = "name,procname,trace,stream,cause,state,reason,object,mode,"
				    "access,kind,type,function";
	char *word AUTO_FREE = xasprintf("%.*s", (int)len, name);
	enum query_cell_type type = glob_match_list(texts, word) ? QUERY_TEXT : QUERY_INTEGER;

	query_table_column(table, word, type, strcmp(word, "ts") ? QUERY_FIELD : QUERY_TS, NULL);
}

void query_analyses_add(struct query *query, const struct view *view)
{
	for (size_t i = 0; i < ARRAY_SIZE(analyses); i++) {
		struct query_table *table = query_table_add(query, analyses[i].name);
		const char *at = analyses[i].columns;

		table->fill = analyses[i].fill;
		if (analyses[i].events && !view_declares(view, analyses[i].events))
			table->missing = analyses[i].missing;
		while (*at) {
			size_t len = strcspn(at, ",");

			query_add_column(table, at, len);
			at += len + (at[len] == ',');
		}
	}
}
