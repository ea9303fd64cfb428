/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events as short lines, for a terminal:
 *
 *     TIME +DELTA PROCNAME:PID[:TID] NAME FIELD=VALUE... | CONTEXT=VALUE...
 */
#include <inttypes.h>

#include "analyse/symbol/names.h"
#include "base/str.h"
#include "print.h"

static const struct value *brief_put_value(struct pen *pen, const struct value *value);

/* --- values: each function returns the value behind the written one ------- */

/* The labels; of none, the number, as bits of a set that have none. */
static void brief_put_enum(struct pen *pen, const struct ctf_type *type, uint64_t v)
{
	struct enum_labels labels;
	const char *label;
	bool any = false;

	for (enum_begin(type, v, &labels); (label = enum_next(&labels)); any = true) {
		pen_bytes(pen, "|", any);
		pen_name(pen, label);
	}
	if (!any) {
		print_integer(pen, type, v);
	} else if (type->is_set && labels.value) {
		pen_char(pen, '|');
		print_integer(pen, type, labels.value);
	}
}

/* -2 (ENOENT) */
static void brief_put_integer(struct pen *pen, const struct ctf_type *type, uint64_t v)
{
	uint32_t named = type->nr_mappings ? enum_find(type, v, 0) : 0;

	print_integer(pen, type, v);
	if (named < type->nr_mappings) {
		pen_text(pen, " (");
		pen_name(pen, type->mappings[named].label);
		pen_char(pen, ')');
	}
}

static void brief_put_scalar(struct pen *pen, const struct value *value)
{
	if (value->type->kind == TYPE_FLOAT)
		pen_double(pen, value->d, value->type->size_bits);
	else if (value->type->kind == TYPE_ENUM)
		brief_put_enum(pen, value->type, value->u);
	else if (value->type->look == LOOK_BOOL)
		pen_text(pen, value->u ? "true" : "false");
	else
		brief_put_integer(pen, value->type, value->u);
}

/* [1 2 3] */
static const struct value *brief_put_array(struct pen *pen, const struct value *value)
{
	const struct value *next = value + 1;

	if (value->type->look == LOOK_BLOB) {
		print_hex(pen, value, "");
		return next;
	}
	if (value_is_text(value)) {
		pen_quoted(pen, value->bytes, value_text_length(value));
		return next;
	}
	pen_char(pen, '[');
	for (uint32_t i = 0; i < value->count; i++) {
		pen_bytes(pen, " ", i > 0);
		if (value_is_packed(value)) {
			struct value elem = value_element(value, i);

			brief_put_scalar(pen, &elem);
		} else {
			next = brief_put_value(pen, next);
		}
	}
	pen_char(pen, ']');
	return next;
}

static const struct value *brief_put_field(struct pen *pen, const struct value *value)
{
	pen_bytes(pen, value->field->shown, value->field->shown_len);
	pen_char(pen, '=');
	return brief_put_value(pen, value);
}

/* a=1 b=2 */
static const struct value *brief_put_members(struct pen *pen, const struct value *value)
{
	const struct value *next = value + 1;

	for (uint32_t i = 0; i < value->count; i++) {
		pen_bytes(pen, " ", i > 0);
		next = brief_put_field(pen, next);
	}
	return next;
}

static const struct value *brief_put_value(struct pen *pen, const struct value *value)
{
	enum mold_way way;

	if (pen->mold && value->type->kind != TYPE_STRUCT) {
		way = value->type->nr_mappings ? MOLD_GENERAL : mold_way_of(value, false);
		mold_takes_way(pen, value, way == MOLD_QUOTED ? MOLD_DOUBLED : way);
		return value_behind(value);
	}
	switch (value->type->kind) {
	case TYPE_STRING:
		pen_quoted(pen, value->bytes, value->count);
		return value + 1;
	case TYPE_STRUCT:
		pen_char(pen, '{');
		value = brief_put_members(pen, value);
		pen_char(pen, '}');
		return value;
	case TYPE_VARIANT:
		if (!value->count) {
			pen_text(pen, "none");
			return value + 1;
		}
		return brief_put_value(pen, value + 1);
	case TYPE_ARRAY:
	case TYPE_SEQUENCE:
		return brief_put_array(pen, value);
	default:
		brief_put_scalar(pen, value);
		return value + 1;
	}
}

void print_value_brief(struct pen *pen, const struct value *value)
{
	brief_put_value(pen, value);
}

void print_fields_brief(struct pen *pen, const struct value *value)
{
	brief_put_members(pen, value);
}

/* --- the line ------------------------------------------------------------- */

