/* SPDX-License-Identifier: GPL-2.0-only */
#include "span.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "read/event.h"

static void span_set_number(const struct value *value, uint64_t *ret, bool *ret_has)
{
	*ret = value ? value->u : 0;
	*ret_has = value;
}

void span_set_procname(struct span *span, const struct value *name)
{
	bool has_name = name && value_has_text(name);

	span->procname = has_name ? (const char *)name->bytes : NULL;
	span->procname_len = has_name ? value_text_length(name) : 0;
}

/* Of a trace of one process, the number is in its environment. */
static void span_set_process(struct span *span, const struct event *event)
{
	const struct ctf_env *env;

	span_set_number(event->task.pid, &span->pid, &span->has_pid);
	env = span->has_pid ? NULL : trace_class_env_find(event->source->tc, "vpid");
	if (env && !env->text) {
		span->pid = (uint64_t)env->number;
		span->has_pid = true;
	}
}

/* System calls return a negative number. */
static bool span_failed(const struct event *event)
{
	const struct value *ret =
		event->took->kind == PAIRS_CALL ? value_member(event->fields, "ret") : NULL;

	return ret && (int64_t)ret->u < 0 && (int64_t)ret->u >= -4095;
}

void span_of_event(struct span *ret, const struct event *event, const char *name, int64_t from_ns)
{
	*ret = (struct span){
		.name = name,
		.from_ns = from_ns,
		.ns = event_ns_between(from_ns, event->ns),
		.source = event->source,
		.cpu = event->packet->cpu,
		.lossy = from_ns < event->source->lossy_until_ns,
	};
	span_set_procname(ret, event->task.procname);
	span_set_process(ret, event);
	span_set_number(event->task.tid, &ret->tid, &ret->has_tid);
}

void span_of_pair(struct span *ret, const struct event *event)
{
	const struct took *took = event->took;

	span_of_event(ret, event, took->name, event->ns - took->ns);
	ret->lossy = took->lossy;
	ret->failed = span_failed(event);
	ret->mark = took->mark;
}

/* For each span: snprintf() takes more time than all else here. */
static void span_copy_name(char buf[SPAN_LABEL_BYTES], const char *name)
{
	size_t len = strnlen(name, SPAN_LABEL_BYTES - 1);

	memcpy(buf, name, len);
	buf[len] = '\0';
}

void span_label(char buf[SPAN_LABEL_BYTES], const struct span *span, enum span_grouping grouping)
{
	const char *text = span->procname ? span->procname : "?";
	int len = span->procname ? (int)MIN(span->procname_len, (size_t)64) : 1;

	if (grouping == SPAN_BY_THREAD && span->has_tid)
		snprintf(buf, SPAN_LABEL_BYTES, "%.*s[%" PRIu64 "]", len, text, span->tid);
	else if (grouping == SPAN_BY_PROCESS && span->has_pid)
		snprintf(buf, SPAN_LABEL_BYTES, "%.*s[%" PRIu64 "]", len, text, span->pid);
	else if (grouping == SPAN_BY_CPU)
		snprintf(buf, SPAN_LABEL_BYTES, "cpu %" PRIu64, span->cpu);
	else if (grouping == SPAN_BY_NAME)
		span_copy_name(buf, span->name);
	else
		snprintf(buf, SPAN_LABEL_BYTES, "%.*s", len, text);
}

static const struct value *span_field(const struct event *event, const char *field)
{
	const struct value *scopes[] = { event->fields, event->context, event->stream_context };
	const struct value *value = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(scopes) && !value; i++)
		value = value_member(scopes[i], field);
	return value;
}

bool span_field_label(char buf[SPAN_LABEL_BYTES], const struct event *event, const char *field)
{
	const struct value *value = span_field(event, field);
	const struct ctf_type *type = value ? value->type : NULL;

	if (!value)
		return false;
	if (value_has_text(value)) {
		snprintf(buf, SPAN_LABEL_BYTES, "%.*s",
			 (int)MIN(value_text_length(value), (size_t)SPAN_LABEL_BYTES),
			 (const char *)value->bytes);
	} else if (type->kind == TYPE_FLOAT) {
		snprintf(buf, SPAN_LABEL_BYTES, "%g", value->d);
	} else if (type->kind == TYPE_ENUM) {
		enum_text(buf, SPAN_LABEL_BYTES, type, value->u);
	} else if (type_is_scalar(type) && type->is_signed) {
		snprintf(buf, SPAN_LABEL_BYTES, "%" PRId64, (int64_t)value->u);
	} else if (type_is_scalar(type)) {
		snprintf(buf, SPAN_LABEL_BYTES, "%" PRIu64, value->u);
	} else {
		return false;
	}
	return true;
}
