/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "where.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "expression/filter.h"

#define WHERE_ARRAY_MAX 4096u /* elements; longer arrays are as sequences */
#define WHERE_NAMES_MAX 256u  /* names of contexts; one may have several */

/* Prefix of the names of contexts. Its address distinguishes them from a field named `ctx`. */
static const char where_context[] = "ctx.";

/** struct where_class - the expression for one class of events. @program: NULL: it never holds,
 *  and @why is the reason. */
struct where_class {
	struct where_class *next;
	struct ltt_filter *program;
	char *why;
};

void where_fini(struct where *where)
{
	struct where_class *class;

	while ((class = where->classes)) {
		where->classes = class->next;
		free(class->program);
		free(class->why);
		free(class);
	}
	free(where->payload);
}

/* A suggestion is the best reason, then the longest list of names. */
static const char *where_better(const char *one, const char *other)
{
	bool one_suggests = one && strstr(one, "did you mean");
	bool other_suggests = other && strstr(other, "did you mean");

	if (!one || !other || one_suggests != other_suggests)
		return one && (!other || one_suggests) ? one : other;
	return strlen(one) > strlen(other) ? one : other;
}

const char *where_never(const struct where *where)
{
	const char *why = NULL;

	for (const struct where_class *class = where->classes; class; class = class->next) {
		if (class->program)
			return NULL;
		why = where_better(why, class->why);
	}
	return why;
}

/* --- members of an event -------------------------------------------------- */

typedef void where_member_fn(void *priv, const struct value *value, const char *prefix);

/* No other values belong to it. */
static bool where_is_plain(const struct value *value)
{
	return value->type->kind == TYPE_STRING || type_is_scalar(value->type) ||
	       value_is_packed(value);
}

/* Behind a value and all that belong to it. */
static const struct value *where_skip(const struct value *value)
{
	const struct value *next = value + 1;

	for (uint32_t i = 0; !where_is_plain(value) && i < value->count; i++)
		next = where_skip(next);
	return next;
}

/* The members of a struct, and as `a.b` those of structs in it. Variants, and arrays of compounds,
 * have no fixed place: they are left out. Return: behind it. */
static const struct value *where_each(const struct value *value, const char *prefix,
				      where_member_fn *fn, void *priv)
{
	const struct value *at = value + 1;

	for (uint32_t i = 0; i < value->count; i++) {
		if (at->type->kind == TYPE_STRUCT) {
			char *inner AUTO_FREE = xasprintf("%s%s.", prefix, at->field->shown);

			if (prefix == where_context && value_is_provided(at))
				fn(priv, at, prefix);
			at = where_each(at, inner, fn, priv);
		} else {
			if (where_is_plain(at))
				fn(priv, at, prefix);
			at = where_skip(at);
		}
	}
	return at;
}

/* All values that a filter calls contexts. */
static void where_each_context(const struct event *event, where_member_fn *fn, void *priv)
{
	const struct values *packet = &event->packet->context;

	if (packet->nr)
		where_each(packet->at, where_context, fn, priv);
	if (event->stream_context)
		where_each(event->stream_context, where_context, fn, priv);
	if (event->context)
		where_each(event->context, where_context, fn, priv);
}

static bool where_is_text(const struct value *value)
{
	return value->type->kind == TYPE_STRING || value_is_text(value);
}

/* --- layout --------------------------------------------------------------- */

static void where_add_flags(struct layout_field *field, const struct ctf_type *scalar)
{
	field->size_bits = 64;
	if (scalar->kind == TYPE_FLOAT)
		field->flags = LTT_FIELD_FLOAT_ELEM;
	else if (scalar->is_signed)
		field->flags = LTT_FIELD_SIGNED;
}

static struct layout_field where_field(const struct value *value)
{
	static const uint8_t kinds[] = { [TYPE_INT] = LTT_KIND_INT,
					 [TYPE_FLOAT] = LTT_KIND_FLOAT,
					 [TYPE_ENUM] = LTT_KIND_ENUM };
	const struct ctf_type *type = value->type;
	struct layout_field field = { .kind = LTT_KIND_STRING };

	if (where_is_text(value))
		return field;
	if (type_is_scalar(type)) {
		field.kind = kinds[type->kind];
		where_add_flags(&field, type);
		field.flags &= ~(uint32_t)LTT_FIELD_FLOAT_ELEM;
		return field;
	}
	where_add_flags(&field, type->elem);
	if (type->kind == TYPE_ARRAY && type->length && type->length <= WHERE_ARRAY_MAX) {
		field.kind = LTT_KIND_ARRAY;
		field.count = (uint32_t)type->length;
	} else {
		field.kind = LTT_KIND_SEQUENCE;
		field.length_bits = 32;
	}
	return field;
}

