/* SPDX-License-Identifier: GPL-2.0-only */
#include "names.h"

#include <string.h>

#include "read/event.h"

struct search {
	struct names *names;
	const struct event *event;
	struct name *to;
	uint32_t nr;
	bool unknown;
};

static bool names_is_address(const struct ctf_type *type)
{
	return type->kind == TYPE_INT && type->base == 16 && type->size_bits >= 32;
}

/* The address behind a call: the call's line and function are those of the byte before. */
static bool names_is_return(const struct value *value, int64_t element)
{
	const char *name = value->field ? value->field->shown : "";

	return element > 0 || strcmp(name, "call_site") == 0 || strcmp(name, "callers") == 0 ||
	       strcmp(name, "parent_ip") == 0;
}

static void names_take(struct search *s, const struct value *value, int64_t element,
		       uint64_t address)
{
	bool is_return = names_is_return(value, element), known;
	struct name *name = &s->to[s->nr];
	uint64_t in_file;

	if (!address || s->nr == NAMES_MOST)
		return;
	*name = (struct name){ value, element, address, NULL, { 0 } };
	name->object = objects_find(s->names->objects, s->event, address - is_return, &known);
	s->unknown |= !known;
	if (!name->object)
		return;
	in_file = address - is_return - (name->object->is_pic ? name->object->base : 0);
	s->names->host->name(s->names->host->names_priv, name->object, in_file, &name->symbol);
	name->symbol.offset += is_return;
	s->nr += !name->object->is_kernel || name->symbol.function; /* it has no other name */
}

static void names_of_scope(struct search *s, const struct value *scope)
{
	const struct value *end = scope ? value_behind(scope) : NULL;

	for (const struct value *value = scope; value < end; value++) {
		if (value->field && names_is_address(value->type)) {
			names_take(s, value, -1, value->u);
		} else if (value_is_packed(value) && names_is_address(value->type->elem)) {
			for (uint32_t i = 0; i < value->count && s->nr < NAMES_MOST; i++)
				names_take(s, value, i, value_element(value, i).u);
		}
	}
}

uint32_t names_find(struct names *names, const struct event *event, struct name ret[NAMES_MOST])
{
	struct search s = { names, event, ret, 0, false };

	names_of_scope(&s, event->stream_context);
	names_of_scope(&s, event->context);
	names_of_scope(&s, event->fields);
	names->unknown += s.unknown;
	return s.nr;
}
