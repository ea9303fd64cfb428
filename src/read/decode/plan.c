/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan.h"

#include <endian.h>

#include "base/mem.h"
#include "read/clock/clock.h"

/* A struct with more values is not worth one. */
#define PLAN_MAX_VALUES 256u
#define WORD_BITS 64u

/* One value of a struct. @value: all of it but its number or bytes. @bytes: its size, or 0: it
 * varies. @stride: bytes of an element of an array. @slot: where a scalar is stored, or NO_SLOT. */
struct plan_op {
	struct value value;
	uint64_t bytes;
	uint32_t slot;
	uint8_t kind;
	uint8_t stride;
};

/* How a struct is skipped: @bytes, and then a value that has to be read: one of a slot, one of an
 * unknown size, or one that is @wanted. */
struct plan_step {
	uint64_t bytes;
	const struct plan_op *op; /* NULL: the struct ends */
	bool wanted;
};

/* Its values in their order, that of the struct itself first. */
struct plan {
	const struct plan_step *steps;
	uint32_t nr;
	struct plan_op ops[];
};

/* --- made ----------------------------------------------------------------- */

struct planner {
	uint32_t nr;
	struct plan_op ops[PLAN_MAX_VALUES];
};

static bool is_bytes(const struct ctf_type *type)
{
	return type->align <= 8 && type->size_bits % 8 == 0;
}

static uint8_t scalar_kind(const struct ctf_type *type)
{
	if (type->kind == TYPE_FLOAT || type->reversed ||
	    (type->big_endian && type->size_bits != 8))
		return PLAN_OTHER;
	switch (type->size_bits) {
	case 8:
		return type->is_signed ? PLAN_S8 : PLAN_U8;
	case 16:
		return type->is_signed ? PLAN_S16 : PLAN_U16;
	case 32:
		return type->is_signed ? PLAN_S32 : PLAN_U32;
	case 64:
		return PLAN_64;
	default:
		return PLAN_OTHER;
	}
}

static bool plan_array(struct plan_op *op, const struct ctf_type *type)
{
	const struct ctf_type *elem = type->elem;

	if (!type_is_scalar(elem) || !is_bytes(elem) || type->align > 8 ||
	    type->length > UINT32_MAX)
		return false;
	op->kind = type->kind == TYPE_ARRAY ? PLAN_ARRAY : PLAN_SEQUENCE;
	op->stride = elem->size_bits / 8;
	if (type->kind == TYPE_ARRAY) {
		op->value.count = (uint32_t)type->length;
		op->bytes = type->length * op->stride;
	}
	return true;
}

static bool plan_struct(struct planner *p, const struct ctf_type *type,
			const struct ctf_field *field);

static bool plan_field(struct planner *p, const struct ctf_field *field)
{
	const struct ctf_type *type = field->type;
	struct plan_op *op;

	if (field->role == ROLE_EVENT_ID || field->role == ROLE_CLOCK)
		return false;
	if (type->kind == TYPE_STRUCT)
		return plan_struct(p, type, field);
	if (p->nr == PLAN_MAX_VALUES || type->kind == TYPE_VARIANT || type->kind == TYPE_LEB128 ||
	    type->kind == TYPE_WIDE_STRING)
		return false;
	op = &p->ops[p->nr++];
	*op = (struct plan_op){ .value = { .field = field, .type = type },
				.slot = NO_SLOT,
				.kind = PLAN_STRING };
	if (type->kind == TYPE_STRING)
		return true;
	if (!type_is_scalar(type))
		return plan_array(op, type);
	op->kind = field->slot == NO_SLOT ? scalar_kind(type) : PLAN_OTHER;
	op->bytes = type->size_bits / 8;
	op->slot = field->slot;
	return is_bytes(type);
}

