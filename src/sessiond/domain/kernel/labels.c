/* SPDX-License-Identifier: GPL-2.0-only */
#include "labels.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/** struct label_use - a field that has the names of a set. */
struct label_use {
	char call[24], field[16];
	const struct label_set *set;
};

#include "gen/syscall_labels.h"

char *labels_of_results(enum metadata_form form)
{
	struct layout *layout =
		layout_new(1, label_set_errno.nr, labels_text_bytes(&label_set_errno) + 1);
	const struct layout_field result = { .name = "",
					     .kind = LTT_KIND_ENUM,
					     .size_bits = 64,
					     .flags = LTT_FIELD_SIGNED };
	bool fine = layout && layout_add_field(layout, &result);
	char *text = NULL;

	for (uint32_t i = 0; fine && i < label_set_errno.nr; i++) {
		int64_t value = -label_set_errno.labels[i].value;

		fine = layout_add_label(layout, label_set_errno.labels[i].text, value, value);
	}
	if (fine)
		text = metadata_results(form, &layout->fields[0]);
	layout_free(layout);
	return text;
}

/* Of "[compat_]PREFIX_CALL". NULL: it is no such event. */
static const char *labels_call(const char *event, const char *prefix)
{
	static const char compat[] = "compat_";

	if (strncmp(event, compat, strlen(compat)) == 0)
		event += strlen(compat);
	return strncmp(event, prefix, strlen(prefix)) == 0 ? event + strlen(prefix) : NULL;
}

const struct label_set *labels_of(const char *event, const char *field)
{
	const char *call = labels_call(event, "syscall_entry_");

	if (!call)
		call = labels_call(event, "syscall_exit_");
	if (!call)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(label_uses); i++)
		if (strcmp(label_uses[i].call, call) == 0 &&
		    strcmp(label_uses[i].field, field) == 0)
			return label_uses[i].set;
	return NULL;
}

size_t labels_text_bytes(const struct label_set *set)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < set->nr; i++)
		bytes += strlen(set->labels[i].text) + 1;
	return bytes;
}

/* As an integer of the field's size has it. */
static int64_t label_number(const struct layout_field *field, int64_t value)
{
	unsigned int unused = 64 - field->size_bits;
	uint64_t bits = (uint64_t)value << unused;

	if (field->flags & LTT_FIELD_SIGNED)
		return (int64_t)bits >> unused;
	return (int64_t)(bits >> unused);
}

bool labels_add(struct layout *layout, const struct label_set *set)
{
	struct layout_field *field = &layout->fields[layout->nr_fields - 1];

	if (field->kind == LTT_KIND_INT)
		field->kind = LTT_KIND_ENUM;
	field->is_set = set->is_set;
	field->mask = set->mask;
	if (set->is_set)
		field->base = 16;
	for (uint32_t i = 0; i < set->nr; i++) {
		int64_t number = label_number(field, set->labels[i].value);

		if (!layout_add_label(layout, set->labels[i].text, number, number))
			return false;
	}
	return true;
}

struct layout *labels_with_results(const char *event, const struct layout *layout)
{
	const struct label_set *set = &label_set_errno;
	struct layout *ret = labels_call(event, "syscall_exit_") ?
				     layout_new(layout->nr_fields, layout->nr_labels + set->nr,
						layout->text_len + labels_text_bytes(set)) :
				     NULL;
	bool fine = true;

	for (uint32_t i = 0; ret && i < layout->nr_fields; i++) {
		const struct layout_field *field = &layout->fields[i];

		fine = fine && layout_add_field(ret, field);
		for (uint32_t j = 0; j < field->nr_labels; j++)
			fine = fine && layout_add_label(ret, field->labels[j].text,
							field->labels[j].first,
							field->labels[j].last);
		for (uint32_t j = 0; strcmp(field->name, "ret") == 0 && j < set->nr; j++)
			fine = fine && layout_add_label(ret, set->labels[j].text,
							-set->labels[j].value,
							-set->labels[j].value);
	}
	return fine ? ret : layout_free(ret);
}
