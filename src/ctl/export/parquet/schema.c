/* SPDX-License-Identifier: GPL-2.0-only */
#include "schema.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "ctl/query/events.h"
#include "file.h"
#include "read/event.h"

static const struct parquet_column schema_common[] = {
	[SCHEMA_TS] = { "ts", PARQUET_SIGNED, true },
	[SCHEMA_CPU] = { "cpu", PARQUET_SIGNED, false },
	[SCHEMA_PID] = { "pid", PARQUET_SIGNED, false },
	[SCHEMA_TID] = { "tid", PARQUET_SIGNED, false },
	[SCHEMA_COMM] = { "comm", PARQUET_TEXT, false },
};

/* --- columns -------------------------------------------------------------------------------- */

static int32_t schema_append(struct schema *schema, const char *name, char *source,
			     enum parquet_kind kind, bool required)
{
	size_t nr = (size_t)schema->nr_columns + 1;

	schema->columns = xrealloc(schema->columns, nr * sizeof(*schema->columns));
	schema->sources = xrealloc(schema->sources, nr * sizeof(*schema->sources));
	schema->columns[nr - 1] = (struct parquet_column){ xstrdup(name), kind, required };
	schema->sources[nr - 1] = source;
	return (int32_t)schema->nr_columns++;
}

struct schema *schema_new(const char *name)
{
	struct schema *schema = xalloc(sizeof(*schema));

	schema->name = xstrdup(name);
	for (size_t i = 0; i < SCHEMA_NR_COMMON; i++)
		schema_append(schema, schema_common[i].name, NULL, schema_common[i].kind,
			      schema_common[i].required);
	return schema;
}

struct schema *schema_free(struct schema *schema)
{
	struct schema *next = schema ? schema->next : NULL;

	for (uint32_t i = 0; schema && i < schema->nr_columns; i++) {
		free((char *)schema->columns[i].name);
		free(schema->sources[i]);
	}
	if (schema) {
		free(schema->columns);
		free(schema->sources);
		free(schema->name);
	}
	free(schema);
	return next;
}

/* Engines do not distinguish names by case; host and hour are names of directories. */
static bool schema_has(const struct schema *schema, const char *name)
{
	for (uint32_t i = 0; i < schema->nr_columns; i++)
		if (strcasecmp(schema->columns[i].name, name) == 0)
			return true;
	return strcasecmp(name, "host") == 0 || strcasecmp(name, "hour") == 0;
}

/* The column of a member, which is new if no class had it before. */
static int32_t schema_column(struct schema *schema, const char *scope, const char *shown,
			     const char *suffix, enum parquet_kind kind)
{
	char *source = xasprintf("%s %s %s", scope, shown, suffix);
	char *name;
	int32_t column;

	for (uint32_t i = SCHEMA_NR_COMMON; i < schema->nr_columns; i++)
		if (strcmp(schema->sources[i], source) == 0) {
			if (schema->columns[i].kind != kind)
				schema->columns[i].kind = PARQUET_TEXT;
			free(source);
			return (int32_t)i;
		}
	name = xasprintf("%s%s%s", *scope == 'f' ? "" : "context_", shown, suffix);
	while (schema_has(schema, name)) {
		char *longer = xasprintf("field_%s", name);

		free(name);
		name = longer;
	}
	column = schema_append(schema, name, source, kind, false);
	free(name);
	return column;
}

static enum parquet_kind schema_integer(const struct ctf_type *type)
{
	return type->size_bits == 64 && !type->is_signed ? PARQUET_UNSIGNED : PARQUET_SIGNED;
}

static enum parquet_kind schema_kind(const struct ctf_type *type)
{
	switch (type->kind) {
	case TYPE_INT:
		return schema_integer(type);
	case TYPE_FLOAT:
		return PARQUET_DOUBLE;
	default:
		return PARQUET_TEXT;
	}
}

/* Whether it is in a common column. */
static bool schema_is_common(const struct ctf_field *field)
{
	return field->role >= ROLE_PROCNAME && field->role <= ROLE_VTID;
}