static bool plan_struct(struct planner *p, const struct ctf_type *type,
			const struct ctf_field *field)
{
	if (p->nr == PLAN_MAX_VALUES || type->align > 8)
		return false;
	p->ops[p->nr++] = (struct plan_op){
		.value = { .field = field, .type = type, .count = type->nr_fields },
		.slot = NO_SLOT,
		.kind = PLAN_STRUCT,
	};
	for (uint32_t i = 0; i < type->nr_fields; i++)
		if (!plan_field(p, &type->fields[i]))
			return false;
	return true;
}

/* Whether it has to be read when it is skipped. */
static bool plan_is_step(const struct plan_op *op)
{
	return op->kind == PLAN_STRING || op->kind == PLAN_SEQUENCE || op->slot != NO_SLOT;
}

/* @steps: zeroed, one for each value. @wanted: by the index of a value; NULL: none. Return: the
 * last one. */
static struct plan_step *plan_steps(const struct plan *plan, const bool *wanted,
				    struct plan_step *steps)
{
	for (uint32_t i = 1; i < plan->nr; i++) {
		const struct plan_op *op = &plan->ops[i];

		steps->wanted = wanted && wanted[i];
		if (plan_is_step(op) || steps->wanted)
			(steps++)->op = op;
		else
			steps->bytes += op->bytes;
	}
	return steps;
}

void plan_make_struct(struct arena *arena, struct ctf_type *type)
{
	struct plan_step *steps;
	struct planner p;
	struct plan *plan;

	p.nr = 0;
	if (!plan_struct(&p, type, NULL))
		return;
	plan = arena_alloc(arena, sizeof(*plan) + p.nr * sizeof(*p.ops));
	plan->nr = p.nr;
	memcpy(plan->ops, p.ops, p.nr * sizeof(*p.ops));
	steps = arena_alloc(arena, plan->nr * sizeof(*steps));
	plan_steps(plan, NULL, steps);
	plan->steps = steps;
	type->plan = plan;
}

#define PLAN_FLAT_VALUES 8u

/* A value that is at the same bytes of each event. */
struct plan_flat {
	const struct plan_op *op;
	uint64_t at;
};

/* @fixed_bytes: to the end of the last value, if each is at one place of the memory and wanted; 0:
 * not. */
struct plan_pick {
	bool is_aligned;     /* it begins at a byte wherever the reader is */
	uint32_t nr_flat;    /* 0: the values have no constant places, or there are many */
	uint64_t flat_bytes; /* up to the end of the last one */
	struct plan_flat flat[PLAN_FLAT_VALUES];
	uint32_t fixed_bytes;
	struct plan_step steps[];
};

static bool all_planned(const struct plan_scope scopes[], uint32_t *ret_values)
{
	bool all = true;

	*ret_values = 1;
	for (uint32_t i = 0; i < PLAN_SCOPES; i++) {
		const struct ctf_type *type = scopes[i].type;

		all = all && (!type || type->plan);
		*ret_values += type && type->plan ? type->plan->nr : 0;
	}
	return all;
}

/* Structs that follow each other are skipped as one: all end at a byte. */
static struct plan_step *pick_steps(struct plan_pick *pick, const struct plan_scope scopes[])
{
	struct plan_step *step = pick->steps;
	bool any = false;

	for (uint32_t i = 0; i < PLAN_SCOPES; i++) {
		if (!scopes[i].type)
			continue;
		pick->is_aligned = any ? pick->is_aligned : scopes[i].type->align == 8;
		any = true;
		step = plan_steps(scopes[i].type->plan, scopes[i].wanted, step);
	}
	return step;
}

static void pick_flat(struct plan_pick *pick)
{
	uint32_t nr = 0;
	uint64_t at = 0;

	for (const struct plan_step *step = pick->steps; step->op; step++) {
		at += step->bytes;
		if (step->op->kind == PLAN_STRING || step->op->kind == PLAN_SEQUENCE)
			return;
		if (step->wanted && (step->op->kind >= PLAN_OTHER || nr == PLAN_FLAT_VALUES))
			return;
		if (step->wanted)
			pick->flat[nr++] = (struct plan_flat){ step->op, at };
		at += step->op->bytes;
	}
	pick->nr_flat = nr;
	pick->flat_bytes = at;
}

