/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Field classes. */
#include <string.h>

#include "parser.h"
#include "read/model/bind.h"

static int class_any_class(struct ctf2 *p, const struct json *json, const struct ctf_type **ret);

/* --- parts ---------------------------------------------------------------- */

static int class_alignment(struct ctf2 *p, const struct json *json, const char *key,
			   struct ctf_type *type)
{
	uint64_t align = 1;
	int r = ctf2_number(p, json, key, UINT64_MAX, &align);

	r = r ? r : model_check_align(&p->model, align);
	if (!r)
		type->align = (uint32_t)align;
	return r;
}

/* @ret: the text is @one: 1, @two: 2; 0: there is none. */
static int class_one_of_two(struct ctf2 *p, const struct json *json, const char *key,
			    const char *one, const char *two, int *ret)
{
	const struct json *value = json_member(json, key);

	*ret = 0;
	if (!value)
		return 0;
	if (value->kind == JSON_STRING)
		*ret = !strcmp(value->text, one) ? 1 : !strcmp(value->text, two) ? 2 : 0;
	return *ret ? 0 : ctf2_fail(p, "its '%s' is neither '%s' nor '%s'", key, one, two);
}

static const struct {
	const char *name;
	enum field_role role;
} role_names[] = {
	{ "packet-magic-number", ROLE_MAGIC },
	{ "metadata-stream-uuid", ROLE_UUID },
	{ "data-stream-class-id", ROLE_STREAM_ID },
	{ "data-stream-id", ROLE_STREAM_INSTANCE },
	{ "packet-total-length", ROLE_PACKET_SIZE },
	{ "packet-content-length", ROLE_CONTENT_SIZE },
	{ "packet-end-default-clock-timestamp", ROLE_END },
	{ "packet-sequence-number", ROLE_SEQ_NUM },
	{ "discarded-event-record-counter-snapshot", ROLE_DISCARDED },
	{ "default-clock-timestamp", ROLE_CLOCK },
	{ "event-record-class-id", ROLE_EVENT_ID },
};

static void class_roles(const struct json *json, struct ctf_type *type)
{
	const struct json *role = json_member(json, "roles");

	role = role && role->kind == JSON_ARRAY ? role->first : NULL;
	for (; role; role = role->next)
		for (size_t i = 0; i < ARRAY_SIZE(role_names); i++)
			if (role->kind == JSON_STRING && !strcmp(role->text, role_names[i].name))
				type->roles |= 1u << role_names[i].role;
}

/* One range of integers, which has @is_signed ones or others. */
static int class_range(struct ctf2 *p, const struct json *json, bool is_signed,
		       struct ctf_mapping *ret)
{
	const struct json *low = json->kind == JSON_ARRAY && json->nr == 2 ? json->first : NULL;
	const struct json *high = low ? low->next : NULL;

	if (!low || low->kind != JSON_INTEGER || high->kind != JSON_INTEGER)
		return ctf2_fail(p, "a range is no pair of integers of 64 bits");
	ret->first = low->number;
	ret->last = high->number;
	if (is_signed && !low->negative && low->number > INT64_MAX)
		ret->first = INT64_MAX;
	if (is_signed && !high->negative && high->number > INT64_MAX)
		ret->last = INT64_MAX;
	if (!is_signed && (low->negative || high->negative))
		return ctf2_fail(p, "a range of unsigned integers is negative");
	if (is_signed ? (int64_t)ret->first > (int64_t)ret->last : ret->first > ret->last)
		return ctf2_fail(p, "a range ends before it begins");
	return 0;
}

/* Each range of a set is a mapping of @type. */
static int class_ranges(struct ctf2 *p, const struct json *set, const char *label,
			struct ctf_type *type)
{
	const struct json *at = set->kind == JSON_ARRAY ? set->first : NULL;
	int r = at ? 0 : ctf2_fail(p, "a set of ranges is no array of them");

