/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * layout.h - the fields of an event, in the order of the payload: one block of memory,
 * owned by its creator. Kinds and flags are those of ltt/site.h, as in messages.
 */
#ifndef TRACE_LAYOUT_H
#define TRACE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "ltt/site.h"

#define LAYOUT_FLAGS 31u /* all of enum ltt_field_flags */
#define LAYOUT_MAX_FIELDS 1024u
#define LAYOUT_MAX_LABELS 4096u /* of one enumeration */
#define LAYOUT_MAX_PAYLOAD 65536u

/* A kind besides those of enum ltt_field_kind, of contexts only: a value with its type, as libltt
 * writes those of ltt/context.h. */
#define LAYOUT_KIND_DYNAMIC 128u

struct layout_label {
	const char *text;
	int64_t first, last; /* inclusive; of an unsigned field: the same bits */
};

/** struct layout_field - @labels: of an enumeration, or of the integers in an array or sequence.
 *  @is_set: of an enumeration: a value combines labels, of which each is some
 *  of its bits; @mask: those bits of which all make one label (the access mode of open). Labels of
 *  several bits are before those of fewer. One with a bar names a value of several. */
struct layout_field {
	const char *name;
	uint8_t kind; /* enum ltt_field_kind */
	uint8_t size_bits;
	uint8_t length_bits; /* of a sequence's length */
	uint8_t base;
	uint32_t flags; /* enum ltt_field_flags */
	uint32_t count; /* of an array */
	const struct layout_label *labels;
	uint32_t nr_labels;
	bool is_set;
	uint64_t mask;
};

/** struct layout - made by layout_new(), filled by layout_add_field() and layout_add_label(). */
struct layout {
	uint32_t nr_fields;
	uint32_t nr_labels; /* sum of the labels of all fields */
	uint32_t max_fields, max_labels;
	size_t text_len, text_cap;
	struct layout_field *fields;
	struct layout_label *labels;
	char *text;
};

/** Return: an empty layout with this capacity; NULL: no memory. */
struct layout *layout_new(uint32_t max_fields, uint32_t max_labels, size_t text_bytes);
struct layout *layout_free(struct layout *layout);
/** Append a field, whose labels are ignored; append a label to the last field. Texts are copied.
 *  Return: false if the capacity is used up. */
bool layout_add_field(struct layout *layout, const struct layout_field *field);
bool layout_add_label(struct layout *layout, const char *text, int64_t first, int64_t last);

/** Check that a layout can be recorded and declared in metadata. Return: NULL, or the problem: "has
 *  ...". */
const char *layout_check(const struct layout *layout);

/** Whether the trace has the number of elements as one more field, "_NAME_length". */
bool layout_has_length(const struct layout_field *field);

/** The type of a field as text, for example "integer", "string", "array of 3 integers". */
void layout_field_type(const struct layout_field *field, char *buf, size_t len);

#endif
