/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "memory.h"

int reader_fail(struct ltt_read *reader, int error, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(reader->why, sizeof(reader->why), fmt, args);
	va_end(args);
	return error;
}

static int reader_guard(struct ltt_read *reader, int (*fn)(void *priv), void *priv)
{
	int ret = reader->broken ? -ENOMEM : memory_guard(fn, priv);

	reader->broken = ret == -ENOMEM;
	if (reader->broken)
		reader->has_event = false;
	return reader->broken ? reader_fail(reader, ret, "memory is exhausted") : ret;
}

int reader_call(struct ltt_read *reader, int (*fn)(void *priv), void *priv)
{
	if (!reader->view && !reader->broken)
		return reader_fail(reader, -EBADF, "no trace is open");
	return reader_guard(reader, fn, priv);
}

struct ltt_read *ltt_read_new(void)
{
	return calloc(1, sizeof(struct ltt_read));
}

/* What was in use when memory was exhausted may be half made. */
void ltt_read_free(struct ltt_read *reader)
{
	if (reader && !reader->broken) {
		view_free(reader->view);
		batch_free(reader->batch);
		for (size_t i = 0; i < READER_KEYS; i++)
			free(reader->keys[i]);
	}
	free(reader);
}

const char *ltt_read_why(const struct ltt_read *reader)
{
	return reader ? reader->why : "memory is exhausted";
}

void ltt_read_on_report(struct ltt_read *reader, ltt_read_report_fn fn, void *priv)
{
	reader->report = fn;
	reader->priv = priv;
}

/* --- opening ------------------------------------------------------------------------------- */

/** Arguments of a call that is guarded. */
struct reader_call {
	struct ltt_read *reader;
	const char *text;
	enum ltt_read_key key;
	struct ltt_read_totals *summary;
};

static void reader_report(void *priv, const char *sentence)
{
	const struct ltt_read *reader = priv;

	if (reader->report)
		reader->report(reader->priv, sentence);
}

static int reader_open(void *priv)
{
	const struct reader_call *call = priv;
	struct err err = { 0 };
	struct view *view;
	int ret = view_open(call->text, reader_report, call->reader, &view);

	if (ret == 0) {
		call->reader->view = view;
		return 0;
	}
	view_open_failed(call->text, ret, &err);
	return reader_fail(call->reader, ret, "%s", err.text);
}

int ltt_read_open(struct ltt_read *reader, const char *path)
{
	struct reader_call call = { .reader = reader, .text = path };

	if (reader->view)
		return reader_fail(reader, -EBUSY, "a trace is open");
	return reader_guard(reader, reader_open, &call);
}

static int reader_select_time(struct ltt_read *reader, enum ltt_read_key key, const char *text)
{
	bool begin = key == LTT_READ_BEGIN;

	if (view_parse_time(reader->view, text, false,
			    begin ? &reader->select.begin_ns : &reader->select.end_ns) != 0)
		return reader_fail(reader, -EINVAL, "'%s' is no time", text);
	*(begin ? &reader->select.has_begin : &reader->select.has_end) = true;
	return 0;
}

static int reader_select(void *priv)
{
	const struct reader_call *call = priv;
	struct ltt_read *reader = call->reader;
	const char **const members[READER_KEYS] = {
		[LTT_READ_EVENTS] = &reader->select.names,
		[LTT_READ_PROCESSES] = &reader->select.processes,
		[LTT_READ_THREADS] = &reader->select.threads,
		[LTT_READ_WHERE] = &reader->select.where,
	};
	char why[256];

	if (call->key == LTT_READ_BEGIN || call->key == LTT_READ_END)
		return reader_select_time(reader, call->key, call->text);
	if (call->key >= READER_KEYS)
		return reader_fail(reader, -EINVAL, "there is no key %d", (int)call->key);
	if (call->key == LTT_READ_WHERE && view_where_has_duration(call->text))
		return reader_fail(reader, -EINVAL, "no event has a duration here");
	if (call->key == LTT_READ_WHERE && view_check_where(call->text, why, sizeof(why)) != 0)
		return reader_fail(reader, -EINVAL, "%s", why);
	free(reader->keys[call->key]);
	*members[call->key] = reader->keys[call->key] = xstrdup(call->text);
	return 0;
}

int ltt_read_select(struct ltt_read *reader, enum ltt_read_key key, const char *value)
{
	struct reader_call call = { .reader = reader, .text = value, .key = key };

	if (reader->begun && !reader->broken)
		return reader_fail(reader, -EBUSY, "events have been read already");
	return reader_call(reader, reader_select, &call);
}

static int reader_sum(void *priv)
{
	const struct reader_call *call = priv;
	const struct view_summary *sum;
	int ret = view_summary(call->reader->view, &sum);

	if (ret == 0)
		*call->summary = (struct ltt_read_totals){ .events = sum->events,
							   .lost = sum->lost + sum->lost_before,
							   .problems = sum->problems,
							   .first_ns = sum->first_ns,
							   .last_ns = sum->last_ns };
	return ret;
}

