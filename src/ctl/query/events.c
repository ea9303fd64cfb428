/* SPDX-License-Identifier: GPL-2.0-only */
#include "events.h"

#include <string.h>
#include <strings.h>

#include "base/macros.h"
#include "base/mem.h"
#include "read/event.h"
#include "show/print.h"

#define LABEL_BYTES 512u /* of the labels of a value; the rest is cut */

static const struct {
	const char *name;
	enum query_cell_type type;
	enum query_role role;
} common[] = {
	{ "ts", QUERY_INTEGER, QUERY_TS },	    { "name", QUERY_TEXT, QUERY_NAME },
	{ "host", QUERY_TEXT, QUERY_HOST },	    { "cpu", QUERY_INTEGER, QUERY_CPU },
	{ "pid", QUERY_INTEGER, QUERY_PID },	    { "tid", QUERY_INTEGER, QUERY_TID },
	{ "procname", QUERY_TEXT, QUERY_PROCNAME },
};

static struct query_table *query_events_table(struct query *query, const char *name, bool all)
{
	struct query_table *table = query_table_add(query, name);

	table->event = all ? NULL : table->name;
	for (size_t i = 0; i < ARRAY_SIZE(common); i++)
		query_table_column(table, common[i].name, common[i].type, common[i].role, NULL);
	return table;
}

/* --- columns of fields --------------------------------------------------------------------- */

static bool query_events_has(const struct query_table *table, const char *name)
{
	for (uint32_t i = 0; i < table->nr_columns; i++)
		if (strcasecmp(table->columns[i].name, name) == 0)
			return true;
	return false;
}

static bool query_events_has_field(const struct query_table *table, const char *field)
{
	for (uint32_t i = 0; i < table->nr_columns; i++)
		if (table->columns[i].field && strcmp(table->columns[i].field, field) == 0)
			return true;
	return false;
}