struct where_sizes {
	uint32_t nr_fields, nr_labels;
	size_t text;
};

static void where_count(void *priv, const struct value *value, const char *prefix)
{
	struct where_sizes *sizes = priv;
	const struct ctf_type *type = value->type;

	sizes->nr_fields++;
	sizes->text += strlen(prefix) + value->field->shown_len + 1;
	for (uint32_t i = 0; i < type->nr_mappings; i++) {
		sizes->nr_labels++;
		sizes->text += strlen(type->mappings[i].label) + 1;
	}
}

/* There is room. */
static void where_add(void *priv, const struct value *value, const char *prefix)
{
	char *name AUTO_FREE = xasprintf("%s%s", prefix, value->field->shown);
	struct layout_field field = where_field(value);
	const struct ctf_type *type = value->type;

	field.name = name;
	field.is_set = type->kind == TYPE_ENUM && type->is_set;
	field.mask = type->mask;
	layout_add_field(priv, &field);
	for (uint32_t i = 0; i < type->nr_mappings; i++)
		layout_add_label(priv, type->mappings[i].label, (int64_t)type->mappings[i].first,
				 (int64_t)type->mappings[i].last);
}

static struct layout *where_layout(const struct value *fields)
{
	struct where_sizes sizes = { 0, 0, 0 };
	struct layout *layout;

	if (fields)
		where_each(fields, "", where_count, &sizes);
	layout = layout_new(sizes.nr_fields, sizes.nr_labels, sizes.text);
	if (layout && fields)
		where_each(fields, "", where_add, layout);
	return layout;
}

/* --- contexts ------------------------------------------------------------- */

struct where_contexts {
	uint32_t nr, nr_names;
	struct filter_context of[WHERE_NAMES_MAX];
	struct ltt_filter_value values[LTT_FILTER_CONTEXTS_MAX];
};

/* where_name_context() and where_take_context() give a context the same number. */
static bool where_is_context(const struct where_contexts *contexts, const struct value *value)
{
	return contexts->nr < LTT_FILTER_CONTEXTS_MAX - 1 && /* the last one: its duration */
	       (value->type->kind == TYPE_STRUCT || where_is_text(value) ||
		type_is_scalar(value->type));
}

/* @name: allocated. */
static void where_add_name(struct where_contexts *contexts, char *name, enum ltt_filter_kind kind)
{
	if (contexts->nr_names < WHERE_NAMES_MAX)
		contexts->of[contexts->nr_names++] =
			(struct filter_context){ name, kind, (uint16_t)contexts->nr };
	else
		free(name);
}

/* Of older traces, app_a_b_c is $app.a:b_c or $app.a_b:c. */
static void where_name_provided(struct where_contexts *contexts, const struct value *value)
{
	const char *provider = value_provider(value->field->shown);
	const char *name = value_provided_name(value);

	if (name) {
		where_add_name(contexts, xasprintf("app.%s", name), LTT_FILTER_ABSENT);
		return;
	}
	for (const char *at = strchr(provider, '_'); at; at = strchr(at + 1, '_'))
		if (at > provider && at[1])
			where_add_name(contexts,
				       xasprintf("app.%.*s:%s", (int)(at - provider), provider,
						 at + 1),
				       LTT_FILTER_ABSENT);
}

static void where_name_context(void *priv, const struct value *value, const char *prefix)
{
	struct where_contexts *contexts = priv;

	if (!where_is_context(contexts, value))
		return;
	if (value->type->kind == TYPE_STRUCT)
		where_name_provided(contexts, value);
	else
		where_add_name(contexts, xasprintf("%s%s", prefix, value->field->shown),
			       where_is_text(value)	       ? LTT_FILTER_TEXT :
			       value->type->kind == TYPE_FLOAT ? LTT_FILTER_NUMBER :
								 LTT_FILTER_INTEGER);
	contexts->nr++;
}

static void where_take_context(void *priv, const struct value *value, const char *prefix)
{
	struct where_contexts *contexts = priv;
	struct ltt_filter_value *to = &contexts->values[contexts->nr];

	(void)prefix;
	if (!where_is_context(contexts, value))
		return;
	contexts->nr++;
	if (value->type->kind == TYPE_STRUCT)
		value = value_provided(value);
	*to = (struct ltt_filter_value){ .kind = value ? LTT_FILTER_INTEGER : LTT_FILTER_ABSENT };
	if (!value)
		return;
	if (where_is_text(value)) {
		to->kind = LTT_FILTER_TEXT;
		to->length = (uint32_t)value_text_length(value);
		to->text = (const char *)value->bytes;
	} else if (value->type->kind == TYPE_FLOAT) {
		to->kind = LTT_FILTER_NUMBER;
		to->number = value->d;
	} else {
		to->integer = (int64_t)value->u;
	}
}

