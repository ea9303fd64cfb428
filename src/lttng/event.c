// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Descriptions of events, from LTTng's form to libltt's. All lengths, kinds and texts are checked:
 * an invalid description is refused alone, and the provider goes on.
 */
#include "event.h"

#include <stdlib.h>
#include <string.h>

#include "readers.h"

#define MAX_ENTRIES 65536u
#define DEFAULT_LEVEL LTT_DEBUG_LINE

static const char no_memory[] = "there is no memory";

bool event_is_name(const char *text)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

	if (!text || !text[0] || !memchr(text, 0, MAX_NAME))
		return false;
	return text[strspn(text, letters)] == '\0';
}

/* --- enumerations ---------------------------------------------------------------------------- */

static void event_free_enum(const struct ltt_enum *labels)
{
	if (!labels)
		return;
	free((void *)labels->entries);
	free((void *)labels);
}

/* A value that is not given is the one after the last. */
static bool take_entries(struct ltt_enum_entry *to, const struct tp_enum_desc *desc)
{
	int64_t next = 0;

	for (uint32_t i = 0; i < desc->nr_entries; i++) {
		const struct tp_enum_entry *from = desc->entries[i];

		if (!from || from->size < sizeof(*from) || !from->label ||
		    !memchr(from->label, 0, MAX_NAME))
			return false;
		to[i].label = from->label;
		if (from->options & TP_ENTRY_IS_AUTO) {
			to[i].first = to[i].last = next;
		} else {
			to[i].first = (int64_t)from->first.value;
			to[i].last = (int64_t)from->last.value;
		}
		next = (int64_t)((uint64_t)to[i].last + 1);
	}
	return true;
}

static const char *take_enum(struct ltt_field *field, const struct tp_enum *type)
{
	const struct tp_enum_desc *desc = type->desc;
	struct ltt_enum_entry *entries;
	struct ltt_enum *labels;

	if (!desc || desc->size < sizeof(*desc) || !event_is_name(desc->name) ||
	    desc->nr_entries > MAX_ENTRIES || (desc->nr_entries && !desc->entries))
		return "an enumeration has no valid description";
	labels = calloc(1, sizeof(*labels));
	entries = calloc(desc->nr_entries + 1, sizeof(*entries));
	if (labels)
		*labels = (struct ltt_enum){ desc->name, entries, desc->nr_entries, 0 };
	field->enumeration = labels;
	if (!labels || !entries) {
		if (!labels)
			free(entries);
		return no_memory;
	}
	return take_entries(entries, desc) ? NULL : "an enumeration has an invalid value";
}

/* --- fields ---------------------------------------------------------------------------------- */

/* The reason why it is refused, or NULL. */
static const char *take_integer(struct ltt_field *field, const struct tp_type_any *any)
{
	const struct tp_integer *type = (const struct tp_integer *)any;

	if (!any || any->type != TP_INTEGER || any->size < sizeof(*type))
		return "a type that must be an integer is none";
	if (type->bits != 8 && type->bits != 16 && type->bits != 32 && type->bits != 64)
		return "an integer has not 8, 16, 32 or 64 bits";
	field->size_bits = (uint8_t)type->bits;
	field->base =
		type->base == 2 || type->base == 8 || type->base == 16 ? (uint8_t)type->base : 10;
	if (type->is_signed)
		field->flags |= LTT_FIELD_SIGNED;
	if (type->is_swapped == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__))
		field->flags |= LTT_FIELD_BIG_ENDIAN;
	return NULL;
}

static const char *take_float(struct ltt_field *field, const struct tp_float *type)
{
	const unsigned int bits = type->exponent + type->mantissa;

	if ((bits != 32 || type->mantissa != 24) && (bits != 64 || type->mantissa != 53))
		return "a floating-point number is neither float nor double";
	field->size_bits = (uint8_t)bits;
	return NULL;
}

static const char *take_elements(struct ltt_field *field, const struct tp_type_any *element,
				 int encoding)
{
	const char *reason = take_integer(field, element);

	if (!reason && encoding && field->size_bits != 8)
		return "a text has elements that are not bytes";
	if (encoding)
		field->flags |= LTT_FIELD_TEXT;
	return reason;
}

