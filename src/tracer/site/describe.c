// SPDX-License-Identifier: LGPL-2.1-or-later
#include "describe.h"

#include <stdlib.h>
#include <string.h>

/* Filled twice: first without memory, to measure the size. */
struct block {
	char *base;
	size_t used;
};

static void *describe_put(struct block *block, const void *from, size_t bytes)
{
	size_t at = block->used;

	block->used += (bytes + 7) & ~(size_t)7;
	if (!block->base || !bytes)
		return NULL;
	return memcpy(block->base + at, from, bytes);
}

static const char *describe_put_text(struct block *block, const char *text)
{
	if (!text)
		text = "";
	return describe_put(block, text, strlen(text) + 1);
}

static const struct ltt_enum *describe_put_enum(struct block *block, const struct ltt_enum *from)
{
	struct ltt_enum *copy;
	struct ltt_enum_entry *entries;
	const char *name;

	if (!from)
		return NULL;
	copy = describe_put(block, from, sizeof(*from));
	entries = describe_put(block, from->entries, from->nr_entries * sizeof(*entries));
	name = describe_put_text(block, from->name);
	for (uint32_t i = 0; i < from->nr_entries; i++) {
		const char *label = describe_put_text(block, from->entries[i].label);

		if (entries)
			entries[i].label = label;
	}
	if (copy) {
		copy->entries = entries;
		copy->name = name;
	}
	return copy;
}

static struct ltt_field *put_fields(struct block *block, const struct ltt_field *fields,
				    uint32_t nr_fields)
{
	struct ltt_field *copy = describe_put(block, fields, nr_fields * sizeof(*fields));

	for (uint32_t i = 0; i < nr_fields; i++) {
		const char *name = describe_put_text(block, fields[i].name);
		const struct ltt_enum *labels = describe_put_enum(block, fields[i].enumeration);

		if (copy) {
			copy[i].name = name;
			copy[i].enumeration = labels;
		}
	}
	return copy;
}

static struct ltt_event *put_event(struct block *block, const struct ltt_event *event,
				   const struct ltt_field *fields, uint32_t nr_fields)
{
	struct ltt_event with = { 0 };
	struct ltt_event *copy = describe_put(block, &with, sizeof(with));

	memcpy(&with, event, LTT_EVENT_LEAST);
	with.size = sizeof(with);
	with.field_size = sizeof(*fields);
	with.nr_fields = (uint16_t)nr_fields;
	with.name = describe_put_text(block, event->name);
	with.fields = put_fields(block, fields, nr_fields);
	with.format = event->format ? describe_put_text(block, event->format) : NULL;
	with.file = describe_put_text(block, event->file);
	with.function = describe_put_text(block, event->function);
	if (copy)
		*copy = with;
	return copy;
}

struct ltt_event *describe_event(const struct ltt_event *event, const struct ltt_field *fields,
				 uint32_t nr_fields)
{
	struct block block = { NULL, 0 };

	put_event(&block, event, fields, nr_fields);
	block.base = malloc(block.used);
	block.used = 0;
	return block.base ? put_event(&block, event, fields, nr_fields) : NULL;
}