static void pick_fix(struct plan_pick *pick)
{
	uint64_t bytes = 0;

	for (const struct plan_step *step = pick->steps; step->op; step++) {
		const struct plan_op *op = step->op;

		if (!step->wanted || op->slot != NO_SLOT || op->kind == PLAN_STRING ||
		    op->kind == PLAN_SEQUENCE)
			return;
		bytes += step->bytes + op->bytes;
	}
	pick->fixed_bytes = bytes < UINT32_MAX ? (uint32_t)bytes : 0;
}

static void pick_wanted(struct plan_pick *pick, const struct plan_scope scopes[])
{
	struct plan_step *end = pick_steps(pick, scopes);

	while (end > pick->steps && !end[-1].wanted)
		end--;
	*end = (struct plan_step){ .op = NULL };
	pick_flat(pick);
	pick_fix(pick);
}

struct plan_pick *plan_pick_new(const struct plan_scope scopes[])
{
	struct plan_pick *pick;
	uint32_t nr;

	if (!all_planned(scopes, &nr))
		return NULL;
	pick = xalloc(sizeof(*pick) + nr * sizeof(*pick->steps));
	pick_wanted(pick, scopes);
	return pick;
}

/* The place, size and kind of each value, in a number. Return: 0: there is no value, or these are
 * not constant. */
static uint64_t task_layout(const struct plan_pick *pick, const int8_t picked[3])
{
	uint64_t parts[3], layout = 0, at = 0;
	uint32_t nr = 0;

	if (!pick->fixed_bytes)
		return 0;
	for (const struct plan_step *step = pick->steps; step->op; step++) {
		at += nr ? step->bytes : 0;
		if (step->op->kind >= PLAN_OTHER || at > UINT8_MAX || step->op->bytes > UINT8_MAX)
			return 0;
		parts[nr++] = at << 12 | step->op->bytes << 4 | (uint64_t)step->op->kind;
		at += step->op->bytes;
	}
	for (uint32_t i = 0; i < 3; i++)
		layout = layout << 20 | (picked[i] < 0 ? 0xfffff : parts[picked[i]]);
	return layout;
}

void plan_make_task(struct arena *arena, const struct ctf_stream_class *sc,
		    struct ctf_event_class *ec)
{
	bool wanted[PLAN_SCOPES - 1][PLAN_MAX_VALUES] = { 0 };
	const struct plan_scope scopes[PLAN_SCOPES] = { { sc->event_context, wanted[0] },
							{ ec->context, wanted[1] },
							{ .type = NULL } };
	struct plan_pick *pick;
	uint32_t nr, first;

	if (!all_planned(scopes, &nr))
		return;
	first = sc->event_context ? sc->event_context->plan->nr : 0;
	for (uint32_t i = 0; i < ARRAY_SIZE(ec->task_at); i++) {
		uint32_t at = (uint32_t)ec->task_at[i];

		ec->task_picked[i] = -1;
		if (ec->task_at[i] < 0)
			continue;
		wanted[at >= first][at >= first ? at - first : at] = true;
		for (uint32_t k = 0; k < ARRAY_SIZE(ec->task_at); k++)
			ec->task_picked[i] +=
				ec->task_at[k] >= 0 && ec->task_at[k] <= ec->task_at[i];
	}
	pick = arena_alloc(arena, sizeof(*pick) + nr * sizeof(*pick->steps));
	pick_wanted(pick, scopes);
	ec->task_pick = pick;
	ec->task_layout = task_layout(pick, ec->task_picked);
}

void plan_make_event(struct arena *arena, const struct ctf_stream_class *sc,
		     struct ctf_event_class *ec)
{
	const struct plan_scope scopes[PLAN_SCOPES] = { { .type = sc->event_context },
							{ .type = ec->context },
							{ .type = ec->fields } };
	struct plan_pick *pick;
	uint32_t nr;