	for (; at && !r; at = at->next) {
		struct ctf_mapping mapping = { .label = label };

		r = class_range(p, at, type->is_signed, &mapping);
		if (!r)
			*model_add_mapping(&p->model, type) = mapping;
	}
	return r;
}

static const char *keep(struct ctf2 *p, const char *text)
{
	return arena_strndup(p->model.arena, text, strlen(text));
}

/* --- scalars -------------------------------------------------------------- */

static int class_bit_array(struct ctf2 *p, const struct json *json, struct ctf_type *type)
{
	uint64_t length;
	int order, bits;
	int r = ctf2_needed_number(p, json, "length", UINT64_MAX, &length);

	if (!r && (!length || length > 64))
		r = ctf2_fail(p, "a field of %llu bits can't be read, only 1 to 64",
			      (unsigned long long)length);
	r = r ? r : class_one_of_two(p, json, "byte-order", "little-endian", "big-endian", &order);
	if (!r && !order)
		r = ctf2_fail(p, "it has no 'byte-order'");
	r = r ? r : class_one_of_two(p, json, "bit-order", "first-to-last", "last-to-first", &bits);
	r = r ? r : class_alignment(p, json, "alignment", type);
	if (r < 0)
		return r;
	type->size_bits = (uint8_t)length;
	type->fixed_bits = length;
	type->big_endian = order == 2;
	type->reversed = bits && bits != order && length > 1;
	class_roles(json, type);
	return 0;
}

static int class_plain_bits(struct ctf2 *p, const struct json *json, struct ctf_type *type)
{
	type->base = 16;
	return class_bit_array(p, json, type);
}

static int class_boolean(struct ctf2 *p, const struct json *json, struct ctf_type *type)
{
	type->look = LOOK_BOOL;
	return class_bit_array(p, json, type);
}

/* Flags: the ranges of a name are one mask. */
static int class_flag(struct ctf2 *p, const struct json *set, struct ctf_type *type)
{
	struct ctf_type indexes = { .kind = TYPE_INT };
	uint64_t mask = 0;
	int r = class_ranges(p, set, "", &indexes);

	for (uint32_t i = 0; i < indexes.nr_mappings && !r; i++) {
		const struct ctf_mapping *bits = &indexes.mappings[i];

		if (bits->last >= type->size_bits)
			return ctf2_fail(p, "a flag is of bits that are not there");
		mask |= (UINT64_MAX >> (63 - (bits->last - bits->first))) << bits->first;
	}
	*model_add_mapping(&p->model, type) = (struct ctf_mapping){ keep(p, set->key), mask, mask };
	return r;
}

static int class_bit_map(struct ctf2 *p, const struct json *json, struct ctf_type *type)
{
	const struct json *flags = json_member(json, "flags");
	int r = class_bit_array(p, json, type);

	if (!r && (!flags || flags->kind != JSON_OBJECT))
		r = ctf2_fail(p, "it has no 'flags'");
	for (flags = !r ? flags->first : NULL; flags && !r; flags = flags->next)
		r = class_flag(p, flags, type);
	type->base = 16;
	type->look = LOOK_FLAGS;
	type->is_set = true;
	return r;
}

/* An enumeration of this tracer whose values are sets of labels. */
static void class_take_set(const struct json *json, struct ctf_type *type)
{
	const struct json *mask = ctf2_attribute(json, CTF2_OWN, "set");

	type->is_set = mask && mask->kind == JSON_INTEGER;
	type->mask = type->is_set ? mask->number : 0;
}

/* Of an integer with labels; they may be none. */
static int class_integer_look(struct ctf2 *p, const struct json *json, struct ctf_type *type)
{
	const struct json *mappings = json_member(json, "mappings");
	uint64_t base = 10;
	int r = ctf2_number(p, json, "preferred-display-base", 16, &base);

	if (!r && base != 2 && base != 8 && base != 10 && base != 16)
		r = ctf2_fail(p, "its 'preferred-display-base' is neither 2, 8, 10 nor 16");
	if (!r && mappings && mappings->kind != JSON_OBJECT)
		r = ctf2_fail(p, "its 'mappings' are no object");
	type->base = (uint8_t)base;
	if (r || !mappings || !mappings->first)
		return r;
	type->kind = TYPE_ENUM;
	class_take_set(json, type);
	for (mappings = mappings->first; mappings && !r; mappings = mappings->next)
		r = class_ranges(p, mappings, keep(p, mappings->key), type);
	return r;
}

