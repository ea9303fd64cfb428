/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "value.h"

#include <endian.h>

#include "base/mem.h"
#include "base/str.h"
#include "read/clock/clock.h"
#include "plan.h"
#include "trace/metadata.h"

static int read_type(struct reader *r, const struct ctf_type *type, const struct ctf_field *field);

struct values_text {
	struct values_text *next;
	char text[];
};

static void texts_free(struct values *values)
{
	while (values->texts) {
		struct values_text *next = values->texts->next;

		free(values->texts);
		values->texts = next;
	}
}

void values_fini(struct values *values)
{
	texts_free(values);
	free(values->at);
	*values = (struct values){ .at = NULL };
}

/* Memory for a text that is not in the packet, up to the next first value. */
static char *values_text(struct values *values, size_t size)
{
	struct values_text *text = xalloc(sizeof(*text) + size);

	text->next = values->texts;
	values->texts = text;
	return text->text;
}

bool values_has_text(const struct values *values, const struct value *value)
{
	const struct values_text *text = values->texts;

	while (text && value->bytes != (const uint8_t *)text->text)
		text = text->next;
	return text;
}

const uint8_t *values_add_text(struct values *values, const uint8_t *text, size_t len)
{
	return memcpy(values_text(values, len + 1), text, len);
}

/* Bounded by READ_MAX_STEPS a struct: each value costs a step. */
struct value *values_more(struct values *values, uint32_t nr)
{
	struct value *more;

	if (!values->nr && values->texts)
		texts_free(values);
	if (values->size - values->nr < nr) {
		values->size = 2 * values->size + MAX(nr, 64u);
		values->at = xrealloc(values->at, values->size * sizeof(*values->at));
	}
	more = &values->at[values->nr];
	values->nr += nr;
	return more;
}

static struct value *value_add(struct reader *r, const struct ctf_type *type,
			       const struct ctf_field *field)
{
	struct value *value = values_more(r->values, 1);

	value->type = type;
	value->field = field;
	value->count = 0;
	value->bit = 0;
	return value;
}

/* --- scalars -------------------------------------------------------------- */

/* Any bits, least significant first in little-endian traces, else the other
 * way round, as CTF packs bit fields. */
static uint64_t load_bits(const uint8_t *bytes, unsigned bit, unsigned size, bool big_endian)
{
	uint64_t value = 0;
	unsigned got = 0;
	uint32_t word;

	if (!big_endian && bit + size == 32) { /* the clock beside a 5-bit id */
		memcpy(&word, bytes, 4);
		return le32toh(word) >> bit;
	}
	while (got < size) {
		unsigned take = MIN(8 - bit, size - got);
		unsigned byte = *bytes++;

		if (big_endian)
			value = value << take | ((byte >> (8 - bit - take)) & ((1u << take) - 1));
		else
			value |= (uint64_t)((byte >> bit) & ((1u << take) - 1)) << got;
		got += take;
		bit = 0;
	}
	return value;
}

static uint64_t load_bytes(const uint8_t *bytes, const struct ctf_type *type)
{
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (type->size_bits) {
	case 8:
		return *bytes;
	case 16:
		memcpy(&v16, bytes, 2);
		return type->big_endian ? be16toh(v16) : le16toh(v16);
	case 32:
		memcpy(&v32, bytes, 4);
		return type->big_endian ? be32toh(v32) : le32toh(v32);
	case 64:
		memcpy(&v64, bytes, 8);
		return type->big_endian ? be64toh(v64) : le64toh(v64);
	default:
		return load_bits(bytes, 0, type->size_bits, type->big_endian);
	}
}

static uint64_t reversed(uint64_t value, unsigned size)
{
	uint64_t result = 0;

	for (; size--; value >>= 1)
		result = result << 1 | (value & 1);
	return result;
}

uint64_t value_load(const uint8_t *bytes, unsigned bit, const struct ctf_type *type)
{
	uint64_t value = bit ? load_bits(bytes, bit, type->size_bits, type->big_endian) :
			       load_bytes(bytes, type);

	if (type->reversed)
		value = reversed(value, type->size_bits);
	if (type->is_signed && type->size_bits < 64)
		value = (uint64_t)((int64_t)(value << (64 - type->size_bits)) >>
				   (64 - type->size_bits));
	return value;
}

/* @bits: that can differ in the value. */
static void note_role(struct reader *r, unsigned bits, uint8_t role, uint64_t value)
{
	if (role == ROLE_EVENT_ID)
		r->event_id = value;
	else if (role == ROLE_CLOCK)
		r->clock = clock_extend(r->clock, value, bits);
}