	if (!all_planned(scopes, &nr))
		return;
	pick = arena_alloc(arena, sizeof(*pick) + nr * sizeof(*pick->steps));
	pick_steps(pick, scopes);
	for (const struct plan_step *step = pick->steps; step->op; step++)
		ec->uses_slots |= step->op->kind != PLAN_STRING;
	ec->skipped = pick;
}

/* --- read ----------------------------------------------------------------- */

static uint16_t load16(const uint8_t *at)
{
	uint16_t v;

	memcpy(&v, at, sizeof(v));
	return le16toh(v);
}

static uint32_t load32(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return le32toh(v);
}

static uint64_t load64(const uint8_t *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return le64toh(v);
}

static void fill_other(struct reader *r, const struct plan_op *op, struct value *value,
		       const uint8_t *at)
{
	uint64_t bits = value_load(at, 0, op->value.type);

	if (op->slot != NO_SLOT)
		r->slots[op->slot] = bits;
	value_set_number(value, op->value.type, bits);
}

/* The bytes of a string, with its end; most are short. Return: SIZE_MAX: there are fewer. */
static inline size_t string_size(const uint8_t *at, size_t left)
{
	const uint64_t ones = 0x0101010101010101u;
	const uint8_t *nul;

	for (size_t n = 0; n < 16 && left >= 16; n += 8) {
		uint64_t word = load64(at + n), zeros = (word - ones) & ~word & ones * 0x80;

		if (zeros) /* the lowest one is right */
			return n + (unsigned)__builtin_ctzll(zeros) / 8 + 1;
	}
	nul = left ? memchr(at, 0, left) : NULL;
	return nul ? (size_t)(nul - at) + 1 : SIZE_MAX;
}

/* The bytes of a string, with its end, or of a sequence. Return: SIZE_MAX: there are fewer. */
static inline size_t varying_size(const struct reader *r, const struct plan_op *op,
				  const uint8_t *at, size_t left)
{
	uint64_t count;

	if (op->kind == PLAN_SEQUENCE) {
		count = r->slots[op->value.type->slot];
		return count > UINT32_MAX || left < count * op->stride ? SIZE_MAX :
									 count * op->stride;
	}
	return string_size(at, left);
}

/* A value of a kind before PLAN_OTHER, whose bytes are there. */
static inline void fill_constant(const struct plan_op *op, struct value *value, const uint8_t *at)
{
	*value = op->value;
	if (op->kind == PLAN_S32) { /* threads are */
		value->u = (uint64_t)(int64_t)(int32_t)load32(at);
		return;
	}
	switch (op->kind) {
	case PLAN_U8:
		value->u = *at;
		break;
	case PLAN_S8:
		value->u = (uint64_t)(int64_t)(int8_t)*at;
		break;
	case PLAN_U16:
		value->u = load16(at);
		break;
	case PLAN_S16:
		value->u = (uint64_t)(int64_t)(int16_t)load16(at);
		break;
	case PLAN_U32:
		value->u = load32(at);
		break;
	case PLAN_64:
		value->u = load64(at);
		break;
	case PLAN_ARRAY:
		value->bytes = at;
		break;
	}
}

/* Return: its bytes; SIZE_MAX: there are fewer. */
static inline size_t fill_value(struct reader *r, const struct plan_op *op, struct value *value,
				const uint8_t *at, size_t left)
{
	size_t size = op->bytes;

	if (left < size)
		return SIZE_MAX;
	if (op->kind < PLAN_OTHER) {
		fill_constant(op, value, at);
		return size;
	}
	*value = op->value;
	switch (op->kind) {
	case PLAN_OTHER:
		fill_other(r, op, value, at);
		break;
	case PLAN_STRING:
		size = varying_size(r, op, at, left);
		value->bytes = at;
		value->count = (uint32_t)(size - 1);
		break;
	case PLAN_SEQUENCE:
		size = varying_size(r, op, at, left);
		value->count = (uint32_t)r->slots[op->value.type->slot];
		value->bytes = at;
		break;
	}
	return size;
}

