/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * chrome.c - JSON of the "Trace Event Format" (docs.google.com/document/d/1CvAClvFfyA5R-
 * PhYUmn5OOQtYMH4h6I0nSsKchNAySU), which Chrome, Perfetto and speedscope open. Times are
 * microseconds since the first event, as readers keep them as doubles.
 */
#include <math.h>
#include <string.h>

#include "analyse/sched.h"
#include "base/mem.h"
#include "counters.h"
#include "export.h"
#include "read/event.h"
#include "show/print.h"
#include "slices.h"

struct chrome {
	const struct exporting *exporting;
	struct slices *slices;
	struct counters *counters;
	struct pen pen;
	bool any;
};

static void chrome_text(struct pen *pen, const char *text)
{
	pen_json_text(pen, (const uint8_t *)text, strlen(text));
}

static void chrome_us(struct pen *pen, const char *key, int64_t ns)
{
	pen_text(pen, key);
	if (ns < 0)
		pen_char(pen, '-');
	pen_u64(pen, (uint64_t)(ns < 0 ? -ns : ns) / 1000);
	pen_char(pen, '.');
	pen_digits(pen, (uint64_t)(ns < 0 ? -ns : ns) % 1000, 3);
}

static void chrome_ids(struct pen *pen, const struct slice_row *row)
{
	pen_text(pen, ",\"pid\":");
	pen_u64(pen, row->process->pid);
	pen_text(pen, ",\"tid\":");
	pen_u64(pen, row->tid);
}

/* The begin of an object, up to its time. */
static void chrome_begin(struct chrome *chrome, char phase, const struct slice_row *row,
			 const char *name, int64_t ns)
{
	struct pen *pen = &chrome->pen;

	pen_text(pen, chrome->any ? ",\n{\"ph\":\"" : "{\"ph\":\"");
	chrome->any = true;
	pen_char(pen, phase);
	pen_text(pen, "\",\"name\":");
	chrome_text(pen, name);
	chrome_ids(pen, row);
	if (phase != 'M')
		chrome_us(pen, ",\"ts\":", ns - chrome->exporting->origin_ns);
}

static void chrome_tell(struct chrome *chrome, const char *what, const struct slice_row *row,
			const char *name)
{
	chrome_begin(chrome, 'M', row, what, 0);
	pen_text(&chrome->pen, ",\"args\":{\"name\":");
	chrome_text(&chrome->pen, name);
	pen_text(&chrome->pen, "}}");
}

static void chrome_name(struct chrome *chrome, struct slice_row *row)
{
	struct slice_process *process = row->process;

	if (!process->is_told && *process->name)
		chrome_tell(chrome, "process_name", row, process->name);
	if (!row->is_told && *row->name)
		chrome_tell(chrome, "thread_name", row, row->name);
	process->is_told = row->is_told = true;
}

static void chrome_category(struct chrome *chrome, const struct event *event)
{
	pen_text(&chrome->pen, ",\"cat\":");
	chrome_text(&chrome->pen, event->ec->name);
}

/* --- kinds ---------------------------------------------------------------------------------- */

static void chrome_instant(struct chrome *chrome, const struct event *event,
			   const struct slice *slice)
{
	chrome_begin(chrome, 'i', slice->row, slice->name, event->ns);
	chrome_category(chrome, event);
	pen_text(&chrome->pen, ",\"s\":\"t\"");
	if (event->fields) {
		pen_text(&chrome->pen, ",\"args\":");
		print_json_value(&chrome->pen, event->fields);
	}
	pen_text(&chrome->pen, "}");
}

/* The fields of the begin, kept until the end. */
static void chrome_note(struct slice_opening *opening, const struct event *event)
{
	struct pen pen;

	if (!opening || !event->fields)
		return;
	pen_init(&pen, NULL);
	print_json_value(&pen, event->fields);
	opening->note = memcpy(xalloc(pen.used + 1), pen.buf, pen.used);
	opening->note_len = pen.used;
	pen_fini(&pen);
}

static void chrome_args(struct chrome *chrome, const struct event *event, const struct slice *slice)
{
	const struct slice_opening *opening = slice->opening;
	struct pen *pen = &chrome->pen;

	pen_text(pen, ",\"args\":{\"end\":");
	if (event->fields)
		print_json_value(pen, event->fields);
	else
		pen_text(pen, "{}");
	if (opening && opening->note) {
		pen_text(pen, ",\"begin\":");
		pen_bytes(pen, opening->note, opening->note_len);
	}
	pen_text(pen, slice->lossy ? ",\"lossy\":true}" : "}");
}