static inline int read_scalar(struct reader *r, const struct ctf_type *type,
			      const struct ctf_field *field)
{
	uint64_t pos = align_up(r->pos, type->align), bits;

	if (pos > r->end || r->end - pos < type->size_bits)
		return READ_SHORT;
	r->pos = pos + type->size_bits;
	if (!r->values && (!field || (field->slot == NO_SLOT && !field->role)))
		return READ_OK;
	bits = value_load(r->bytes + (pos >> 3) - r->base, pos & 7, type);
	if (field && field->slot != NO_SLOT)
		r->slots[field->slot] = bits;
	if (field && field->role)
		note_role(r, type->size_bits, field->role, bits);
	if (r->values)
		value_set_number(value_add(r, type, field), type, bits);
	return READ_OK;
}

const char *value_provider(const char *shown)
{
	shown += *shown == '_';
	return strncmp(shown, "app_", 4) == 0 ? shown + 4 : NULL;
}

bool value_is_provided(const struct value *value)
{
	static const char *const members[] = { "kind", "integer", "float", "string" };
	static const uint8_t kinds[] = { TYPE_ENUM, TYPE_INT, TYPE_FLOAT, TYPE_STRING };

	if (value->type->kind != TYPE_STRUCT || value->count != ARRAY_SIZE(members) ||
	    !value->field || !value_provider(value->field->shown))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (value[i + 1].type->kind != kinds[i] ||
		    strcmp(value[i + 1].field->shown, members[i]) != 0)
			return false;
	return true;
}

const char *value_provided_name(const struct value *value)
{
	const struct ctf_type *kind = value->type->fields[0].type;

	for (uint32_t i = 0; i < kind->nr_mappings; i++)
		if (kind->mappings[i].first == METADATA_PROVIDED_NAME &&
		    strchr(kind->mappings[i].label, ':'))
			return kind->mappings[i].label;
	return NULL;
}

const struct value *value_provided(const struct value *value)
{
	uint64_t kind = value[1].u;

	return kind >= 1 && kind <= 3 ? &value[1 + kind] : NULL;
}

struct value value_element(const struct value *array, uint64_t i)
{
	const struct ctf_type *elem = array->type->elem;
	uint64_t bit = array->bit + i * align_up(elem->size_bits, elem->align);
	struct value value = { .type = elem };

	value_set_number(&value, elem, value_load(array->bytes + (bit >> 3), bit & 7, elem));
	return value;
}

static int read_string(struct reader *r, const struct ctf_type *type, const struct ctf_field *field)
{
	uint64_t pos = align_up(r->pos, 8);
	const uint8_t *s, *nul;

	if (pos >= r->end)
		return READ_SHORT;
	s = r->bytes + (pos >> 3) - r->base;
	nul = memchr(s, 0, (r->end - pos) >> 3);
	if (!nul)
		return READ_SHORT;
	r->pos = pos + (uint64_t)(nul - s + 1) * 8;
	if (r->values) {
		struct value *value = value_add(r, type, field);

		value->bytes = s;
		value->count = nul - s;
	}
	return READ_OK;
}

/* --- of CTF 2 ------------------------------------------------------------- */

/* Return: the bytes of a number, 0: they do not end, or > 10: more than one of 64 bits has. */
static size_t leb128_bits(const uint8_t *at, size_t left, bool is_signed, uint64_t *ret)
{
	size_t nr = 0;
	uint8_t byte;

	*ret = 0;
	do {
		if (nr == left)
			return 0;
		byte = at[nr];
		if (nr < 10)
			*ret |= (uint64_t)(byte & 0x7f) << (7 * nr);
		nr++;
	} while (byte & 0x80 && nr <= 10);
	if (nr == 10 && byte != (is_signed && byte ? 0x7f : byte & 1))
		return 11;
	if (is_signed && nr < 10 && byte & 0x40)
		*ret |= UINT64_MAX << (7 * nr);
	return nr;
}

static int read_leb128(struct reader *r, const struct ctf_type *type, const struct ctf_field *field)
{
	uint64_t pos = align_up(r->pos, 8), bits;
	size_t nr;

	if (pos >= r->end)
		return READ_SHORT;
	nr = leb128_bits(r->bytes + (pos >> 3) - r->base, (size_t)((r->end - pos) >> 3),
			 type->elem->is_signed, &bits);
	if (!nr || nr > 10)
		return nr ? READ_DAMAGED : READ_SHORT;
	r->pos = pos + 8 * nr;
	if (field && field->slot != NO_SLOT)
		r->slots[field->slot] = bits;
	if (field && field->role)
		note_role(r, MIN(7 * (unsigned)nr, 64u), field->role, bits);
	if (r->values)
		value_set_number(value_add(r, type->elem, field), type->elem, bits);
	return READ_OK;
}