static const char *take_array(struct ltt_field *field, const struct tp_array *type)
{
	field->count = type->length;
	return take_elements(field, type->element, type->encoding);
}

/* @length: the field before it. */
static const char *take_sequence(struct ltt_field *field, const struct tp_sequence *type,
				 const struct tp_field *length)
{
	struct ltt_field of_length = { 0 };
	const char *reason =
		length ? take_integer(&of_length, length->type) : "a sequence has no length";

	if (reason)
		return reason;
	field->length_bits = of_length.size_bits;
	return take_elements(field, type->element, type->encoding);
}

static const uint8_t kinds[] = {
	[TP_INTEGER] = LTT_KIND_INT, [TP_STRING] = LTT_KIND_STRING,
	[TP_FLOAT] = LTT_KIND_FLOAT, [TP_ENUM] = LTT_KIND_ENUM,
	[TP_ARRAY] = LTT_KIND_ARRAY, [TP_SEQUENCE] = LTT_KIND_SEQUENCE,
};
static const uint32_t least[] = {
	[TP_INTEGER] = sizeof(struct tp_integer), [TP_STRING] = sizeof(struct tp_type_any),
	[TP_FLOAT] = sizeof(struct tp_float),	  [TP_ENUM] = sizeof(struct tp_enum),
	[TP_ARRAY] = sizeof(struct tp_array),	  [TP_SEQUENCE] = sizeof(struct tp_sequence),
};

static bool is_known_type(const struct tp_type_any *type)
{
	return type && type->type >= 0 && (size_t)type->type < sizeof(kinds) && kinds[type->type] &&
	       type->size >= least[type->type];
}

static const char *take_type(struct ltt_field *field, const struct tp_field *from,
			     const struct tp_field *before)
{
	const struct tp_type_any *type = from->type;
	const char *reason;

	if (!is_known_type(type))
		return "a field has an unknown type";
	field->kind = kinds[type->type];
	field->base = 10;
	switch (type->type) {
	case TP_INTEGER:
		return take_integer(field, type);
	case TP_FLOAT:
		return take_float(field, (const struct tp_float *)type);
	case TP_ARRAY:
		return take_array(field, (const struct tp_array *)type);
	case TP_SEQUENCE:
		return take_sequence(field, (const struct tp_sequence *)type, before);
	case TP_ENUM:
		reason = take_integer(field, ((const struct tp_enum *)type)->container);
		return reason ? reason : take_enum(field, (const struct tp_enum *)type);
	default:
		return NULL;
	}
}

/* The length of a sequence is a field of its own there, which no filter reads. */
static bool is_length(const struct tp_class *class, size_t i)
{
	const struct tp_field *next = i + 1 < class->nr_fields ? class->fields[i + 1] : NULL;

	return next && next->type && next->type->type == TP_SEQUENCE;
}

static uint32_t slots_of(const struct ltt_field *field)
{
	return field->kind == LTT_KIND_ARRAY || field->kind == LTT_KIND_SEQUENCE ? 2 : 1;
}

static const char *take_field(struct event *event, const struct tp_class *class, size_t i,
			      struct ltt_field *field)
{
	const struct tp_field *from = class->fields[i];

	field->name = from->name;
	if (from->nowrite) {
		field->flags |= LTT_FIELD_NOWRITE;
		event->hidden[event->nr_hidden].field = field;
		event->hidden[event->nr_hidden++].slot = event->nr_slots;
	}
	return take_type(field, from, i ? class->fields[i - 1] : NULL);
}

static bool is_field(const struct tp_field *field)
{
	return field && field->size >= sizeof(*field) && event_is_name(field->name) && field->type;
}

/* Those that are not recorded are the last ones here: two passes. */
static const char *take_fields(struct event *event, const struct tp_class *class,
			       struct ltt_field *fields)
{
	uint16_t nr = 0, nr_recorded = 0;
	const char *reason = NULL;

