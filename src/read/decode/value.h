/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * value.h - decodes the bits of a packet, by a type, to values.
 *
 * A reader reads a window of one packet's bytes. With a list of values it decodes; without
 * one it only skips, which is several times faster. Owned by one stream. Positions are bits
 * from the begin of the packet, as CTF defines alignment, regardless of the part of the
 * packet that is in memory.
 */
#ifndef READ_DECODE_VALUE_H
#define READ_DECODE_VALUE_H

#include <string.h>

#include "type.h"

/* More values than this in one event, or more steps to skip it: damaged. */
#define READ_MAX_STEPS (1u << 20)

/** Outcomes of reading. */
enum {
	READ_OK = 0,
	READ_SHORT = 1,	  /* the window ends before the value does */
	READ_DAMAGED = 2, /* the bytes are not a valid event */
};

/**
 * struct value - one decoded value; compounds are followed by their members.
 * @field: names it; NULL for an array's elements.
 * @count: struct: members; variant: 1; array: elements; text: bytes.
 * @bit: array of scalars: position of the first element in bytes[0].
 */
struct value {
	const struct ctf_field *field;
	const struct ctf_type *type;
	union {
		uint64_t u; /* sign-extended where the type is signed */
		double d;
		const uint8_t *bytes;
	};
	uint32_t count;
	uint8_t bit;
};

struct values_text;

struct values {
	struct value *at;
	uint32_t nr, size;
	struct values_text *texts; /* that had to be converted */
};

/**
 * struct reader
 * @bytes: window; its first byte is byte @base of the packet.
 * @end: position after the last bit in the window.
 * @slots: values that lengths and tags refer to.
 * @event_id, @clock: set by the fields of an event header.
 * @values: NULL: skip.
 */
struct reader {
	const uint8_t *bytes;
	uint64_t base;
	uint64_t end;
	uint64_t pos;
	uint64_t *slots;
	uint64_t event_id;
	uint64_t clock;
	uint32_t steps_left;
	struct values *values;
};

void values_fini(struct values *values);

/** @nr more values, which are not set. They stay where they are until the next call. */
struct value *values_more(struct values *values, uint32_t nr);

/** Whether a value's text was converted: it is not in the packet. */
bool values_has_text(const struct values *values, const struct value *value);
/** Add a copy of such a text. */
const uint8_t *values_add_text(struct values *values, const uint8_t *text, size_t len);

/** The bits of a scalar, sign-extended where the type is signed; it begins at @bit of bytes[0]. */
uint64_t value_load(const uint8_t *bytes, unsigned bit, const struct ctf_type *type);

/** Set a scalar by its bits. */
static inline void value_set_number(struct value *value, const struct ctf_type *type, uint64_t bits)
{
	uint32_t bits32 = (uint32_t)bits;
	float single;

	if (type->kind != TYPE_FLOAT) {
		value->u = bits;
	} else if (type->size_bits == 64) {
		memcpy(&value->d, &bits, 8);
	} else {
		memcpy(&single, &bits32, 4);
		value->d = single;
	}
}

/** Read a struct (NULL: nothing), from @reader->pos on. Return: READ_*. */
int reader_struct(struct reader *reader, const struct ctf_type *type);

/** The value behind @value and its members. */
const struct value *value_behind(const struct value *value);

/** The member of this name of a struct, without the underscore that CTF prepends.
 *  @scope: may be NULL. Return: NULL: none. */
const struct value *value_member(const struct value *scope, const char *name);

/** Where the provider begins in the name of a context that the application provides, which is shown
 *  as app_PROVIDER_NAME; NULL: it is none. Our names have one underscore more than LTTng's. */
const char *value_provider(const char *shown);
/** A context that the application provides, with a value of any type, as metadata.c declares it:
 *  a struct of a kind and a member of each kind. */
bool value_is_provided(const struct value *value);
/** PROVIDER:NAME of such a context; NULL: an older trace, which has only the field's name. */
const char *value_provided_name(const struct value *value);
/** The valid member of such a context; NULL: it has no value. */
const struct value *value_provided(const struct value *value);

/** An array's scalar element @i. */
struct value value_element(const struct value *array, uint64_t i);

/** An array of scalars is one value; others are followed by their elements. */
static inline bool value_is_packed(const struct value *value)
{
	return (value->type->kind == TYPE_ARRAY || value->type->kind == TYPE_SEQUENCE) &&
	       type_is_scalar(value->type->elem);
}

/** The value of an optional field, or any other value; NULL: the optional field is not there. */
static inline const struct value *value_inner(const struct value *value)
{
	while (value && value->type->is_optional)
		value = value->count ? value + 1 : NULL;
	return value;
}

/** Whether a value is shown as a string. */
static inline bool value_is_text(const struct value *value)
{
	return value_is_packed(value) && value->type->text && !value->bit;
}

/** Whether it is a string, or shown as one. */
static inline bool value_has_text(const struct value *value)
{
	return value->type->kind == TYPE_STRING || value_is_text(value);
}

/** Bytes of a packed array of 8-bit text, up to its first NUL. */
static inline size_t text_length(const struct value *value)
{
	return strnlen((const char *)value->bytes, value->count);
}

/** Bytes of a string or of such an array, without the NUL. */
static inline size_t value_text_length(const struct value *value)
{
	return value->type->kind == TYPE_STRING ? value->count : text_length(value);
}

#endif