static struct schema_member *schema_add_scope(struct schema *schema, const char *scope,
					      const struct ctf_type *type)
{
	struct schema_member *members =
		type ? xalloc((type->nr_fields + 1) * sizeof(*members)) : NULL;

	for (uint32_t i = 0; type && i < type->nr_fields; i++) {
		const struct ctf_field *field = &type->fields[i];
		const struct ctf_type *of = type_of_value(field->type);

		members[i] = (struct schema_member){ -1, -1 };
		if (*scope != 'f' && schema_is_common(field))
			continue;
		members[i].column =
			schema_column(schema, scope, field->shown, "", schema_kind(of));
		if (of->kind == TYPE_ENUM)
			members[i].number = schema_column(schema, scope, field->shown, "_value",
							  schema_integer(of));
	}
	return members;
}

void schema_add(struct schema *schema, const struct ctf_event_class *ec,
		const struct ctf_type *stream_context, struct schema_class *ret)
{
	*ret = (struct schema_class){
		.schema = schema,
		.fields = schema_add_scope(schema, "field", ec->fields),
		.context = schema_add_scope(schema, "context", ec->context),
		.stream_context = schema_add_scope(schema, "stream", stream_context),
	};
}

void schema_class_fini(struct schema_class *class)
{
	free(class->fields);
	free(class->context);
	free(class->stream_context);
}

/* --- cells ---------------------------------------------------------------------------------- */

static void schema_put_cell(const struct schema *schema, int32_t column,
			    const struct query_cell *cell, bool is_signed, struct parquet *file,
			    struct pen *pen)
{
	uint32_t at = (uint32_t)column;

	if (cell->type == QUERY_NULL)
		return;
	if (cell->type == QUERY_TEXT) {
		parquet_text(file, at, cell->text, cell->len);
	} else if (schema->columns[column].kind == PARQUET_TEXT) {
		pen->used = 0;
		if (cell->type == QUERY_REAL)
			pen_double(pen, cell->real, 64);
		else if (is_signed)
			pen_i64(pen, cell->integer);
		else
			pen_u64(pen, (uint64_t)cell->integer);
		parquet_text(file, at, pen->buf, pen->used);
	} else if (cell->type == QUERY_REAL) {
		parquet_double(file, at, cell->real);
	} else {
		parquet_integer(file, at, (uint64_t)cell->integer);
	}
}

static void schema_put_scope(const struct schema *schema, const struct schema_member *members,
			     const struct value *scope, struct parquet *file, struct pen *pen)
{
	const struct value *value = scope ? scope + 1 : NULL;

	for (uint32_t i = 0; members && scope && i < scope->count; i++) {
		bool is_signed = type_of_value(value->type)->is_signed;

		if (members[i].column >= 0) {
			struct query_cell cell = query_events_value(value, false, pen);

			schema_put_cell(schema, members[i].column, &cell, is_signed, file, pen);
		}
		if (members[i].number >= 0) {
			struct query_cell cell = query_events_value(value, true, pen);

			schema_put_cell(schema, members[i].number, &cell, is_signed, file, pen);
		}
		value = value_behind(value);
	}
}

void schema_put(const struct schema_class *class, const struct event *event, struct parquet *file,
		struct pen *pen)
{
	static const enum query_role roles[] = { [SCHEMA_CPU] = QUERY_CPU,
						 [SCHEMA_PID] = QUERY_PID,
						 [SCHEMA_TID] = QUERY_TID,
						 [SCHEMA_COMM] = QUERY_PROCNAME };

	parquet_integer(file, SCHEMA_TS, (uint64_t)event->ns);
	for (int32_t i = SCHEMA_CPU; i < SCHEMA_NR_COMMON; i++) {
		struct query_column column = { .role = roles[i] };
		struct query_cell cell = query_events_cell(&column, event, pen);

		schema_put_cell(class->schema, i, &cell, true, file, pen);
	}
	schema_put_scope(class->schema, class->fields, event->fields, file, pen);
	schema_put_scope(class->schema, class->context, event->context, file, pen);
	schema_put_scope(class->schema, class->stream_context, event->stream_context, file, pen);
}
