/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/escape.h"

void model_init(struct model *m, const char *where, struct arena *arena, struct reporter *reporter)
{
	*m = (struct model){
		.where = where,
		.arena = arena,
		.reporter = reporter,
		.budget = MODEL_BUDGET,
		.tc = arena_alloc(arena, sizeof(*m->tc)),
	};
}

int model_fail(struct model *m, const char *fmt, ...)
{
	va_list args;

	if (!m->error[0]) {
		va_start(args, fmt);
		vsnprintf(m->error, sizeof(m->error), fmt, args);
		va_end(args);
	}
	return -EPROTO;
}

int model_spend(struct model *m, uint64_t steps)
{
	if (m->budget < steps) {
		m->budget = 0;
		return model_fail(m, "too many types, or nested too deeply");
	}
	m->budget -= steps;
	return 0;
}

/* --- types ---------------------------------------------------------------- */

struct ctf_type *model_new_type(struct model *m, enum type_kind kind)
{
	struct ctf_type *type = arena_alloc(m->arena, sizeof(*type));

	type->kind = kind;
	type->align = 1;
	type->base = 10;
	type->slot = NO_SLOT;
	type->fixed_bits = SIZE_VARIES;
	return type;
}

/* A list of @nr entries is full at each power of two. Return: @old, or a larger copy. */
static void *grown(struct model *m, void *old, uint32_t nr, size_t size)
{
	void *more = old;

	if (!(nr & (nr - 1))) {
		more = arena_alloc(m->arena, (nr ? 2 * nr : 1) * size);
		if (nr)
			memcpy(more, old, nr * size);
	}
	return more;
}

int model_add_field(struct model *m, struct ctf_type *type, const char *name, const char *shown,
		    const struct ctf_type *field_type)
{
	if (type->nr_fields == MODEL_MAX_FIELDS)
		return model_fail(m, "a struct has more than %u fields", MODEL_MAX_FIELDS);
	type->fields = grown(m, type->fields, type->nr_fields, sizeof(*type->fields));
	type->fields[type->nr_fields++] = (struct ctf_field){
		.name = name,
		.shown = shown,
		.shown_len = strlen(shown),
		.type = field_type,
		.slot = NO_SLOT,
	};
	return 0;
}

struct ctf_mapping *model_add_mapping(struct model *m, struct ctf_type *type)
{
	type->mappings = grown(m, type->mappings, type->nr_mappings, sizeof(*type->mappings));
	return &type->mappings[type->nr_mappings++];
}

int model_check_align(struct model *m, uint64_t align)
{
	if (!align || align > 1u << 20 || (align & (align - 1)))
		return model_fail(m, "an alignment must be a power of two");
	return 0;
}

/* --- classes -------------------------------------------------------------- */

int model_add_stream(struct model *m, struct ctf_stream_class *sc)
{
	if (m->tc->nr_streams == MODEL_MAX_STREAMS)
		return model_fail(m, "it declares more than %u streams", MODEL_MAX_STREAMS);
	m->tc->nr_streams++;
	sc->next = m->tc->streams;
	m->tc->streams = sc;
	return 0;
}

#define COUNTS 32u
#define COUNTS_APART 128u /* bytes between them and all else */

/* It is written at each event, while other threads read the class: not in one line of memory. */
static uint64_t *new_count(struct model *m)
{
	if (!m->nr_counts) {
		size_t size = COUNTS * sizeof(*m->counts) + 2 * COUNTS_APART;

		m->counts = (uint64_t *)((char *)arena_alloc(m->arena, size) + COUNTS_APART);
		m->nr_counts = COUNTS;
	}
	m->nr_counts--;
	return m->counts++;
}

struct ctf_event_class *model_new_event(struct model *m)
{
	struct ctf_event_class *ec = arena_alloc(m->arena, sizeof(*ec));

	ec->count = new_count(m);
	ec->loglevel = -1;
	ec->name = "";
	return ec;
}

static bool is_plain(const char *name)
{
	while (*name && escape_is_plain((uint8_t)*name))
		name++;
	return !*name;
}

void model_add_event(struct model *m, struct ctf_event_class *ec)
{
	ec->name_len = strlen(ec->name);
	ec->name_is_plain = is_plain(ec->name);
	ec->next = m->tc->events;
	m->tc->events = ec;
}