/* It has a row of its own. */
static void chrome_apart(struct chrome *chrome, const struct event *event,
			 const struct slice *slice)
{
	static const char phases[] = { 'b', 'e' };

	for (int i = 0; i < 2; i++) {
		chrome_begin(chrome, phases[i], slice->row, slice->name,
			     i ? event->ns : slice->from_ns);
		chrome_category(chrome, event);
		pen_text(&chrome->pen, ",\"id\":\"");
		pen_u64(&chrome->pen, slice->number);
		pen_char(&chrome->pen, '"');
		if (i)
			chrome_args(chrome, event, slice);
		pen_char(&chrome->pen, '}');
	}
}

static void chrome_slice(struct chrome *chrome, const struct event *event,
			 const struct slice *slice)
{
	if (slice->crosses) {
		chrome_apart(chrome, event, slice);
		return;
	}
	chrome_begin(chrome, 'X', slice->row, slice->name, slice->from_ns);
	chrome_us(&chrome->pen, ",\"dur\":", (int64_t)slice->ns);
	chrome_category(chrome, event);
	chrome_args(chrome, event, slice);
	pen_char(&chrome->pen, '}');
}

static void chrome_counters(struct chrome *chrome, const struct event *event,
			    const struct slice_row *row)
{
	const struct counter *counter;
	uint32_t at = 0;
	double value;

	while ((counter = counters_next(chrome->counters, event, &at, &value))) {
		if (!isfinite(value))
			continue;
		chrome_begin(chrome, 'C', row, counter->name, event->ns);
		pen_text(&chrome->pen, ",\"args\":{\"value\":");
		pen_double(&chrome->pen, value, 64);
		pen_text(&chrome->pen, "}}");
	}
}

/* The thread that ran on the CPU until now, unless it was an idle one. */
static void chrome_run(struct chrome *chrome, const struct event *event,
		       const struct slice_row *row, const struct value *thread)
{
	const struct value *comm = value_member(event->fields, "prev_comm");
	char name[SLICE_NAME_BYTES];

	snprintf(name, sizeof(name), "%.*s", comm ? (int)value_text_length(comm) : 0,
		 comm ? (const char *)comm->bytes : "");
	chrome_begin(chrome, 'X', row, name, row->runs_since_ns);
	chrome_us(&chrome->pen, ",\"dur\":", event->ns - row->runs_since_ns);
	pen_text(&chrome->pen, ",\"cat\":\"running\",\"args\":{\"tid\":");
	pen_u64(&chrome->pen, thread->u);
	pen_text(&chrome->pen, "}}");
}

static void chrome_switch(struct chrome *chrome, const struct event *event)
{
	const struct sched_action action = sched_action_of(event);
	struct slice_row *row;

	if (action.kind != SCHED_SWITCH)
		return;
	row = slices_cpu(chrome->slices, event);
	chrome_name(chrome, row);
	if (row->runs_since_ns && action.prev)
		chrome_run(chrome, event, row, action.prev);
	row->runs_since_ns = event->ns;
}

/* --- all of it ------------------------------------------------------------------------------ */

static void chrome_event(struct chrome *chrome, const struct event *event)
{
	struct slice slice;

	slices_take(chrome->slices, event, &slice);
	chrome_name(chrome, slice.row);
	if (slice.kind == SLICE_BEGIN)
		chrome_note(slice.opening, event);
	else if (slice.kind == SLICE_WHOLE)
		chrome_slice(chrome, event, &slice);
	else
		chrome_instant(chrome, event, &slice);
	chrome_counters(chrome, event, slice.row);
	chrome_switch(chrome, event);
}

int export_chrome(const struct exporting *exporting)
{
	struct chrome chrome = {
		.exporting = exporting,
		.slices = slices_new(exporting->pairs, exporting->names),
		.counters = counters_new(exporting->counters),
	};
	struct event event;
	int ret, flushed;

	pen_init(&chrome.pen, exporting->file);
	pen_text(&chrome.pen, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
	while ((ret = export_next(exporting, &event)) > 0)
		chrome_event(&chrome, &event);
	pen_text(&chrome.pen, "\n],\"otherData\":{\"origin_ns\":");
	pen_json_time(&chrome.pen, exporting->origin_ns);
	pen_text(&chrome.pen, "}}\n");
	flushed = pen_flush(&chrome.pen);
	pen_fini(&chrome.pen);
	counters_free(chrome.counters);
	slices_free(chrome.slices);
	return ret ? ret : flushed;
}