/* 412ns, 74.9us, 1.23ms, 12.3s */
static void brief_put_duration(char *buf, size_t len, int64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double v = ns < 0 ? -(double)ns : (double)ns;
	size_t unit = 0;

	for (; v >= 1000 && unit + 1 < ARRAY_SIZE(units); unit++)
		v /= 1000;
	snprintf(buf, len, "%s%.*f%s", ns < 0 ? "-" : "",
		 unit == 0 ? 0 :
		 v < 10	   ? 2 :
			     v < 100,
		 v, units[unit]);
}

/* To the microsecond, rounded down. */
static void brief_put_time(struct printer *p, int64_t ns)
{
	char since[32] = "", number[24];

	print_color(p, PRINT_MAGENTA);
	print_time(p, &p->pen, ns);
	p->pen.used -= 3;
	print_color(p, PRINT_RESET);
	if (p->any) {
		brief_put_duration(number, sizeof(number), ns - p->last_ns);
		snprintf(since, sizeof(since), "%s%s", *number == '-' ? "" : "+", number);
	}
	snprintf(number, sizeof(number), " %8.16s ", since);
	pen_text(&p->pen, number);
}

/* name:pid, and :tid where that is another number; of an event without such contexts, those
 * of its trace. */
static void brief_put_task_text(struct pen *pen, const struct event *event)
{
	const struct task *task = &event->task;
	const char *of_trace = strchr(event->source->host, ':');

	if (task->procname)
		pen_name_bytes(pen, task->procname->bytes, value_text_length(task->procname));
	else if (!task->pid && !task->tid && of_trace)
		pen_name(pen, of_trace + 1);
	if (task->pid) {
		pen_char(pen, ':');
		print_integer(pen, task->pid->type, task->pid->u);
	}
	if (task->tid && !(task->pid && task->pid->u == task->tid->u)) {
		pen_char(pen, ':');
		print_integer(pen, task->tid->type, task->tid->u);
	}
}

static bool brief_begins(struct pen *pen, bool any)
{
	pen_text(pen, any ? " " : " | ");
	return true;
}

static void brief_put_packet(struct pen *pen, const struct packet *packet)
{
	const struct value *value = packet->context.at, *end = value + packet->context.nr;
	bool any = false;

	for (value = next_shown(value + 1, end); value < end; value = next_shown(value, end)) {
		any = brief_begins(pen, any);
		value = brief_put_field(pen, value);
	}
}

static bool brief_put_context(struct pen *pen, const struct value *scope, const struct task *task,
			      bool any)
{
	const struct value *value = scope + 1;

	for (uint32_t i = 0; i < scope->count; i++) {
		const struct value *provided;

		if (task_has(task, value)) {
			value++;
			continue;
		}
		any = brief_begins(pen, any);
		if (!value_is_provided(value)) {
			value = brief_put_field(pen, value);
			continue;
		}
		provided = value_provided(value);
		print_provided_name(pen, value);
		pen_char(pen, '=');
		if (provided)
			brief_put_value(pen, provided);
		else
			pen_text(pen, "none");
		value = value_behind(value);
	}
	return any;
}

static void brief_put_contexts(struct printer *p, const struct event *event)
{
	const struct value *scopes[] = { event->stream_context, event->context };
	bool any = false;

	print_color(p, PRINT_DIM);
	if (event->packet->context.nr) {
		print_packet_once(event->packet, event->source, NULL, brief_put_packet);
		print_packet_context(&p->pen, event->packet);
		any = event->packet->shown_len > 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(scopes); i++)
		if (scopes[i])
			any = brief_put_context(&p->pen, scopes[i], &event->task, any);
	print_color(p, PRINT_RESET);
}

static void brief_put_name(struct printer *p, const struct event *event)
{
	if (p->several_hosts && event->source->host[0]) {
		pen_name(&p->pen, event->source->host);
		pen_char(&p->pen, ' ');
	}
	p->task.used = 0;
	brief_put_task_text(&p->task, event);
	print_task(p);
	if (p->style.loglevel && event->ec->loglevel >= 0) {
		pen_text(&p->pen, loglevel_name(event->ec->loglevel));
		pen_char(&p->pen, ' ');
	}
	print_color(p, PRINT_NAME);
	pen_name(&p->pen, event->ec->name);
	print_color(p, PRINT_RESET);
}

void print_brief(struct printer *printer, const struct event *event)
{
	struct pen *pen = &printer->pen;
	char number[24];

	brief_put_time(printer, event->ns);
	brief_put_name(printer, event);
	if (event->fields && event->fields->count) {
		pen_char(pen, ' ');
		brief_put_members(pen, event->fields);
	}
	if (printer->style.names)
		print_names(printer, event);
	if (event->took) {
		brief_put_duration(number, sizeof(number), event->took->ns);
		pen_text(pen, " (took ");
		pen_text(pen, number);
		pen_text(pen, event->took->lossy ? "; events were lost meanwhile)" : ")");
	}
	brief_put_contexts(printer, event);
	pen_char(pen, '\n');
	printer->last_ns = event->ns;
	printer->any = true;
}
