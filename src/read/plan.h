/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * plan.h - faster ways to read the layouts that most events have. Made once, when the metadata is
 * resolved; a type that has none is read by the general reader (value.h), with the same result.
 *
 * An event header of one little-endian word, an id in the low bits and a clock behind it, is one
 * load. A struct of scalars, strings and arrays of scalars that begin at bytes is decoded without
 * recursion.
 */
#ifndef READ_PLAN_H
#define READ_PLAN_H

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

/** struct plan_pick - some values of a struct, the others are skipped. Freed with free(). */
struct plan_pick;

/** @wanted: by the index of a value behind the struct's own. @to_end: the reader passes all of the
 *  struct, otherwise nothing behind the last wanted value. */
struct plan_pick *plan_pick_new(const struct plan *plan, const bool *wanted, bool to_end);

/** Decode the wanted values, in their order. Return: READ_*. */
int plan_take(struct reader *reader, const struct plan_pick *pick, struct value *values);

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

#endif