static int class_fixed_integer(struct ctf2 *p, const struct json *json, struct ctf_type *type)
{
	int r = class_bit_array(p, json, type);

	return r ? r : class_integer_look(p, json, type);
}

static int class_signed_integer(struct ctf2 *p, const struct json *json, struct ctf_type *type)
{
	type->is_signed = true;
	return class_fixed_integer(p, json, type);
}

static int class_floating(struct ctf2 *p, const struct json *json, struct ctf_type *type)
{
	int r = class_bit_array(p, json, type);

	if (!r && type->size_bits != 32 && type->size_bits != 64)
		r = ctf2_fail(p, "a floating point number that is neither float nor double can't "
				 "be read");
	return r;
}

static int class_leb128(struct ctf2 *p, const struct json *json, struct ctf_type *type,
			bool is_signed)
{
	struct ctf_type *value = model_new_type(&p->model, TYPE_INT);

	value->is_signed = is_signed;
	value->size_bits = 64;
	value->fixed_bits = 64;
	type->elem = value;
	type->align = 8;
	class_roles(json, type);
	return class_integer_look(p, json, value);
}

static int class_unsigned_leb128(struct ctf2 *p, const struct json *json, struct ctf_type *type)
{
	return class_leb128(p, json, type, false);
}

static int class_signed_leb128(struct ctf2 *p, const struct json *json, struct ctf_type *type)
{
	return class_leb128(p, json, type, true);
}

/* --- locations ------------------------------------------------------------ */

static int class_origin(struct ctf2 *p, const struct json *json, int *ret)
{
	static const char *const names[NR_ROOTS] = {
		[ROOT_PACKET_HEADER] = "packet-header",
		[ROOT_PACKET_CONTEXT] = "packet-context",
		[ROOT_EVENT_HEADER] = "event-record-header",
		[ROOT_STREAM_EVENT_CONTEXT] = "event-record-common-context",
		[ROOT_EVENT_CONTEXT] = "event-record-specific-context",
		[ROOT_FIELDS] = "event-record-payload",
	};

	*ret = -1;
	if (!json)
		return 0;
	for (int i = 0; i < NR_ROOTS; i++)
		if (json->kind == JSON_STRING && !strcmp(json->text, names[i]))
			*ret = i;
	return *ret < 0 ? ctf2_fail(p, "the origin of a location is unknown") : 0;
}

/* A parent behind a name undoes it. */
static int class_path(struct ctf2 *p, const struct json *at, struct ctf_location *location)
{
	const char **names = arena_alloc(p->model.arena, (at->nr + 1) * sizeof(*names));
	const struct json *last = NULL;

	for (at = at->first; at; last = at, at = at->next) {
		if (at->kind == JSON_STRING)
			names[location->nr++] = keep(p, at->text);
		else if (at->kind != JSON_NULL)
			return ctf2_fail(p, "the path of a location has neither a name nor null");
		else if (location->nr)
			location->nr--;
		else
			location->parents++;
	}
	location->path = names;
	if (!last || last->kind != JSON_STRING)
		return ctf2_fail(p, "the path of a location ends with no name");
	return location->root >= 0 && location->parents ?
		       ctf2_fail(p, "the path of a location leaves its origin") :
		       0;
}

static int class_location(struct ctf2 *p, const struct json *json, const char *key,
			  struct ctf_type *type)
{
	struct ctf_location *found = arena_alloc(p->model.arena, sizeof(*found));
	const struct json *object = json_member(json, key), *names;
	int r = class_origin(p, json_member(object, "origin"), &found->root);