int ltt_read_summary(struct ltt_read *reader, struct ltt_read_totals *ret)
{
	struct reader_call call = { .reader = reader, .summary = ret };

	return reader_call(reader, reader_sum, &call);
}

/* --- events -------------------------------------------------------------------------------- */

int reader_step(struct ltt_read *reader)
{
	int ret = event_next(reader->view, &reader->select, &reader->event);

	reader->begun = true;
	reader->has_event = ret > 0;
	return ret;
}

static int reader_next(void *priv)
{
	return reader_step(priv);
}

int ltt_read_next(struct ltt_read *reader)
{
	return reader_call(reader, reader_next, reader);
}

int64_t ltt_read_ns(const struct ltt_read *reader)
{
	return reader->event.ns;
}

const char *ltt_read_name(const struct ltt_read *reader)
{
	return reader->event.ec->name;
}

const char *ltt_read_host(const struct ltt_read *reader)
{
	const char *host = trace_class_env(reader->event.source->tc, "hostname");

	return host ? host : "";
}

bool ltt_read_cpu(const struct ltt_read *reader, uint32_t *ret)
{
	const struct values *context = &reader->event.packet->context;
	const struct value *cpu = context->nr ? value_member(context->at, "cpu_id") : NULL;

	if (cpu)
		*ret = (uint32_t)cpu->u;
	return cpu;
}

bool ltt_read_pid(const struct ltt_read *reader, int64_t *ret)
{
	const struct ctf_env *vpid = trace_class_env_find(reader->event.source->tc, "vpid");

	if (reader->event.task.pid)
		*ret = (int64_t)reader->event.task.pid->u;
	else if (vpid && !vpid->text)
		*ret = vpid->number;
	return reader->event.task.pid || (vpid && !vpid->text);
}

bool ltt_read_tid(const struct ltt_read *reader, int64_t *ret)
{
	if (reader->event.task.tid)
		*ret = (int64_t)reader->event.task.tid->u;
	return reader->event.task.tid;
}

/* --- values -------------------------------------------------------------------------------- */

static void reader_show_scalar(const struct value *value, struct ltt_read_value *ret)
{
	struct enum_labels labels;

	if (value->type->kind == TYPE_FLOAT) {
		ret->type = LTT_READ_REAL;
		ret->d = value->d;
		return;
	}
	ret->type = value->type->is_signed ? LTT_READ_INTEGER : LTT_READ_UNSIGNED;
	ret->u = value->u;
	if (value->type->kind == TYPE_ENUM) {
		enum_begin(value->type, value->u, &labels);
		ret->label = enum_next(&labels);
	}
}

void reader_show_value(const struct value *value, struct ltt_read_value *ret)
{
	*ret = (struct ltt_read_value){ .name = value->field ? value->field->shown : NULL,
					.source = value };
	if (type_is_scalar(value->type)) {
		reader_show_scalar(value, ret);
	} else if (value_has_text(value)) {
		ret->type = LTT_READ_TEXT;
		ret->text = (const char *)value->bytes;
		ret->len = value_text_length(value);
	} else {
		ret->type = value->type->kind == TYPE_STRUCT || value->type->kind == TYPE_VARIANT ?
				    LTT_READ_STRUCT :
				    LTT_READ_ARRAY;
		ret->nr = value->count;
	}
}

size_t ltt_read_nr_fields(const struct ltt_read *reader)
{
	return reader->event.fields ? reader->event.fields->count : 0;
}

bool ltt_read_field_at(const struct ltt_read *reader, size_t at, struct ltt_read_value *ret)
{
	const struct value *value = reader->event.fields;

	if (at >= ltt_read_nr_fields(reader))
		return false;
	for (value++; at; at--)
		value = value_behind(value);
	reader_show_value(value, ret);
	return true;
}

const struct value *reader_find(const struct ltt_read *reader, const char *name)
{
	const struct event *event = &reader->event;
	const struct value *value = value_member(event->fields, name);

	value = value ? value : value_member(event->context, name);
	return value ? value : value_member(event->stream_context, name);
}

bool ltt_read_field(const struct ltt_read *reader, const char *name, struct ltt_read_value *ret)
{
	const struct value *value = reader_find(reader, name);

	if (value)
		reader_show_value(value, ret);
	return value;
}

bool ltt_read_member(const struct ltt_read_value *of, size_t at, struct ltt_read_value *ret)
{
	const struct value *value = of->source, *member;
	struct value element;

	if ((of->type != LTT_READ_ARRAY && of->type != LTT_READ_STRUCT) || at >= value->count)
		return false;
	if (value_is_packed(value)) {
		element = value_element(value, at);
		reader_show_value(&element, ret);
		return true;
	}
	for (member = value + 1; at; at--)
		member = value_behind(member);
	reader_show_value(member, ret);
	return true;
}
