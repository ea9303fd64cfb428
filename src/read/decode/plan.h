/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * plan.h - faster ways to read the layouts that most events have. Made once, when the metadata is
 * resolved; a type that has none is read by the general reader (value.h), with the same result.
 *
 * An event header of one little-endian word, an id in the low bits and a clock behind it, is one
 * load. A struct of scalars, strings and arrays of scalars that begin at bytes is decoded without
 * recursion.
 */
#ifndef READ_DECODE_PLAN_H
#define READ_DECODE_PLAN_H

#include <endian.h>

#include "value.h"

/** Make the plan of a struct in @arena, and set @type->plan, if it can have one. */
void plan_make_struct(struct arena *arena, struct ctf_type *type);

/** Whether a plan is right where the reader is: it counts bytes. */
static inline bool plan_fits(const struct reader *reader, const struct ctf_type *type)
{
	return type->plan && (!(reader->pos & 7) || type->align == 8);
}

/** Decode a struct by its plan; @reader has values. Return: READ_*. */
int plan_read(struct reader *reader, const struct plan *plan);

/** Skip a struct by its plan; of its values only those of slots are read. Return: READ_*. */
int plan_skip(struct reader *reader, const struct plan *plan);

/** The scopes of an event in their order: contexts of the stream, contexts, fields. */
#define PLAN_SCOPES 3

/** struct plan_scope - a struct, of which some values are decoded. @type: NULL: there is none.
 *  @wanted: by the index of a value behind the struct's own; NULL: none. */
struct plan_scope {
	const struct ctf_type *type;
	const bool *wanted;
};

/** struct plan_pick - some values of an event, the others are skipped. Freed with free(). */
struct plan_pick;

/** A pick of the wanted values; nothing behind the last one is read. Return: NULL: one of the
 *  scopes has no plan. */
struct plan_pick *plan_pick_new(const struct plan_scope scopes[]);

/** The pick that skips all of an event: set @ec->skipped, if its scopes have plans. */
void plan_make_event(struct arena *arena, const struct ctf_stream_class *sc,
		     struct ctf_event_class *ec);

/** Plans are not right where the reader is. */
#define READ_UNPLANNED 3

/** Decode the wanted values in their order, NULL: there are none. Return: READ_*. */
int plan_take(struct reader *reader, const struct plan_pick *pick, struct value *values);

/** plan_take_flat() - the same, if all have constant places and are in the window; nothing is read
 *  behind @reader->pos. Return: whether they were. */
bool plan_take_flat(const struct reader *reader, const struct plan_pick *pick,
		    struct value *values);
/** plan_take_fixed() - the same of values whose places in memory are known, at bit @at of the
 *  packet. Return: false: nothing was decoded; plan_take() does. */
bool plan_take_fixed(struct reader *reader, const struct plan_pick *pick, uint64_t at,
		     struct value *values);
/** The bytes from the first of these values to the last. Return: NULL: their places differ. */
const uint8_t *plan_fixed_bytes(const struct reader *reader, const struct plan_pick *pick,
				uint64_t at, size_t *ret_len);

/** Kinds of values in a plan; numbers come first. */
enum plan_kind {
	PLAN_U8,
	PLAN_U16,
	PLAN_U32,
	PLAN_64,
	PLAN_S8,
	PLAN_S16,
	PLAN_S32,
	PLAN_ARRAY,
	PLAN_OTHER, /* a scalar that is stored in a slot, a float, or of the other byte order */
	PLAN_STRING,
	PLAN_SEQUENCE,
	PLAN_STRUCT,
};

/** The places of an event's values: each is at a constant distance from one of these addresses. */
#define PLAN_BASES 24u

/** struct plan_place - a value: @at bytes behind the address of number @base.
 *  @size: elements of an array. */
struct plan_place {
	const struct plan_op *op;
	uint32_t at;
	uint32_t size;
	uint8_t base;
	uint8_t kind; /* enum plan_kind */
};

/** plan_place() - the place of value @number of the events of a class. Return: false: it has
 *  none. */
bool plan_place(const struct ctf_stream_class *sc, const struct ctf_event_class *ec,
		uint32_t number, struct plan_place *ret);

/** Whether events of both scopes (NULL: none) are read alike by their plans, and shown alike. */
bool plan_is_alike(const struct ctf_type *scope, const struct ctf_type *other);