static uint32_t wide_unit(const uint8_t *at, uint8_t encoding)
{
	switch (encoding) {
	case ENCODING_UTF16LE:
		return (uint32_t)at[0] | (uint32_t)at[1] << 8;
	case ENCODING_UTF16BE:
		return (uint32_t)at[0] << 8 | at[1];
	case ENCODING_UTF32LE:
		return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
		       (uint32_t)at[3] << 24;
	default:
		return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
	}
}

/* One character of @nr units; they are there. @ret: units. A half of a pair is U+FFFD. */
static uint32_t wide_character(const uint8_t *at, size_t nr, uint8_t encoding, size_t *ret)
{
	uint32_t code = wide_unit(at, encoding), low;

	*ret = 1;
	if (encoding <= ENCODING_UTF16BE && nr > 1 && code >> 10 == 0xd800 >> 10) {
		low = wide_unit(at + 2, encoding);
		if (low >> 10 == 0xdc00 >> 10) {
			*ret = 2;
			return 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff));
		}
	}
	return code > 0x10ffff || code >> 11 == 0xd800 >> 11 ? 0xfffd : code;
}

/* The value of a string of @nr units is UTF-8: four bytes of each unit are enough. */
static void add_wide(struct reader *r, const struct ctf_type *type, const struct ctf_field *field,
		     const uint8_t *at, size_t nr)
{
	size_t unit = type->encoding <= ENCODING_UTF16BE ? 2 : 4, used = 0, step;
	struct value *value = value_add(r, type->elem, field);
	char *text = values_text(r->values, 4 * nr + 1);

	for (size_t i = 0; i < nr; i += step) {
		uint32_t c = wide_character(at + i * unit, nr - i, type->encoding, &step);

		used += str_put_utf8(text + used, c);
	}
	value->bytes = (const uint8_t *)text;
	value->count = (uint32_t)used;
}

/* Units before the first zero. */
static size_t wide_length(const uint8_t *at, size_t nr, uint8_t encoding)
{
	size_t unit = encoding <= ENCODING_UTF16BE ? 2 : 4, i = 0;

	while (i < nr && wide_unit(at + i * unit, encoding))
		i++;
	return i;
}

static int read_wide(struct reader *r, const struct ctf_type *type, const struct ctf_field *field)
{
	size_t unit = type->encoding <= ENCODING_UTF16BE ? 2 : 4, nr, left;
	uint64_t pos = align_up(r->pos, 8), bytes;
	const uint8_t *at = r->bytes + (pos >> 3) - r->base;

	if (pos > r->end)
		return READ_SHORT;
	left = (size_t)((r->end - pos) >> 3);
	bytes = type->location ? r->slots[type->slot] : type->length;
	if (type->is_sized && left < bytes)
		return READ_SHORT;
	nr = wide_length(at, (type->is_sized ? (size_t)bytes : left) / unit, type->encoding);
	if (!type->is_sized && nr == left / unit)
		return READ_SHORT;
	r->pos = pos + 8 * (type->is_sized ? bytes : (nr + 1) * unit);
	if (nr > UINT32_MAX / 4)
		return READ_DAMAGED;
	if (r->values)
		add_wide(r, type, field, at, nr);
	return READ_OK;
}

/* --- compounds ------------------------------------------------------------ */

/* Past members whose size is known, all at once. */
static inline int skip_run(struct reader *r, const struct ctf_field *field)
{
	if (r->pos > r->end || r->end - r->pos < field->run_bits)
		return READ_SHORT;
	r->pos += field->run_bits;
	return READ_OK;
}

static int read_members(struct reader *r, const struct ctf_type *type)
{
	const struct ctf_field *field = type->fields, *end = field + type->nr_fields;
	int result = READ_OK;

	while (field < end && !result) {
		if (!r->values && field->run && !(r->pos & 7)) {
			result = skip_run(r, field);
			field += field->run;
			continue;
		}
		result = type_is_scalar(field->type) ? read_scalar(r, field->type, field) :
						       read_type(r, field->type, field);
		field++;
	}
	return result;
}

/* Past something whose size is known. */
static int skip_fixed(struct reader *r, const struct ctf_type *type)
{
	uint64_t pos = align_up(r->pos, type->align);

	if (pos > r->end || r->end - pos < type->fixed_bits)
		return READ_SHORT;
	r->pos = pos + type->fixed_bits;
	return READ_OK;
}

