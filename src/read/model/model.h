/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * model.h - from the declarations of a trace's metadata, in TSDL or as CTF 2, to its trace class.
 * A parser adds declarations; model_resolve() then makes a copy of each type for each use, in which
 * references are bound. The metadata is untrusted: nesting, memory and time are limited.
 *
 * Functions return 0, or -EPROTO after model_fail() has stored the reason.
 */
#ifndef READ_MODEL_MODEL_H
#define READ_MODEL_MODEL_H

#include "read/report.h"
#include "read/decode/type.h"

#define MODEL_MAX_NESTING 48
#define MODEL_MAX_DEPTH 500 /* of arrays of arrays, too */
#define MODEL_MAX_FIELDS 4096
#define MODEL_MAX_STREAMS 1024
/* Limit of copies of types and steps of searches for one metadata file. */
#define MODEL_BUDGET (64u << 20)

/* Scalars whose byte order or clock is known only after the whole metadata was parsed. */
struct model_pending {
	struct ctf_type *type;
	struct model_pending *next;
};

/** struct model - @where: the metadata's name in reports. @has_roles: roles of fields are declared;
 *  else they follow from names. */
struct model {
	const char *where;
	struct arena *arena;
	struct reporter *reporter;
	struct ctf_trace_class *tc;
	struct model_pending *pending;
	uint64_t budget;
	uint64_t *counts; /* for the next classes of events */
	uint32_t nr_counts;
	bool has_roles;
	char error[200];
};

void model_init(struct model *m, const char *where, struct arena *arena, struct reporter *reporter);

int model_fail(struct model *m, const char *fmt, ...) PRINTF(2, 3);
/** Count steps against MODEL_BUDGET, as malicious metadata could use unlimited time. */
int model_spend(struct model *m, uint64_t steps);

struct ctf_type *model_new_type(struct model *m, enum type_kind kind);
/** A member or an option; @shown: @name, or behind its first bytes. */
int model_add_field(struct model *m, struct ctf_type *type, const char *name, const char *shown,
		    const struct ctf_type *field_type);
struct ctf_mapping *model_add_mapping(struct model *m, struct ctf_type *type);
int model_check_align(struct model *m, uint64_t align);

int model_add_stream(struct model *m, struct ctf_stream_class *sc);
struct ctf_event_class *model_new_event(struct model *m);
/** When its name and text are set. */
void model_add_event(struct model *m, struct ctf_event_class *ec);

/** Bind all types, and report the classes that can't be read. */
int model_resolve(struct model *m);

#endif