int plan_read(struct reader *r, const struct plan *plan)
{
	uint64_t pos = align_up(r->pos, 8);
	const uint8_t *at, *end = r->bytes + (r->end >> 3) - r->base;
	struct value *values = values_more(r->values, plan->nr);

	if (pos > r->end)
		return READ_SHORT;
	at = r->bytes + (pos >> 3) - r->base;
	values[0] = plan->ops[0].value;
	for (const struct plan_op *op = plan->ops + 1; op < plan->ops + plan->nr; op++) {
		size_t size = fill_value(r, op, ++values, at, (size_t)(end - at));

		if (size == SIZE_MAX)
			return READ_SHORT;
		at += size;
	}
	r->pos = (r->base + (uint64_t)(at - r->bytes)) * 8;
	return READ_OK;
}

/* Return: the bytes of a value; SIZE_MAX: there are fewer. */
static inline size_t skip_value(struct reader *r, const struct plan_op *op, const uint8_t *at,
				size_t left)
{
	if (op->kind == PLAN_STRING || op->kind == PLAN_SEQUENCE)
		return varying_size(r, op, at, left);
	if (left < op->bytes)
		return SIZE_MAX;
	r->slots[op->slot] = value_load(at, 0, op->value.type);
	return op->bytes;
}

/* @values: NULL: none is wanted. */
static inline int take_steps(struct reader *r, const struct plan_step *step, struct value *values)
{
	uint64_t pos = align_up(r->pos, 8);
	const uint8_t *at, *end = r->bytes + (r->end >> 3) - r->base;

	if (pos > r->end)
		return READ_SHORT;
	at = r->bytes + (pos >> 3) - r->base;
	for (;; step++) {
		size_t size;

		if ((size_t)(end - at) < step->bytes)
			return READ_SHORT;
		at += step->bytes;
		if (!step->op) {
			r->pos = (r->base + (uint64_t)(at - r->bytes)) * 8;
			return READ_OK;
		}
		size = values && step->wanted ?
			       fill_value(r, step->op, values++, at, (size_t)(end - at)) :
			       skip_value(r, step->op, at, (size_t)(end - at));
		if (size == SIZE_MAX)
			return READ_SHORT;
		at += size;
	}
}

int plan_skip(struct reader *r, const struct plan *plan)
{
	return take_steps(r, plan->steps, NULL);
}

bool plan_take_flat(const struct reader *r, const struct plan_pick *pick, struct value *values)
{
	uint64_t from = (r->pos >> 3) - r->base, end = (r->end >> 3) - r->base;
	const uint8_t *at = r->bytes + from;

	if (!pick->nr_flat || (r->pos & 7) || from > end || end - from < pick->flat_bytes)
		return false;
	for (uint32_t i = 0; i < pick->nr_flat; i++)
		fill_constant(pick->flat[i].op, &values[i], at + pick->flat[i].at);
	return true;
}

int plan_take(struct reader *r, const struct plan_pick *pick, struct value *values)
{
	if ((r->pos & 7) && !pick->is_aligned)
		return READ_UNPLANNED;
	return values ? take_steps(r, pick->steps, values) : take_steps(r, pick->steps, NULL);
}

const uint8_t *plan_fixed_bytes(const struct reader *r, const struct plan_pick *pick, uint64_t at,
				size_t *ret_len)
{
	uint64_t byte = at >> 3;

	if (!pick->fixed_bytes || (at & 7) || byte < r->base || r->end < at ||
	    r->end - at < (uint64_t)pick->fixed_bytes * 8)
		return NULL;
	*ret_len = pick->fixed_bytes - pick->steps->bytes;
	return r->bytes + (byte - r->base) + pick->steps->bytes;
}