	names = json_member(object, "path");
	if (!r && (!names || names->kind != JSON_ARRAY))
		r = ctf2_fail(p, "its '%s' has no path", key);
	type->location = found;
	return r ? r : class_path(p, names, found);
}

static int class_length_location(struct ctf2 *p, const struct json *json, struct ctf_type *type)
{
	return class_location(p, json, "length-field-location", type);
}

/* --- strings and BLOBs ---------------------------------------------------- */

static const struct ctf_type *class_eight_bits(struct ctf2 *p, bool is_letter)
{
	const struct ctf_type **kept = is_letter ? &p->letter : &p->byte;
	struct ctf_type *type;

	if (*kept)
		return *kept;
	type = model_new_type(&p->model, TYPE_INT);
	type->size_bits = 8;
	type->fixed_bits = 8;
	type->align = 8;
	type->text = is_letter;
	return *kept = type;
}

/* @ret: an encoding, or -1: UTF-8. */
static int class_encoding(struct ctf2 *p, const struct json *json, int *ret)
{
	static const char *const names[] = {
		[ENCODING_UTF16LE] = "utf-16le",
		[ENCODING_UTF16BE] = "utf-16be",
		[ENCODING_UTF32LE] = "utf-32le",
		[ENCODING_UTF32BE] = "utf-32be",
	};
	const struct json *name = json_member(json, "encoding");

	*ret = -1;
	if (!name)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(names) && name->kind == JSON_STRING; i++)
		if (!strcmp(name->text, names[i]))
			*ret = (int)i;
	return *ret < 0 && (name->kind != JSON_STRING || strcmp(name->text, "utf-8") != 0) ?
		       ctf2_fail(p, "its 'encoding' is unknown") :
		       0;
}

/* @type is a string that ends with a zero, or an array or sequence of letters. */
static int class_text(struct ctf2 *p, const struct json *json, struct ctf_type *type)
{
	struct ctf_type *value;
	int code;
	int r = class_encoding(p, json, &code);

	type->align = 8;
	type->text = type->kind != TYPE_STRING;
	if (type->text)
		type->elem = class_eight_bits(p, true);
	if (r || code < 0)
		return r;
	value = model_new_type(&p->model, TYPE_STRING);
	value->align = 8;
	type->is_sized = type->text;
	type->encoding = (uint8_t)code;
	type->kind = TYPE_WIDE_STRING;
	type->elem = value;
	return 0;
}

static int class_static_length(struct ctf2 *p, const struct json *json, struct ctf_type *type)
{
	return ctf2_needed_number(p, json, "length", UINT32_MAX, &type->length);
}

static int class_static_text(struct ctf2 *p, const struct json *json, struct ctf_type *type)
{
	int r = class_static_length(p, json, type);

	return r ? r : class_text(p, json, type);
}

static int class_dynamic_text(struct ctf2 *p, const struct json *json, struct ctf_type *type)
{
	int r = class_length_location(p, json, type);

	return r ? r : class_text(p, json, type);
}

static int class_static_blob(struct ctf2 *p, const struct json *json, struct ctf_type *type)
{
	type->elem = class_eight_bits(p, false);
	type->align = 8;
	type->look = LOOK_BLOB;
	class_roles(json, type);
	return class_static_length(p, json, type);
}

static int class_dynamic_blob(struct ctf2 *p, const struct json *json, struct ctf_type *type)
{
	type->elem = class_eight_bits(p, false);
	type->align = 8;
	type->look = LOOK_BLOB;
	return class_length_location(p, json, type);
}

/* --- compounds ------------------------------------------------------------ */

static int class_structure(struct ctf2 *p, const struct json *json, struct ctf_type *type)
{
	const struct json *at = json_member(json, "member-classes");
	int r = class_alignment(p, json, "minimum-alignment", type);

	if (!r && at && at->kind != JSON_ARRAY)
		r = ctf2_fail(p, "its 'member-classes' are no array");
	for (at = at && !r ? at->first : NULL; at && !r; at = at->next) {
		const struct ctf_type *member;
		const char *name;

		r = ctf2_needed_text(p, at, "name", &name);
		r = r ? r : ctf2_class(p, at, "field-class", &member);
		r = r ? r : model_add_field(&p->model, type, name, name, member);
	}
	return r;
}

