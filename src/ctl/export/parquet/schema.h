/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * schema.h - the columns of the events of one name: ts, cpu, pid, tid, comm, their fields, and
 * their contexts as context_NAME. Classes of one name, in several traces, have the columns of all.
 * A field of several types is text. Owned by an export, which adds all classes before it writes a
 * file.
 */
#ifndef CTL_EXPORT_PARQUET_SCHEMA_H
#define CTL_EXPORT_PARQUET_SCHEMA_H

#include <stdint.h>

#include "column.h"

struct ctf_event_class;
struct ctf_type;
struct event;
struct parquet;

enum { SCHEMA_TS, SCHEMA_CPU, SCHEMA_PID, SCHEMA_TID, SCHEMA_COMM, SCHEMA_NR_COMMON };

/**
 * struct schema
 * @name: of the events. @columns: of their files; @sources: of each column, the member it is of;
 * NULL: of a common one.
 */
struct schema {
	struct schema *next;
	char *name;
	struct parquet_column *columns;
	char **sources;
	uint32_t nr_columns;
};

/** struct schema_member - the columns of a member of a struct; -1: it has none. @number: of an
 *  enumeration. */
struct schema_member {
	int32_t column, number;
};

/** struct schema_class - the columns of the members of an event class, in their order; a context
 *  precedes the fields, and the context of the stream precedes it. */
struct schema_class {
	struct schema *schema;
	struct schema_member *stream_context, *context, *fields;
};

/** schema_new() - with the common columns. @name: copied. */
struct schema *schema_new(const char *name);
/** The next schema. @schema: may be NULL. */
struct schema *schema_free(struct schema *schema);

/** schema_add() - the columns of a class. @stream_context: of its stream; may be NULL. */
void schema_add(struct schema *schema, const struct ctf_event_class *ec,
		const struct ctf_type *stream_context, struct schema_class *ret);
void schema_class_fini(struct schema_class *class);

/** schema_put() - set the cells of an event. @pen: any; it is overwritten. */
void schema_put(const struct schema_class *class, const struct event *event, struct parquet *file,
		struct pen *pen);

#endif