bool plan_take_fixed(struct reader *r, const struct plan_pick *pick, uint64_t bit,
		     struct value *values)
{
	size_t len;
	const uint8_t *at = plan_fixed_bytes(r, pick, bit, &len);

	if (!at)
		return false;
	at -= pick->steps->bytes;
	for (const struct plan_step *step = pick->steps; step->op; step++) {
		at += step->bytes;
		at += fill_value(r, step->op, values++, at, step->op->bytes);
	}
	return true;
}

/* --- places ------------------------------------------------------------------------------- */

bool plan_place(const struct ctf_stream_class *sc, const struct ctf_event_class *ec,
		uint32_t number, struct plan_place *ret)
{
	const struct ctf_type *scopes[PLAN_SCOPES] = { sc->event_context, ec->context, ec->fields };
	struct plan_place place = { .op = NULL };
	uint32_t base = 0;
	uint64_t at = 0;

	for (uint32_t i = 0; ec->skipped && i < PLAN_SCOPES; i++) {
		for (uint32_t k = 0; scopes[i] && k < scopes[i]->plan->nr; k++) {
			const struct plan_op *op = &scopes[i]->plan->ops[k];

			if (!number--)
				place = (struct plan_place){ op, (uint32_t)at, op->value.count,
							     (uint8_t)base, op->kind };
			base += plan_is_step(op);
			at = plan_is_step(op) ? 0 : at + op->bytes;
			if (base >= PLAN_BASES || at > UINT32_MAX)
				return false;
		}
	}
	*ret = place;
	return place.op;
}

static bool plan_op_is_alike(const struct plan_op *op, const struct plan_op *other)
{
	return op->kind == other->kind && op->bytes == other->bytes && op->slot == other->slot &&
	       op->stride == other->stride && op->value.count == other->value.count &&
	       type_is_alike(op->value.type, other->value.type);
}

bool plan_is_alike(const struct ctf_type *scope, const struct ctf_type *other)
{
	if (!scope || !other)
		return scope == other;
	if (!scope->plan || !other->plan || scope->plan->nr != other->plan->nr)
		return false;
	for (uint32_t i = 0; i < scope->plan->nr; i++)
		if (!plan_op_is_alike(&scope->plan->ops[i], &other->plan->ops[i]))
			return false;
	return true;
}

int plan_locate(struct reader *r, const struct plan_pick *pick, const uint8_t **bases)
{
	uint64_t pos = align_up(r->pos, 8);
	const uint8_t *at, *end = r->bytes + (r->end >> 3) - r->base;
	const struct plan_step *step = pick->steps;

	if ((r->pos & 7) && !pick->is_aligned)
		return READ_UNPLANNED;
	if (pos > r->end)
		return READ_SHORT;
	*bases = at = r->bytes + (pos >> 3) - r->base;
	for (;; step++) {
		size_t size;

		if ((size_t)(end - at) < step->bytes)
			return READ_SHORT;
		at += step->bytes;
		if (!step->op)
			return READ_OK;
		size = skip_value(r, step->op, at, (size_t)(end - at));
		if (size == SIZE_MAX)
			return READ_SHORT;
		at += size;
		*++bases = at;
	}
}

void plan_placed_value(const struct plan_place *place, const uint8_t *const *bases,
		       struct value *ret)
{
	const struct plan_op *op = place->op;
	const uint8_t *at = plan_placed(place, bases);
	size_t size = (size_t)(bases[place->base + plan_is_step(op)] - at);

	*ret = op->value;
	if (op->kind < PLAN_OTHER) {
		fill_constant(op, ret, at);
	} else if (op->kind == PLAN_OTHER) {
		value_set_number(ret, op->value.type, value_load(at, 0, op->value.type));
	} else {
		ret->bytes = at;
		ret->count = (uint32_t)(op->kind == PLAN_STRING ? size - 1 : size / op->stride);
	}
}

/* --- headers -------------------------------------------------------------- */