static int class_array(struct ctf2 *p, const struct json *json, struct ctf_type *type)
{
	int r = class_alignment(p, json, "minimum-alignment", type);

	return r ? r : ctf2_class(p, json, "element-field-class", &type->elem);
}

static int class_static_array(struct ctf2 *p, const struct json *json, struct ctf_type *type)
{
	int r = class_static_length(p, json, type);

	return r ? r : class_array(p, json, type);
}

static int class_dynamic_array(struct ctf2 *p, const struct json *json, struct ctf_type *type)
{
	int r = class_length_location(p, json, type);

	return r ? r : class_array(p, json, type);
}

/* Ranges that select option number @option. @tag: signed as soon as one is negative. */
static int class_selected_by(struct ctf2 *p, const struct json *set, const char *label,
			     int32_t option, struct ctf_type *type, struct ctf_type *tag)
{
	uint32_t from = tag->nr_mappings;
	int r = class_ranges(p, set, label, tag);
	int32_t *options;

	if (r < 0)
		return r;
	options = arena_alloc(p->model.arena, (tag->nr_mappings + 1) * sizeof(*options));
	if (from)
		memcpy(options, type->option_of, from * sizeof(*options));
	for (uint32_t i = from; i < tag->nr_mappings; i++)
		options[i] = option;
	type->option_of = options;
	return model_spend(&p->model, tag->nr_mappings);
}

static bool class_has_negative(const struct json *json)
{
	bool negative = json->kind == JSON_INTEGER && json->negative;

	if (json->kind != JSON_ARRAY)
		return negative;
	for (json = json->first; json && !negative; json = json->next)
		negative = class_has_negative(json);
	return negative;
}

/* The ranges of all options are those of one type, as mappings. */
static struct ctf_type *class_selector(struct ctf2 *p, const struct json *options)
{
	struct ctf_type *tag = model_new_type(&p->model, TYPE_ENUM);

	for (; options; options = options->next) {
		const struct json *set = json_member(options, "selector-field-ranges");

		tag->is_signed |= set && class_has_negative(set);
	}
	return tag;
}

static int class_option(struct ctf2 *p, const struct json *json, struct ctf_type *type,
			struct ctf_type *tag)
{
	const struct json *set = json_member(json, "selector-field-ranges");
	const struct ctf_type *class;
	const char *name;
	char number[16];
	int r = ctf2_text(p, json, "name", &name);

	snprintf(number, sizeof(number), "%u", type->nr_fields);
	name = name ? name : keep(p, number);
	if (!r && !set)
		r = ctf2_fail(p, "an option has no 'selector-field-ranges'");
	r = r ? r : class_selected_by(p, set, name, (int32_t)type->nr_fields, type, tag);
	r = r ? r : ctf2_class(p, json, "field-class", &class);
	return r ? r : model_add_field(&p->model, type, name, name, class);
}

static int class_variant(struct ctf2 *p, const struct json *json, struct ctf_type *type)
{
	const struct json *options = json_member(json, "options");
	struct ctf_type *tag;
	int r = class_location(p, json, "selector-field-location", type);

	if (!r && (!options || options->kind != JSON_ARRAY || !options->first))
		r = ctf2_fail(p, "it has no 'options'");
	if (r < 0)
		return r;
	type->tag = tag = class_selector(p, options->first);
	for (options = options->first; options && !r; options = options->next)
		r = class_option(p, options, type, tag);
	return r;
}

