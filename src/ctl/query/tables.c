/* SPDX-License-Identifier: GPL-2.0-only */
#include "tables.h"

#include <errno.h>
#include <string.h>

#include "analyse/disk.h"
#include "analyse/runqueue.h"
#include "analyse/sched.h"
#include "base/macros.h"
#include "base/mem.h"
#include "read/event.h"
#include "show/show.h"

enum { TS, DUR, NAME, PID, TID, PROCNAME, CPU, LOSSY, FAILED, RET, NR_SPAN };

struct query_filling {
	struct query_rows *rows;
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

static void query_add_span(struct query_filling *filling, const struct span *span,
			   const struct value *ret)
{
	struct query_cell cells[NR_SPAN] = { 0 };
	const struct value *procname = span->procname;

	query_set_integer(&cells[TS], (uint64_t)span->from_ns, true);
	query_set_integer(&cells[DUR], span->ns, true);
	query_set_text(&cells[NAME], span->name, strlen(span->name));
	query_set_integer(&cells[PID], span->pid, span->has_pid);
	query_set_integer(&cells[TID], span->tid, span->has_tid);
	if (procname)
		query_set_text(&cells[PROCNAME], (const char *)procname->bytes,
			       value_text_length(procname));
	query_set_integer(&cells[CPU], span->cpu, true);
	query_set_integer(&cells[LOSSY], span->lossy, true);
	query_set_integer(&cells[FAILED], span->failed, true);
	query_set_integer(&cells[RET], ret ? ret->u : 0, ret);
	if (!filling->error)
		filling->error = query_rows_add(filling->rows, cells);
}

static void query_take_span(void *priv, const struct span *span)
{
	query_add_span(priv, span, NULL);
}

/* --- readings ------------------------------------------------------------------------------ */

typedef void (*query_event_fn)(void *priv, struct query_filling *filling,
			       const struct event *event);

static int query_read_all(struct query *query, const struct view_select *select, query_event_fn fn,
			  void *priv, struct query_rows *rows, struct err *err)
{
	struct query_filling filling = { .rows = rows };
	struct event event;
	struct view *view;
	int r;

	query->reads++;
	if (show_open(query->path, false, NULL, NULL, &view, err) != 0)
		return err->code;
	while ((r = event_next(view, select, &event)) > 0 && !filling.error && !query->interrupted)
		fn(priv, &filling, &event);
	query_note_view(query, view);
	view_free(view);
	if (filling.error || r < 0)
		return err_set(err, filling.error ? ERR_NO_MEMORY : ERR_OUTPUT,
			       "the trace can't be read");
	query_rows_sort(rows, TS);
	return 0;
}

static void query_take_pair(void *priv, struct query_filling *filling, const struct event *event)
{
	bool calls = *(const bool *)priv;
	struct span span;

	if (!event->took || (event->took->kind == PAIRS_CALL) != calls)
		return;
	span_of_pair(&span, event);
	query_add_span(filling, &span, calls ? value_member(event->fields, "ret") : NULL);
}

static int query_fill_pairs(struct query *query, struct query_rows *rows, bool calls,
			    struct err *err)
{
	struct pairs *pairs = pairs_new(NULL, NULL, 0);
	const struct view_select select = { .pairs = pairs,
					    .names = calls ? PAIRS_CALL_EVENTS :
							     PAIRS_SUFFIX_EVENTS };
	int rc;

	if (!calls)
		pairs_by_suffix(pairs, NULL);
	rc = query_read_all(query, &select, query_take_pair, &calls, rows, err);
	pairs_free(pairs);
	return rc;
}

static int query_fill_spans(struct query *query, struct query_rows *rows, struct err *err)
{
	return query_fill_pairs(query, rows, false, err);
}

static int query_fill_syscalls(struct query *query, struct query_rows *rows, struct err *err)
{
	return query_fill_pairs(query, rows, true, err);
}

static void query_take_sched(void *priv, struct query_filling *filling, const struct event *event)
{
	(void)filling;
	runqueue_take(priv, event);
}

static int query_fill_run_queue(struct query *query, struct query_rows *rows, struct err *err)
{
	const struct view_select select = { .names = SCHED_EVENTS };
	struct query_filling filling = { .rows = rows };
	struct runqueue *runqueue = runqueue_new(query_take_span, &filling);
	int rc = query_read_all(query, &select, query_take_sched, runqueue, rows, err);

	runqueue_free(runqueue);
	return filling.error ? err_set(err, ERR_NO_MEMORY, "no memory") : rc;
}

static void query_take_disk(void *priv, struct query_filling *filling, const struct event *event)
{
	(void)filling;
	disk_take(priv, event);
}

static int query_fill_disk(struct query *query, struct query_rows *rows, struct err *err)
{
	const struct view_select select = { .names = DISK_EVENTS };
	struct query_filling filling = { .rows = rows };
	struct disk *disk = disk_new(query_take_span, &filling);
	int rc = query_read_all(query, &select, query_take_disk, disk, rows, err);

	disk_free(disk);
	return filling.error ? err_set(err, ERR_NO_MEMORY, "no memory") : rc;
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

#define SPAN_COLUMNS "ts,dur,name,pid,tid,procname,cpu,lossy,failed"

static const struct {
	const char *name;
	query_fill_fn fill;
	const char *columns;
} analyses[] = {
	{ "spans", query_fill_spans, SPAN_COLUMNS },
	{ "syscalls", query_fill_syscalls, SPAN_COLUMNS ",ret" },
	{ "run_queue", query_fill_run_queue, SPAN_COLUMNS },
	{ "disk", query_fill_disk, SPAN_COLUMNS },
	{ "streams", query_fill_streams, "trace,stream,events,packets,bytes,lost" },
	{ "losses", query_fill_losses, "trace,stream,cause,events" },
};

static void query_add_column(struct query_table *table, const char *name, size_t len)
{
	static const char *const texts[] = { "name", "procname", "trace", "stream", "cause" };
	char *word AUTO_FREE = xasprintf("%.*s", (int)len, name);
	enum query_cell_type type = QUERY_INTEGER;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (strcmp(word, texts[i]) == 0)
			type = QUERY_TEXT;
	query_table_column(table, word, type, strcmp(word, "ts") ? QUERY_FIELD : QUERY_TS, NULL);
}

void query_analyses_add(struct query *query)
{
	for (size_t i = 0; i < ARRAY_SIZE(analyses); i++) {
		struct query_table *table = query_table_add(query, analyses[i].name);
		const char *at = analyses[i].columns;

		table->fill = analyses[i].fill;
		while (*at) {
			size_t len = strcspn(at, ",");

			query_add_column(table, at, len);
			at += len + (at[len] == ',');
		}
	}
}