static bool is_word_part(const struct ctf_field *field)
{
	const struct ctf_type *type = field->type;

	return (type->kind == TYPE_INT || type->kind == TYPE_ENUM) && !type->is_signed &&
	       !type->big_endian && !type->reversed;
}

static bool take_part(struct header_form *form, const struct ctf_field *field)
{
	uint64_t at = align_up(form->size, field->type->align);

	if (!is_word_part(field) || field->slot != NO_SLOT ||
	    at + field->type->size_bits > WORD_BITS)
		return false;
	form->size = (uint8_t)(at + field->type->size_bits);
	if (field->role == ROLE_EVENT_ID) {
		form->id_at = (uint8_t)at;
		form->id_bits = field->type->size_bits;
	} else if (field->role == ROLE_CLOCK) {
		form->clock_at = (uint8_t)at;
		form->clock_bits = field->type->size_bits;
	}
	return true;
}

/* The members of the option @type, behind @form->size bits. */
static bool take_option(struct header_form *form, const struct ctf_type *type)
{
	uint64_t at = align_up(form->size, type->align);
	uint32_t clocks = 0;

	if (type->kind != TYPE_STRUCT || at > WORD_BITS)
		return false;
	form->size = (uint8_t)at;
	for (uint32_t i = 0; i < type->nr_fields; i++) {
		clocks += type->fields[i].role == ROLE_CLOCK;
		if (!take_part(form, &type->fields[i]))
			return false;
	}
	return clocks == 1;
}

/* Of several mappings of a value the first counts: none behind one that has no form is taken. */
static void take_forms(struct header_plan *plan, const struct ctf_field *tag,
		       const struct ctf_type *variant)
{
	for (uint32_t i = 0; i < variant->tag->nr_mappings; i++) {
		const struct ctf_mapping *mapping = &variant->tag->mappings[i];
		struct header_form form = { .first = mapping->first, .last = mapping->last };
		int32_t option = variant->option_of[i];

		if (plan->nr_forms == ARRAY_SIZE(plan->forms) || option < 0 ||
		    !take_part(&form, &(struct ctf_field){ .type = tag->type,
							   .slot = NO_SLOT,
							   .role = ROLE_EVENT_ID }) ||
		    !take_option(&form, variant->fields[option].type))
			break;
		plan->forms[plan->nr_forms++] = form;
	}
}

void plan_make_header(struct arena *arena, struct ctf_stream_class *sc)
{
	const struct ctf_type *header = sc->header;
	const struct ctf_field *fields = header ? header->fields : NULL;
	struct header_plan plan = { .nr_forms = 0 };

	if (!header || header->nr_fields != 2 || header->align < 8 ||
	    fields[0].role != ROLE_EVENT_ID || fields[0].slot == NO_SLOT ||
	    !is_word_part(&fields[0]) || fields[0].type->size_bits > 16 ||
	    fields[1].type->kind != TYPE_VARIANT || fields[1].type->slot != fields[0].slot ||
	    fields[1].slot != NO_SLOT)
		return;
	plan.align = header->align;
	plan.slot = fields[0].slot;
	plan.tag_bits = fields[0].type->size_bits;
	take_forms(&plan, &fields[0], fields[1].type);
	if (plan.nr_forms)
		sc->header_plan = memcpy(arena_alloc(arena, sizeof(plan)), &plan, sizeof(plan));
}

static uint64_t bits_of(uint64_t word, unsigned int at, unsigned int bits)
{
	return word >> at & (UINT64_MAX >> (WORD_BITS - bits));
}

/* NULL: none has the tag. */
static inline const struct header_form *find_form(const struct header_plan *plan, uint64_t tag)
{
	const struct header_form *form = plan->forms;

	while (tag < form->first || tag > form->last)
		if (++form == plan->forms + plan->nr_forms)
			return NULL;
	return form;
}