/** plan_locate() - find an event that is skipped by @pick. @bases: PLAN_BASES addresses, for
 *  plan_place(). Return: READ_*. */
int plan_locate(struct reader *reader, const struct plan_pick *pick, const uint8_t **bases);

/** The value at a place. */
void plan_placed_value(const struct plan_place *place, const uint8_t *const *bases,
		       struct value *ret);

static inline const uint8_t *plan_placed(const struct plan_place *place,
					 const uint8_t *const *bases)
{
	return bases[place->base] + place->at;
}

/** The bytes of an array of characters, or of a string without its NUL. */
static inline size_t plan_placed_size(const struct plan_place *place, const uint8_t *const *bases)
{
	if (place->kind == PLAN_ARRAY)
		return place->size;
	return (size_t)(bases[place->base + 1] - plan_placed(place, bases)) -
	       (place->kind == PLAN_STRING);
}

/** The bytes of a text without the NUL. */
static inline size_t plan_placed_text(const struct plan_place *place, const uint8_t *const *bases)
{
	size_t size = plan_placed_size(place, bases);

	return place->kind == PLAN_STRING ? size :
					    strnlen((const char *)plan_placed(place, bases), size);
}

/** A number of a kind before PLAN_ARRAY, as in struct value. */
static inline uint64_t plan_placed_number(const struct plan_place *place,
					  const uint8_t *const *bases)
{
	const uint8_t *at = plan_placed(place, bases);
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;

	switch (place->kind) {
	case PLAN_U8:
		return *at;
	case PLAN_S8:
		return (uint64_t)(int64_t)(int8_t)*at;
	case PLAN_U16:
	case PLAN_S16:
		memcpy(&v16, at, sizeof(v16));
		v16 = le16toh(v16);
		return place->kind == PLAN_U16 ? v16 : (uint64_t)(int64_t)(int16_t)v16;
	case PLAN_U32:
	case PLAN_S32:
		memcpy(&v32, at, sizeof(v32));
		v32 = le32toh(v32);
		return place->kind == PLAN_U32 ? v32 : (uint64_t)(int64_t)(int32_t)v32;
	default:
		memcpy(&v64, at, sizeof(v64));
		return le64toh(v64);
	}
}

/** The pick of an event's process and thread, whose places are known: set @ec->task_pick
 *  and @ec->task_layout. */
void plan_make_task(struct arena *arena, const struct ctf_stream_class *sc,
		    struct ctf_event_class *ec);

/** The same for an event header, and @sc->header_plan. */
void plan_make_header(struct arena *arena, struct ctf_stream_class *sc);

/** One form of a header that is a word: chosen by tags from @first to @last; sizes in bits. */
struct header_form {
	uint64_t first, last;
	uint8_t clock_at, clock_bits, id_at, id_bits, size;
};

/** @tag_bits: the word's low bits. @slot: where the tag is stored. */
struct header_plan {
	uint32_t align, slot, nr_forms;
	uint8_t tag_bits;
	struct header_form forms[2];
};

/** Read a header of one word. Return: whether it was one; else nothing was changed. */
bool plan_read_header(struct reader *reader, const struct header_plan *plan);

/** plan_pass() - skip an event with its header, both by plans. @ret_payload: the position of the
 *  payload. Return: its class; NULL: it has no plans, or is not all there: nothing but slots was
 *  changed. */
struct ctf_event_class *plan_pass(struct reader *reader, const struct ctf_stream_class *sc,
				  uint64_t *ret_payload);

/** struct plan_counts - counted events: @nr, and those of each class, by its number. @first, @last:
 *  their times, and @first_of, @last_of: their classes' numbers. @until: none is later. */
struct plan_counts {
	uint64_t *of;
	uint64_t nr, first, last, until;
	uint32_t first_of, last_of;
};

static inline void plan_count_one(struct plan_counts *counts, uint32_t number, uint64_t clock)
{
	if (!counts->nr++) {
		counts->first = clock;
		counts->first_of = number;
	}
	counts->last = clock;
	counts->last_of = number;
	counts->of[number]++;
}

/** plan_count() - as plan_pass(), of all events from @reader->pos on up to one that can't be passed
 *  so, or whose time is before @counts->last or behind @counts->until. */
void plan_count(struct reader *reader, const struct ctf_stream_class *sc,
		struct plan_counts *counts);

#endif
