/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "type.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define ARENA_FIRST (8u << 10) /* there may be hundreds of small traces */
#define ARENA_BLOCK (64u << 10)

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	max_align_t data[];
};

static struct arena_block *arena_grow(struct arena *arena, size_t size)
{
	size_t usual = arena->blocks ? MIN(2 * arena->blocks->size, ARENA_BLOCK) : ARENA_FIRST;
	struct arena_block *block = xalloc(sizeof(*block) + MAX(size, usual));

	block->size = MAX(size, usual);
	block->next = arena->blocks;
	arena->blocks = block;
	return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_block *block = arena->blocks;
	void *p;

	size = align_up(size, sizeof(max_align_t));
	if (!block || block->size - block->used < size)
		block = arena_grow(arena, size);
	p = (char *)block->data + block->used;
	block->used += size;
	return p;
}

char *arena_strndup(struct arena *arena, const char *s, size_t len)
{
	char *copy = arena_alloc(arena, len + 1);

	memcpy(copy, s, len);
	return copy;
}

void arena_fini(struct arena *arena)
{
	while (arena->blocks) {
		struct arena_block *next = arena->blocks->next;

		free(arena->blocks);
		arena->blocks = next;
	}
}

const struct ctf_env *trace_class_env_find(const struct ctf_trace_class *tc, const char *key)
{
	for (const struct ctf_env *env = tc->env; env; env = env->next)
		if (!strcmp(env->key, key))
			return env;
	return NULL;
}

const char *trace_class_env(const struct ctf_trace_class *tc, const char *key)
{
	const struct ctf_env *env = trace_class_env_find(tc, key);

	return env ? env->text : NULL;
}

struct ctf_stream_class *trace_class_stream(const struct ctf_trace_class *tc, uint64_t id)
{
	for (struct ctf_stream_class *sc = tc->streams; sc; sc = sc->next)
		if (sc->id == id)
			return sc;
	return NULL;
}

struct ctf_event_class *stream_class_event_slow(const struct ctf_stream_class *sc, uint64_t id)
{
	uint32_t lo = 0, hi = sc->nr_sorted;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (sc->sorted[mid]->id == id)
			return sc->sorted[mid];
		if (sc->sorted[mid]->id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

static bool mappings_are_alike(const struct ctf_type *type, const struct ctf_type *other)
{
	if (type->nr_mappings != other->nr_mappings)
		return false;
	for (uint32_t i = 0; i < type->nr_mappings; i++) {
		const struct ctf_mapping *m = &type->mappings[i], *of = &other->mappings[i];

		if (m->first != of->first || m->last != of->last ||
		    strcmp(m->label, of->label) != 0)
			return false;
	}
	return true;
}

bool type_is_alike(const struct ctf_type *type, const struct ctf_type *other)
{
	if (type == other)
		return true;
	return type->kind == other->kind && type->kind != TYPE_VARIANT &&
	       type->size_bits == other->size_bits && type->base == other->base &&
	       type->is_signed == other->is_signed && type->big_endian == other->big_endian &&
	       type->text == other->text && type->is_set == other->is_set &&
	       type->mask == other->mask && type->align == other->align &&
	       type->slot == other->slot && type->nr_fields == other->nr_fields &&
	       type->length == other->length && mappings_are_alike(type, other) &&
	       !type->elem == !other->elem &&
	       (!type->elem || type_is_alike(type->elem, other->elem));
}

uint32_t enum_find(const struct ctf_type *type, uint64_t value, uint32_t start)
{
	for (uint32_t i = start; i < type->nr_mappings; i++) {
		const struct ctf_mapping *m = &type->mappings[i];

		if (type->is_signed ? (int64_t)value >= (int64_t)m->first &&
					      (int64_t)value <= (int64_t)m->last :
				      value >= m->first && value <= m->last)
			return i;
	}
	return type->nr_mappings;
}

void enum_begin(const struct ctf_type *type, uint64_t value, struct enum_labels *ret)
{
	*ret = (struct enum_labels){ .type = type, .value = value };
}

/* Bits of a set that a label decides: of one among the mask's bits all of these. */
static uint64_t enum_bits(const struct ctf_type *type, uint64_t label)
{
	return label & ~type->mask ? label : type->mask;
}

/* A label of no bits is that of the value 0. */
static const char *enum_next_of_set(struct enum_labels *labels)
{
	const struct ctf_type *type = labels->type;

	while (labels->at < type->nr_mappings) {
		const struct ctf_mapping *m = &type->mappings[labels->at++];
		uint64_t bits = enum_bits(type, m->first);

		if (m->first != m->last || strchr(m->label, '|') || bits & labels->taken ||
		    (labels->value & bits) != m->first ||
		    (!bits && (labels->value || labels->taken)))
			continue;
		labels->value &= ~bits;
		labels->taken |= bits;
		return m->label;
	}
	return NULL;
}

static const char *enum_next_flag(struct enum_labels *labels)
{
	while (labels->at < labels->type->nr_mappings) {
		const struct ctf_mapping *m = &labels->type->mappings[labels->at++];

		if (!(labels->value & m->first))
			continue;
		labels->taken |= m->first;
		return m->label;
	}
	labels->value &= ~labels->taken;
	return NULL;
}

const char *enum_next(struct enum_labels *labels)
{
	const struct ctf_type *type = labels->type;
	uint32_t at;

	if (type->look == LOOK_FLAGS)
		return enum_next_flag(labels);
	if (type->is_set)
		return enum_next_of_set(labels);
	at = enum_find(type, labels->value, labels->at);
	labels->at = at + 1;
	return at < type->nr_mappings ? type->mappings[at].label : NULL;
}

void enum_text(char *buf, size_t len, const struct ctf_type *type, uint64_t value)
{
	struct enum_labels labels;
	const char *label;
	size_t used = 0;

	enum_begin(type, value, &labels);
	*buf = '\0';
	while (used < len && (label = enum_next(&labels)) && (type->is_set || !used))
		used += (size_t)snprintf(buf + used, len - used, "%s%s", used ? "|" : "", label);
	if (used < len && type->is_set && labels.value)
		snprintf(buf + used, len - used, "%s0x%" PRIx64, used ? "|" : "", labels.value);
	else if (!used && type->is_signed)
		snprintf(buf, len, "%" PRId64, (int64_t)value);
	else if (!used)
		snprintf(buf, len, "%" PRIu64, value);
}