	for (size_t i = 0; i < class->nr_fields; i++) {
		if (!is_field(class->fields[i]))
			return "a field has no name or type";
		nr_recorded += !is_length(class, i) && !class->fields[i]->nowrite;
	}
	for (size_t i = 0; i < class->nr_fields && !reason; i++) {
		struct ltt_field *field;

		if (is_length(class, i))
			continue;
		field = &fields[class->fields[i]->nowrite ? nr_recorded + event->nr_hidden : nr++];
		reason = take_field(event, class, i, field);
		event->nr_slots += class->fields[i]->nofilter ? 0 : slots_of(field);
	}
	event->event.nr_fields = (uint16_t)(nr + event->nr_hidden);
	return reason;
}

/* --- the event ------------------------------------------------------------------------------ */

static uint8_t level_of(const struct tp_event *from)
{
	const int *level = from->loglevel ? *from->loglevel : NULL;

	return level && *level >= LTT_EMERG && *level <= LTT_DEBUG ? (uint8_t)*level :
								     DEFAULT_LEVEL;
}

static const char *check_event(const char *provider, const struct tp_event *from)
{
	const struct tp_class *class = from && from->size >= sizeof(*from) ? from->class : NULL;

	if (!class || !event_is_name(from->name))
		return "an event has no name or fields";
	if (strlen(provider) + strlen(from->name) + 2 > MAX_NAME)
		return "its name is longer than 255 bytes";
	if (class->size < sizeof(*class) || !class->probe || !class->signature)
		return "an event has no function or signature";
	if (class->nr_fields > MAX_FIELDS || (class->nr_fields && !class->fields))
		return "an event has more than 256 fields";
	return NULL;
}

void event_free(struct event *event)
{
	for (uint32_t i = 0; event->event.fields && i < event->nr_room; i++)
		event_free_enum(event->event.fields[i].enumeration);
	free((void *)event->event.fields);
	free(event->hidden);
	free(event->old);
	free(event->name);
	free(event);
}

static const char *event_fill(struct event *event, const struct tp_event *from)
{
	struct ltt_field *fields = calloc(from->class->nr_fields + 1, sizeof(*fields));
	const char *reason;

	event->event.fields = fields;
	event->nr_room = (uint32_t)from->class->nr_fields;
	event->hidden = calloc(from->class->nr_fields + 1, sizeof(*event->hidden));
	if (!fields || !event->hidden || !event->name)
		return no_memory;
	reason = take_fields(event, from->class, fields);
	if (!reason && event->nr_hidden && event->nr_slots > SAVED_SLOTS)
		reason = "it has too many fields, of which some are for filters alone";
	return reason;
}

static char *join_names(const char *provider, const char *name)
{
	const size_t first = strlen(provider), second = strlen(name);
	char *joined = malloc(first + second + 2);

	if (!joined)
		return NULL;
	memcpy(joined, provider, first);
	joined[first] = ':';
	memcpy(joined + first + 1, name, second + 1);
	return joined;
}

struct event *event_new(const char *provider, const struct tp_event *from, const char *file,
			const char **ret_reason)
{
	const char *reason = check_event(provider, from);
	struct event *event = reason ? NULL : calloc(1, sizeof(*event));

	if (!event) {
		*ret_reason = reason ? reason : no_memory;
		return NULL;
	}
	event->name = join_names(provider, from->name);
	reason = event_fill(event, from);
	if (reason) {
		event_free(event);
		*ret_reason = reason;
		return NULL;
	}
	event->from = from;
	event->event.size = sizeof(event->event);
	event->event.field_size = sizeof(struct ltt_field);
	event->event.name = event->name;
	event->event.file = file;
	event->event.function = "";
	event->event.kind = LTT_EVENT_TRACEPOINT;
	event->event.loglevel = level_of(from);
	event->event.reserved[0] = LTT_EVENT_TELLS_IP;
	event->site.size = sizeof(event->site);
	event->site.event = &event->event;
	event->site.changed = event_changed;
	event_prepare_recording(event);
	return event;
}