static int view_value_read_struct(struct reader *r, const struct ctf_type *type,
				  const struct ctf_field *field)
{
	if (r->values)
		value_add(r, type, field)->count = type->nr_fields;
	r->pos = align_up(r->pos, type->align);
	return read_members(r, type);
}

static int read_variant(struct reader *r, const struct ctf_type *type,
			const struct ctf_field *field)
{
	uint64_t tag = r->slots[type->slot];
	uint32_t mapping = enum_find(type->tag, tag, 0);

	while (mapping < type->tag->nr_mappings && type->option_of[mapping] < 0)
		mapping = enum_find(type->tag, tag, mapping + 1);
	if (mapping == type->tag->nr_mappings && type->is_optional) {
		if (r->values)
			value_add(r, type, field);
		return READ_OK;
	}
	if (mapping == type->tag->nr_mappings)
		return READ_DAMAGED;
	if (r->values)
		value_add(r, type, field)->count = 1;
	field = &type->fields[type->option_of[mapping]];
	return read_type(r, field->type, field);
}

/* Scalars and text: one value, or one step to skip. */
static int read_packed(struct reader *r, const struct ctf_type *type, const struct ctf_field *field,
		       uint64_t count)
{
	const struct ctf_type *elem = type->elem;
	uint64_t stride = align_up(elem->size_bits, elem->align), size = 0;
	uint64_t pos = align_up(r->pos, type->align);

	if (count && (__builtin_mul_overflow(count - 1, stride, &size) ||
		      __builtin_add_overflow(size, (uint64_t)elem->size_bits, &size)))
		return READ_SHORT;
	if (pos > r->end || r->end - pos < size || count > UINT32_MAX)
		return READ_SHORT;
	r->pos = pos + size;
	if (r->values) {
		struct value *value = value_add(r, type, field);

		value->bytes = r->bytes + (pos >> 3) - r->base;
		value->bit = pos & 7;
		value->count = count;
	}
	return READ_OK;
}

static int read_array(struct reader *r, const struct ctf_type *type, const struct ctf_field *field)
{
	uint64_t count = type->kind == TYPE_ARRAY ? type->length : r->slots[type->slot];

	if (type_is_scalar(type->elem))
		return read_packed(r, type, field, count);
	r->pos = align_up(r->pos, type->align);
	if (count > r->steps_left)
		return READ_DAMAGED;
	if (r->values)
		value_add(r, type, field)->count = count;
	for (uint64_t i = 0; i < count; i++) {
		int result = read_type(r, type->elem, NULL);

		if (result)
			return result;
	}
	return READ_OK;
}

static int read_type(struct reader *r, const struct ctf_type *type, const struct ctf_field *field)
{
	if (r->steps_left < type->nr_fields + 1)
		return READ_DAMAGED;
	r->steps_left -= type->nr_fields + 1;
	if (!r->values && type->fixed_bits != SIZE_VARIES && !type_is_scalar(type))
		return skip_fixed(r, type);
	switch (type->kind) {
	case TYPE_STRING:
		return read_string(r, type, field);
	case TYPE_LEB128:
		return read_leb128(r, type, field);
	case TYPE_WIDE_STRING:
		return read_wide(r, type, field);
	case TYPE_STRUCT:
		return view_value_read_struct(r, type, field);
	case TYPE_VARIANT:
		return read_variant(r, type, field);
	case TYPE_ARRAY:
	case TYPE_SEQUENCE:
		return read_array(r, type, field);
	default:
		return read_scalar(r, type, field);
	}
}

int reader_struct(struct reader *reader, const struct ctf_type *type)
{
	int result;

	if (!type)
		return READ_OK;
	if (plan_fits(reader, type))
		return reader->values ? plan_read(reader, type->plan) :
					plan_skip(reader, type->plan);
	if (!reader->values && type->fixed_bits != SIZE_VARIES)
		return skip_fixed(reader, type);
	reader->steps_left = READ_MAX_STEPS;
	result = read_type(reader, type, NULL);
	return !result && reader->pos > reader->end ? READ_SHORT : result;
}

const struct value *value_behind(const struct value *value)
{
	uint32_t nr = type_is_scalar(value->type) || value->type->kind == TYPE_STRING ||
				      value_is_packed(value) ?
			      0 :
			      value->count;

	value++;
	while (nr--)
		value = value_behind(value);
	return value;
}

const struct value *value_member(const struct value *scope, const char *name)
{
	const struct value *at = scope ? scope + 1 : NULL;

	for (uint32_t i = 0; at && i < scope->count; i++, at = value_behind(at))
		if (at->field->shown_len == strlen(name) &&
		    memcmp(at->field->shown, name, at->field->shown_len) == 0)
			return at;
	return NULL;
}