/* --- the program of a class ----------------------------------------------- */

/* As a text of the expression it may cost time, but changes nothing. */
bool view_where_has_duration(const char *expression)
{
	return strstr(expression, "$" FILTER_DURATION);
}

int view_check_where(const char *expression, char *why, size_t len)
{
	static const struct filter_context duration = { .name = FILTER_DURATION,
							.kind = LTT_FILTER_INTEGER };
	struct filter_result result;
	enum filter_status status =
		filter_compile(expression, NULL, &duration, 1, FILTER_LENIENT, &result);

	if (status == FILTER_INVALID)
		snprintf(why, len, "column %u: %s", result.column, result.text);
	filter_result_fini(&result);
	return status == FILTER_INVALID ? -EINVAL : 0;
}

static void where_compile(struct where_class *class, const char *expression,
			  const struct layout *layout, const struct where_contexts *contexts)
{
	struct filter_result result;

	if (filter_compile(expression, layout, contexts->of, contexts->nr_names, FILTER_LENIENT,
			   &result) == FILTER_COMPILED) {
		class->program = TAKE(result.program);
	} else {
		filter_result_fini(&result);
		if (filter_compile(expression, layout, contexts->of, contexts->nr_names,
				   FILTER_STRICT, &result) == FILTER_INVALID) {
			class->why = xasprintf("column %u: %s", result.column, result.text);
		}
	}
	filter_result_fini(&result);
}

static struct where_class *where_class_of(struct where *where, const char *expression,
					  struct ctf_event_class *ec, const struct event *event)
{
	struct where_contexts contexts = { .nr = 0 };
	struct where_class *class;
	struct layout *layout;

	if (ec->where)
		return ec->where;
	layout = where_layout(event->fields);
	where_each_context(event, where_name_context, &contexts);
	where_add_name(&contexts, xstrdup(FILTER_DURATION), LTT_FILTER_INTEGER);
	class = xalloc(sizeof(*class));
	class->next = where->classes;
	where->classes = ec->where = class;
	where_compile(class, expression, layout, &contexts);
	layout_free(layout);
	for (uint32_t i = 0; i < contexts.nr_names; i++)
		free((void *)contexts.of[i].name);
	return class;
}

/* --- the payload of an event ---------------------------------------------- */

static void where_put(struct where *where, const void *bytes, size_t len)
{
	if (where->size - where->len < len) {
		where->size = 2 * where->size + len + 256;
		where->payload = xrealloc(where->payload, where->size);
	}
	if (len)
		memcpy(where->payload + where->len, bytes, len);
	where->len += len;
}

static void where_put_elements(struct where *where, const struct value *array)
{
	for (uint32_t i = 0; i < array->count; i++) {
		struct value value = value_element(array, i);

		where_put(where, &value.u, sizeof(value.u));
	}
}

static void where_put_value(void *priv, const struct value *value, const char *prefix)
{
	struct where *where = priv;

	(void)prefix;
	if (where_is_text(value)) {
		where_put(where, value->bytes, value_text_length(value));
		where_put(where, "", 1);
	} else if (type_is_scalar(value->type)) {
		where_put(where, &value->u, sizeof(value->u));
	} else {
		if (where_field(value).kind == LTT_KIND_SEQUENCE)
			where_put(where, &value->count, sizeof(value->count));
		where_put_elements(where, value);
	}
}

static struct ltt_filter_value where_duration(const struct event *event)
{
	struct ltt_filter_value value = { .kind = LTT_FILTER_ABSENT };

	if (event->took) {
		value.kind = LTT_FILTER_INTEGER;
		value.integer = event->took->ns;
	}
	return value;
}

bool where_holds(struct where *where, const char *expression, struct ctf_event_class *ec,
		 const struct event *event)
{
	struct where_class *class = where_class_of(where, expression, ec, event);
	struct where_contexts contexts = { .nr = 0 };

	if (!class->program)
		return false;
	where->len = 0;
	if (event->fields)
		where_each(event->fields, "", where_put_value, where);
	where_each_context(event, where_take_context, &contexts);
	contexts.values[contexts.nr] = where_duration(event);
	return ltt_filter_run(class->program, where->payload, where->len, contexts.values);
}