/* Whether an expression of the reader can name it. */
static bool query_events_is_plain(const char *field)
{
	size_t len =
		strspn(field, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

	return len && !field[len] && !(*field >= '0' && *field <= '9');
}

static enum query_cell_type query_events_type(const struct ctf_type *type)
{
	if (type->kind == TYPE_INT)
		return QUERY_INTEGER;
	return type->kind == TYPE_FLOAT ? QUERY_REAL : QUERY_TEXT;
}

static bool query_events_is_text(const struct ctf_type *type)
{
	return type->kind == TYPE_STRING ||
	       ((type->kind == TYPE_ARRAY || type->kind == TYPE_SEQUENCE) && type->text);
}

/* NAME_value, NAME_error */
static void query_events_add_second(struct query_table *table, const char *name, const char *end,
				    enum query_cell_type type, enum query_role role,
				    const struct ctf_field *field)
{
	char *second AUTO_FREE = xasprintf("%s_%s", name, end);

	if (!query_events_has(table, second))
		query_table_column(table, second, type, role, field->shown);
}

/* A field whose name a column has already is field_NAME. */
static void query_events_add_field(struct query_table *table, const struct ctf_field *field)
{
	const struct ctf_type *type = type_of_value(field->type);
	char *name AUTO_FREE = xasprintf(
		"%s%s", query_events_has(table, field->shown) ? "field_" : "", field->shown);
	struct query_column *column;

	if (query_events_has_field(table, field->shown) || query_events_has(table, name))
		return;
	column =
		query_table_column(table, name, query_events_type(type), QUERY_FIELD, field->shown);
	column->pushed = query_events_is_plain(field->shown) && !field->type->is_optional &&
			 (query_events_is_text(type) ||
			  (type->kind == TYPE_INT && (type->is_signed || type->size_bits < 64)));
	if (type->kind == TYPE_ENUM)
		query_events_add_second(table, name, "value", QUERY_INTEGER, QUERY_FIELD_VALUE,
					field);
	else if (type->kind == TYPE_INT && type->nr_mappings)
		query_events_add_second(table, name, "error", QUERY_TEXT, QUERY_FIELD_ERROR, field);
}

static struct query_table *query_events_find(struct query *query, const char *name)
{
	struct query_table *table = query->tables;

	while (table && strcasecmp(table->name, name) != 0)
		table = table->next;
	return table;
}

/* Classes of one name have the columns of all of them. */
static void query_events_add_class(void *priv, const struct ctf_event_class *ec)
{
	struct query *query = priv;
	struct query_table *table = query_events_find(query, ec->name);

	if (!table)
		table = query_events_table(query, ec->name, false);
	if (table->event && strcmp(table->event, ec->name) == 0)
		for (uint32_t i = 0; ec->fields && i < ec->fields->nr_fields; i++)
			query_events_add_field(table, &ec->fields->fields[i]);
}

void query_events_add(struct query *query, const struct view *view)
{
	struct query_table *all = query_events_table(query, "events", true);
	struct query_table *table;

	query_table_column(all, "fields", QUERY_TEXT, QUERY_FIELDS, NULL);
	view_each_class(view, query_events_add_class, query);
	for (table = all->next; table; table = table->next)
		if (table->event && !query_events_has(table, "fields"))
			query_table_column(table, "fields", QUERY_TEXT, QUERY_FIELDS, NULL);
}

/* --- cells --------------------------------------------------------------------------------- */

static struct query_cell query_cell_text(const char *text, size_t len)
{
	return (struct query_cell){ .text = text, .len = (uint32_t)len, .type = QUERY_TEXT };
}

static struct query_cell query_cell_integer(int64_t integer)
{
	return (struct query_cell){ .integer = integer, .type = QUERY_INTEGER };
}

static struct query_cell query_cell_string(const char *text)
{
	return text ? query_cell_text(text, strlen(text)) :
		      (struct query_cell){ .type = QUERY_NULL };
}

static struct query_cell query_events_json(const struct value *value, struct pen *pen)
{
	pen->used = 0;
	print_json_value(pen, value);
	return query_cell_text(pen->buf, pen->used);
}

static struct query_cell query_events_label(const struct ctf_type *type, uint64_t value,
					    struct pen *pen)
{
	char *text;

	pen->used = 0;
	text = pen_room(pen, LABEL_BYTES);
	enum_text(text, LABEL_BYTES, type, value);
	return query_cell_text(text, strlen(text));
}

/* Of one class alone the field may be the result. */
static struct query_cell query_events_error(const struct ctf_type *type, uint64_t value)
{
	uint32_t named = type->kind == TYPE_INT ? enum_find(type, value, 0) : 0;

	return query_cell_string(type->kind == TYPE_INT && named < type->nr_mappings ?
					 type->mappings[named].label :
					 NULL);
}

struct query_cell query_events_value(const struct value *value, bool number, struct pen *pen)
{
	const struct ctf_type *type;

	value = value_inner(value);
	if (!value)
		return (struct query_cell){ .type = QUERY_NULL };
	type = value->type;
	if (query_events_is_text(type) && !(type->kind != TYPE_STRING && !value_is_text(value)))
		return query_cell_text((const char *)value->bytes, value_text_length(value));
	if (type->kind == TYPE_INT || number)
		return type_is_scalar(type) ? query_cell_integer((int64_t)value->u) :
					      (struct query_cell){ .type = QUERY_NULL };
	if (type->kind == TYPE_FLOAT)
		return (struct query_cell){ .real = value->d, .type = QUERY_REAL };
	if (type->kind == TYPE_ENUM)
		return query_events_label(type, value->u, pen);
	return query_events_json(value, pen);
}

/* Of a trace of one process, the number is in its environment. */
static struct query_cell query_events_pid(const struct event *event)
{
	const struct ctf_env *env = trace_class_env_find(event->source->tc, "vpid");

	return env && !env->text ? query_cell_integer(env->number) :
				   (struct query_cell){ .type = QUERY_NULL };
}

static const struct value *query_events_member(struct query_column *column,
					       const struct event *event)
{
	const struct value *value;

	if (column->of == event->ec)
		return event->fields + column->at;
	value = value_member(event->fields, column->field);
	if (value && event->fields->type->plan) {
		column->of = event->ec;
		column->at = (uint32_t)(value - event->fields);
	}
	return value;
}

const struct value *query_events_find_value(struct query_column *column, const struct event *event)
{
	switch (column->role) {
	case QUERY_PID:
		return event->task.pid;
	case QUERY_TID:
		return event->task.tid;
	case QUERY_PROCNAME:
		return event->task.procname;
	case QUERY_FIELDS:
		return event->fields;
	case QUERY_FIELD:
	case QUERY_FIELD_VALUE:
	case QUERY_FIELD_ERROR:
		return query_events_member(column, event);
	default:
		return NULL;
	}
}

struct query_cell query_events_cell_of(const struct query_column *column, const struct value *value,
				       struct pen *pen)
{
	switch (column->role) {
	case QUERY_PID:
	case QUERY_TID:
		return query_cell_integer((int64_t)value->u);
	case QUERY_PROCNAME:
		return query_cell_text((const char *)value->bytes, value_text_length(value));
	case QUERY_FIELDS:
		return query_events_json(value, pen);
	case QUERY_FIELD_ERROR:
		return query_events_error(value->type, value->u);
	default:
		return query_events_value(value, column->role == QUERY_FIELD_VALUE, pen);
	}
}

struct query_cell query_events_cell_without(const struct query_column *column,
					    const struct event *event)
{
	switch (column->role) {
	case QUERY_TS:
		return query_cell_integer(event->ns);
	case QUERY_NAME:
		return query_cell_text(event->ec->name, event->ec->name_len);
	case QUERY_HOST:
		return query_cell_string(trace_class_env(event->source->tc, "hostname"));
	case QUERY_CPU:
		return query_cell_integer((int64_t)event->packet->cpu);
	case QUERY_PID:
		return query_events_pid(event);
	case QUERY_PROCNAME:
		return query_cell_string(trace_class_env(event->source->tc, "procname"));
	default:
		return (struct query_cell){ .type = QUERY_NULL };
	}
}

struct query_cell query_events_cell(struct query_column *column, const struct event *event,
				    struct pen *pen)
{
	const struct value *value = query_events_find_value(column, event);

	return value ? query_events_cell_of(column, value, pen) :
		       query_events_cell_without(column, event);
}
