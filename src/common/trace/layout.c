/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "layout.h"

#include <stdio.h>
#include <string.h>

struct layout *layout_new(uint32_t max_fields, uint32_t max_labels, size_t text_bytes)
{
	size_t fields = max_fields * sizeof(struct layout_field);
	size_t labels = max_labels * sizeof(struct layout_label);
	struct layout *layout = calloc(1, sizeof(*layout) + fields + labels + text_bytes);

	if (!layout)
		return NULL;
	layout->max_fields = max_fields;
	layout->max_labels = max_labels;
	layout->text_cap = text_bytes;
	layout->fields = (struct layout_field *)(layout + 1);
	layout->labels = (struct layout_label *)((char *)layout->fields + fields);
	layout->text = (char *)layout->labels + labels;
	return layout;
}

struct layout *layout_free(struct layout *layout)
{
	free(layout);
	return NULL;
}

static const char *layout_copy_text(struct layout *layout, const char *text)
{
	size_t len = strlen(text) + 1;
	char *at = layout->text + layout->text_len;

	if (len > layout->text_cap - layout->text_len)
		return NULL;
	memcpy(at, text, len);
	layout->text_len += len;
	return at;
}

bool layout_add_field(struct layout *layout, const struct layout_field *field)
{
	struct layout_field *f = &layout->fields[layout->nr_fields];

	if (layout->nr_fields == layout->max_fields)
		return false;
	*f = *field;
	f->labels = NULL;
	f->nr_labels = 0;
	f->name = layout_copy_text(layout, field->name);
	if (!f->name)
		return false;
	layout->nr_fields++;
	return true;
}

bool layout_add_label(struct layout *layout, const char *text, int64_t first, int64_t last)
{
	struct layout_label *label = &layout->labels[layout->nr_labels];
	struct layout_field *f;

	if (layout->nr_labels == layout->max_labels || layout->nr_fields == 0)
		return false;
	f = &layout->fields[layout->nr_fields - 1];
	label->first = first;
	label->last = last;
	label->text = layout_copy_text(layout, text);
	if (!label->text)
		return false;
	if (f->nr_labels++ == 0)
		f->labels = label;
	layout->nr_labels++;
	return true;
}

static bool is_int_size(unsigned int bits)
{
	return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

static bool is_float_size(unsigned int bits)
{
	return bits == 32 || bits == 64;
}

static const char *check_labels(const struct layout_field *f)
{
	for (uint32_t i = 0; i < f->nr_labels; i++) {
		const struct layout_label *l = &f->labels[i];

		if (f->flags & LTT_FIELD_SIGNED ? l->first > l->last :
						  (uint64_t)l->first > (uint64_t)l->last)
			return "has an enumeration with a range that ends before it begins";
	}
	return NULL;
}

static const char *check_element(const struct layout_field *f)
{
	if (f->nr_labels && f->flags & (LTT_FIELD_TEXT | LTT_FIELD_FLOAT_ELEM))
		return "has labels on elements that are no integers";
	if (f->flags & LTT_FIELD_TEXT)
		return f->size_bits == 8 && !(f->flags & LTT_FIELD_FLOAT_ELEM) ?
			       NULL :
			       "has text of elements that are no bytes";
	if (f->flags & LTT_FIELD_FLOAT_ELEM)
		return is_float_size(f->size_bits) ? NULL : "has floats of an unknown size";
	return is_int_size(f->size_bits) ? check_labels(f) : "has integers of an unknown size";
}

static const char *check_enum(const struct layout_field *f)
{
	return is_int_size(f->size_bits) ? check_labels(f) : "has an enumeration of an unknown size";
}

static const char *check_integer(const struct layout_field *f)
{
	return is_int_size(f->size_bits) ? NULL : "has an integer of an unknown size";
}

static const char *check_float(const struct layout_field *f)
{
	return is_float_size(f->size_bits) ? NULL : "has a float of an unknown size";
}

static const char *check_string(const struct layout_field *f)
{
	(void)f;
	return NULL;
}

static const char *check_array(const struct layout_field *f)
{
	if ((uint64_t)f->count * f->size_bits / 8 > LAYOUT_MAX_PAYLOAD)
		return "has an array that is too large for an event";
	return check_element(f);
}

static const char *check_sequence(const struct layout_field *f)
{
	if (!is_int_size(f->length_bits))
		return "has a sequence whose length has an unknown size";
	return check_element(f);
}

/* The kinds: how a field is checked; its type, NULL if that depends on the elements; whether the
 * number of elements is a field of its own in the trace. */
static const struct layout_rules {
	const char *(*check)(const struct layout_field *f);
	const char *type;
	bool has_length;
} layout_rules[] = {
	[LTT_KIND_INT] = { .check = check_integer, .type = "integer" },
	[LTT_KIND_FLOAT] = { .check = check_float, .type = "float" },
	[LTT_KIND_STRING] = { .check = check_string, .type = "string" },
	[LTT_KIND_ARRAY] = { .check = check_array },
	[LTT_KIND_SEQUENCE] = { .check = check_sequence, .has_length = true },
	[LTT_KIND_ENUM] = { .check = check_enum, .type = "enum" },
};

/* Those of an unknown kind are empty. */
static const struct layout_rules *layout_rules_of(const struct layout_field *f)
{
	return &layout_rules[f->kind < ARRAY_SIZE(layout_rules) ? f->kind : 0];
}

static const char *layout_check_field(const struct layout_field *f)
{
	if (f->base != 0 && f->base != 2 && f->base != 8 && f->base != 10 && f->base != 16)
		return "has a number base that is none of 2, 8, 10 and 16";
	if (f->flags & ~LAYOUT_FLAGS)
		return "has unknown flags";
	if (f->nr_labels && f->kind != LTT_KIND_ENUM && f->kind != LTT_KIND_ARRAY &&
	    f->kind != LTT_KIND_SEQUENCE)
		return "has labels on a field that is not an enumeration";
	if (!layout_rules_of(f)->check)
		return "has a field of an unknown kind";
	return layout_rules_of(f)->check(f);
}

const char *layout_check(const struct layout *layout)
{
	for (uint32_t i = 0; i < layout->nr_fields; i++) {
		const char *why = layout_check_field(&layout->fields[i]);

		if (why)
			return why;
	}
	return NULL;
}

static const char *layout_element_type(const struct layout_field *f)
{
	if (f->nr_labels)
		return "enum";
	return f->flags & LTT_FIELD_FLOAT_ELEM ? "float" : "integer";
}

bool layout_has_length(const struct layout_field *f)
{
	return layout_rules_of(f)->has_length;
}

void layout_field_type(const struct layout_field *f, char *buf, size_t len)
{
	const char *type = layout_rules_of(f)->type;

	if (f->kind == LAYOUT_KIND_DYNAMIC)
		snprintf(buf, len, "integer, float, string or none");
	else if (type)
		snprintf(buf, len, "%s", type);
	else if (f->flags & LTT_FIELD_TEXT)
		snprintf(buf, len, "string");
	else if (layout_has_length(f))
		snprintf(buf, len, "sequence of %ss", layout_element_type(f));
	else
		snprintf(buf, len, "array of %u %s%s", f->count, layout_element_type(f),
			 f->count == 1 ? "" : "s");
}