/* A variant of one option. */
static int class_optional(struct ctf2 *p, const struct json *json, struct ctf_type *type)
{
	const struct json *set = json_member(json, "selector-field-ranges");
	struct ctf_type *tag = class_selector(p, NULL);
	const struct ctf_type *class;
	int r = class_location(p, json, "selector-field-location", type);

	type->is_optional = true;
	type->tag = tag;
	tag->is_signed = set && class_has_negative(set);
	type->option_of = arena_alloc(p->model.arena, sizeof(*type->option_of));
	if (!r && set)
		r = class_selected_by(p, set, "", 0, type, tag);
	r = r ? r : ctf2_class(p, json, "field-class", &class);
	return r ? r : model_add_field(&p->model, type, "value", "value", class);
}

/* --- any class ------------------------------------------------------------ */

static const struct {
	const char *type;
	enum type_kind kind;
	int (*parse)(struct ctf2 *p, const struct json *json, struct ctf_type *type);
} classes[] = {
	{ "fixed-length-unsigned-integer", TYPE_INT, class_fixed_integer },
	{ "fixed-length-signed-integer", TYPE_INT, class_signed_integer },
	{ "null-terminated-string", TYPE_STRING, class_text },
	{ "structure", TYPE_STRUCT, class_structure },
	{ "static-length-string", TYPE_ARRAY, class_static_text },
	{ "static-length-array", TYPE_ARRAY, class_static_array },
	{ "static-length-blob", TYPE_ARRAY, class_static_blob },
	{ "dynamic-length-string", TYPE_SEQUENCE, class_dynamic_text },
	{ "dynamic-length-array", TYPE_SEQUENCE, class_dynamic_array },
	{ "dynamic-length-blob", TYPE_SEQUENCE, class_dynamic_blob },
	{ "fixed-length-bit-array", TYPE_INT, class_plain_bits },
	{ "fixed-length-bit-map", TYPE_ENUM, class_bit_map },
	{ "fixed-length-boolean", TYPE_INT, class_boolean },
	{ "fixed-length-floating-point-number", TYPE_FLOAT, class_floating },
	{ "variable-length-unsigned-integer", TYPE_LEB128, class_unsigned_leb128 },
	{ "variable-length-signed-integer", TYPE_LEB128, class_signed_leb128 },
	{ "optional", TYPE_VARIANT, class_optional },
	{ "variant", TYPE_VARIANT, class_variant },
};

static int class_known_class(struct ctf2 *p, const struct json *json, const struct ctf_type **ret)
{
	const struct json *name = json_member(json, "type");
	struct ctf_type *type;

	if (!name || name->kind != JSON_STRING)
		return ctf2_fail(p, "a field class is no object with a 'type'");
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		if (strcmp(name->text, classes[i].type) != 0)
			continue;
		type = model_new_type(&p->model, classes[i].kind);
		*ret = type;
		return classes[i].parse(p, json, type);
	}
	return ctf2_fail(p, "the field class '%.60s' is unknown", name->text);
}

static int class_any_class(struct ctf2 *p, const struct json *json, const struct ctf_type **ret)
{
	int r;

	if (json->kind == JSON_STRING) {
		*ret = ctf2_find_name(p, p->aliases, json->text);
		return *ret ? 0 :
			      ctf2_fail(p, "the alias '%.60s' is not declared before it",
					json->text);
	}
	if (p->nesting == MODEL_MAX_NESTING)
		return ctf2_fail(p, "field classes are nested too deep");
	p->nesting++;
	r = class_known_class(p, json, ret);
	p->nesting--;
	return r;
}

int ctf2_class(struct ctf2 *p, const struct json *object, const char *key,
	       const struct ctf_type **ret)
{
	const struct json *json = json_member(object, key);

	return json ? class_any_class(p, json, ret) : ctf2_fail(p, "it has no '%s'", key);
}

int ctf2_scope(struct ctf2 *p, const struct json *object, const char *key,
	       const struct ctf_type **ret)
{
	int r = json_member(object, key) ? ctf2_class(p, object, key, ret) : 0;

	if (!r && *ret && (*ret)->kind != TYPE_STRUCT)
		r = ctf2_fail(p, "its '%s' is no structure", key);
	return r;
}