static inline bool read_header(struct reader *r, const struct header_plan *plan)
{
	uint64_t pos = align_up(r->pos, plan->align), word, tag;
	const struct header_form *form;

	if (pos > r->end || r->end - pos < WORD_BITS)
		return false;
	word = load64(r->bytes + (pos >> 3) - r->base);
	tag = bits_of(word, 0, plan->tag_bits);
	form = find_form(plan, tag);
	if (!form)
		return false;
	r->slots[plan->slot] = tag;
	r->event_id = bits_of(word, form->id_at, form->id_bits);
	r->clock = clock_extend(r->clock, bits_of(word, form->clock_at, form->clock_bits),
				form->clock_bits);
	r->pos = pos + form->size;
	return true;
}

bool plan_read_header(struct reader *r, const struct header_plan *plan)
{
	return read_header(r, plan);
}

struct ctf_event_class *plan_pass(struct reader *r, const struct ctf_stream_class *sc,
				  uint64_t *ret_payload)
{
	uint64_t pos = r->pos, clock = r->clock;
	struct ctf_event_class *ec;

	if (!sc->header_plan || !read_header(r, sc->header_plan))
		return NULL;
	ec = stream_class_event(sc, r->event_id);
	*ret_payload = r->pos;
	if (ec && ec->skipped && (!(r->pos & 7) || ec->skipped->is_aligned) &&
	    take_steps(r, ec->skipped->steps, NULL) == READ_OK)
		return ec;
	r->pos = pos;
	r->clock = clock;
	return NULL;
}

/* Return: behind the event; NULL: not all of it is there. */
static inline const uint8_t *pass_steps(struct reader *r, const struct plan_step *step,
					const uint8_t *at, const uint8_t *end)
{
	for (;; step++) {
		size_t size;

		if (at > end || (size_t)(end - at) < step->bytes)
			return NULL;
		at += step->bytes;
		if (!step->op)
			return at;
		size = skip_value(r, step->op, at, (size_t)(end - at));
		if (size == SIZE_MAX)
			return NULL;
		at += size;
	}
}

/* The event at @at. Return: behind it; NULL: it can't be passed so. */
static inline const uint8_t *count_event(struct reader *r, const struct ctf_stream_class *sc,
					 struct plan_counts *counts, const uint8_t *at,
					 const uint8_t *end)
{
	const struct header_plan *plan = sc->header_plan;
	uint64_t word = load64(at), tag = bits_of(word, 0, plan->tag_bits), id, now;
	const struct header_form *form = find_form(plan, tag);
	const struct ctf_event_class *ec;

	if (!form)
		return NULL;
	id = bits_of(word, form->id_at, form->id_bits);
	now = clock_extend(r->clock, bits_of(word, form->clock_at, form->clock_bits),
			   form->clock_bits);
	ec = id < sc->nr_by_id ? sc->by_id[id] : NULL;
	if (!ec || !ec->skipped || (form->size & 7 && !ec->skipped->is_aligned) ||
	    now < counts->last || now > counts->until)
		return NULL;
	r->slots[plan->slot] = tag;
	at = pass_steps(r, ec->skipped->steps, at + (form->size + 7u) / 8, end);
	if (!at)
		return NULL;
	plan_count_one(counts, ec->number, now);
	r->clock = now;
	return at;
}

/* Headers and events begin at bytes. */
void plan_count(struct reader *r, const struct ctf_stream_class *sc, struct plan_counts *counts)
{
	const uint8_t *at = r->bytes + (r->pos >> 3) - r->base, *behind = at;
	const uint8_t *end = r->bytes + (r->end >> 3) - r->base;

	if (!sc->header_plan || sc->header_plan->align != 8 || (r->pos & 7) || at > end)
		return;
	while (behind && (size_t)(end - behind) >= sizeof(uint64_t)) {
		at = behind;
		behind = count_event(r, sc, counts, at, end);
	}
	r->pos = (r->base + (uint64_t)((behind ?: at) - r->bytes)) * 8;
}
