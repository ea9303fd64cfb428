/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "where.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "expression/filter.h"
#include "read/decode/plan.h"

#define WHERE_ARRAY_MAX 4096u /* elements; longer arrays are as sequences */
#define WHERE_NAMES_MAX 256u  /* names of contexts; one may have several */

/* Prefix of the names of contexts. Its address distinguishes them from a field named `ctx`. */
static const char where_context[] = "ctx.";

/* A context of the packet, whose values do not differ in their order. */
struct where_packet {
	uint32_t at;
	uint32_t number;
};

#define WHERE_SEEN 64u

/**
 * struct where_class - the expression for one class of events.
 * @program: NULL: it never holds, and @why is the reason.
 * @named: which of the fields, in the order of where_each(), the program has; the others are not in
 *         its payload.
 * @duration: its number as a context.
 * @used: bits of the numbers of its contexts.
 * @pick: of all that the program needs besides @packet, to @values, contexts first; NULL: an event
 *        has to be decoded. @numbers: of these contexts.
 * @seen: the bytes of the latest event's contexts, @nr_seen of them, if nothing else counts, and
 *        whether it @held: many events in a row are of the same threads.
 */
struct where_class {
	struct where_class *next;
	struct ltt_filter *program;
	char *why;
	bool *named;
	uint32_t duration;
	uint64_t used;
	struct plan_pick *pick;
	uint32_t nr_packet, nr_contexts, nr_fields;
	struct value *values;
	struct where_packet packet[LTT_FILTER_CONTEXTS_MAX];
	uint8_t numbers[LTT_FILTER_CONTEXTS_MAX];
	uint8_t seen[WHERE_SEEN];
	size_t nr_seen;
	bool held;
};

void where_fini(struct where *where)
{
	struct where_class *class;

	while ((class = where->classes)) {
		where->classes = class->next;
		free(class->pick);
		free(class->program);
		free(class->why);
		free(class->named);
		free(class->values);
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

	if (value_has_text(value))
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

/* @expression: only fields that it may name; NULL: all. */
struct where_sizes {
	const char *expression;
	struct layout *layout;
	uint32_t nr_values, nr_fields, nr_labels;
	size_t text;
};

static bool where_is_in_name(char ch)
{
	return isalnum((unsigned char)ch) || ch == '_';
}

/* Its name may also be that of a label or a context, or in a text. */
static bool where_may_name(const char *expression, const struct value *value)
{
	const char *name = value->field->shown, *at = expression;
	uint32_t len = value->field->shown_len;

	while (at && (at = strstr(at, name)) && len) {
		if ((at == expression || !where_is_in_name(at[-1])) && !where_is_in_name(at[len]))
			return true;
		at++;
	}
	return !expression || !len;
}

/* The type that has the labels: that of the elements, of an array. */
static const struct ctf_type *where_labeled(const struct value *value)
{
	const struct ctf_type *type = value->type;

	return type_is_scalar(type) || value_has_text(value) ? type : type->elem;
}

static void where_count(void *priv, const struct value *value, const char *prefix)
{
	struct where_sizes *sizes = priv;
	const struct ctf_type *labeled = where_labeled(value);

	sizes->nr_values++;
	if (!where_may_name(sizes->expression, value))
		return;
	sizes->nr_fields++;
	sizes->text += strlen(prefix) + value->field->shown_len + 1;
	for (uint32_t i = 0; i < labeled->nr_mappings; i++) {
		sizes->nr_labels++;
		sizes->text += strlen(labeled->mappings[i].label) + 1;
	}
}

/* There is room. */
static void where_add(void *priv, const struct value *value, const char *prefix)
{
	char *name AUTO_FREE = xasprintf("%s%s", prefix, value->field->shown);
	struct layout_field field = where_field(value);
	const struct ctf_type *labeled = where_labeled(value);
	struct where_sizes *sizes = priv;

	if (!where_may_name(sizes->expression, value))
		return;
	field.name = name;
	field.is_set = labeled->kind == TYPE_ENUM && labeled->is_set;
	field.mask = labeled->mask;
	layout_add_field(sizes->layout, &field);
	for (uint32_t i = 0; i < labeled->nr_mappings; i++)
		layout_add_label(sizes->layout, labeled->mappings[i].label,
				 (int64_t)labeled->mappings[i].first,
				 (int64_t)labeled->mappings[i].last);
}

static struct layout *where_layout(const struct value *fields, const char *expression)
{
	struct where_sizes sizes = { .expression = expression };

	if (fields)
		where_each(fields, "", where_count, &sizes);
	sizes.layout = layout_new(sizes.nr_fields, sizes.nr_labels, sizes.text);
	if (sizes.layout && fields)
		where_each(fields, "", where_add, &sizes);
	return sizes.layout;
}

/* --- contexts ------------------------------------------------------------- */

struct where_contexts {
	uint32_t nr, nr_names;
	struct filter_context of[WHERE_NAMES_MAX];
};

/* The number of a context is that of those before it. */
static bool where_is_context(uint32_t nr, const struct value *value)
{
	return nr < LTT_FILTER_CONTEXTS_MAX - 1 && /* the last one: its duration */
	       (value->type->kind == TYPE_STRUCT || value_has_text(value) ||
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

	if (!where_is_context(contexts->nr, value))
		return;
	if (value->type->kind == TYPE_STRUCT)
		where_name_provided(contexts, value);
	else
		where_add_name(contexts, xasprintf("%s%s", prefix, value->field->shown),
			       value_has_text(value)	       ? LTT_FILTER_TEXT :
			       value->type->kind == TYPE_FLOAT ? LTT_FILTER_NUMBER :
								 LTT_FILTER_INTEGER);
	contexts->nr++;
}

static void where_set_context(struct ltt_filter_value *to, const struct value *value)
{
	if (value->type->kind == TYPE_STRUCT)
		value = value_provided(value);
	*to = (struct ltt_filter_value){ .kind = value ? LTT_FILTER_INTEGER : LTT_FILTER_ABSENT };
	if (!value)
		return;
	if (value_has_text(value)) {
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

/* @used: bits of the numbers of those that are taken. @nr: of the next one. */
struct where_taken {
	struct ltt_filter_value *to;
	uint64_t used;
	uint32_t nr;
};

static void where_take_context(void *priv, const struct value *value, const char *prefix)
{
	struct where_taken *taken = priv;

	(void)prefix;
	if (!where_is_context(taken->nr, value))
		return;
	if (taken->used >> taken->nr & 1)
		where_set_context(&taken->to[taken->nr], value);
	taken->nr++;
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

/* Return: NULL: it never holds; @ret_why may be set. */
static struct ltt_filter *where_compile(const char *expression, const struct value *fields,
					const struct where_contexts *contexts, const char *named,
					char **ret_why)
{
	struct layout *layout = where_layout(fields, named);
	struct ltt_filter *program = NULL;
	struct filter_result result;

	if (filter_compile(expression, layout, contexts->of, contexts->nr_names, FILTER_LENIENT,
			   &result) == FILTER_COMPILED) {
		program = TAKE(result.program);
	} else {
		filter_result_fini(&result);
		if (filter_compile(expression, layout, contexts->of, contexts->nr_names,
				   FILTER_STRICT, &result) == FILTER_INVALID)
			*ret_why = xasprintf("column %u: %s", result.column, result.text);
	}
	filter_result_fini(&result);
	layout_free(layout);
	return program;
}

static uint64_t where_used_contexts(const struct ltt_filter *program)
{
	uint64_t used = 0;

	for (uint32_t i = 0; i < program->head.nr_insns; i++) {
		const struct ltt_filter_insn *in = &program->insns[i];

		if (in->op == LTT_FILTER_CONTEXT || in->type == LTT_FILTER_TEXT_CONTEXT)
			used |= (uint64_t)1 << in->offset % LTT_FILTER_CONTEXTS_MAX;
	}
	return used;
}

/* --- the values that a program needs -------------------------------------- */

struct where_naming {
	const char *expression;
	bool *named;
	uint32_t nr;
};

/* @scope: of the values; @wanted: of these; @nr: the number of the next context or field. */
struct where_pick {
	struct where_class *class;
	const struct value *scope;
	bool *wanted;
	uint32_t nr;
	bool provided;
};

static void where_pick_context(void *priv, const struct value *value, const char *prefix)
{
	struct where_pick *pick = priv;
	struct where_class *class = pick->class;

	(void)prefix;
	if (!where_is_context(pick->nr, value))
		return;
	if (class->used >> pick->nr & 1) {
		pick->wanted[value - pick->scope] = true;
		pick->provided |= value->type->kind == TYPE_STRUCT;
		class->numbers[class->nr_contexts++] = (uint8_t)pick->nr;
	}
	pick->nr++;
}

static void where_pick_packet(void *priv, const struct value *value, const char *prefix)
{
	struct where_pick *pick = priv;
	struct where_class *class = pick->class;

	(void)prefix;
	if (!where_is_context(pick->nr, value))
		return;
	if (class->used >> pick->nr & 1)
		class->packet[class->nr_packet++] =
			(struct where_packet){ (uint32_t)(value - pick->scope), pick->nr };
	pick->nr++;
}

static void where_pick_field(void *priv, const struct value *value, const char *prefix)
{
	struct where_pick *pick = priv;

	(void)prefix;
	if (pick->class->named[pick->nr++]) {
		pick->wanted[value - pick->scope] = true;
		pick->class->nr_fields++;
	}
}

/* The wanted values of a scope; allocated. @prefix: as of where_each(). */
static bool *where_pick_scope(struct where_pick *pick, const struct value *scope,
			      const char *prefix, where_member_fn *fn)
{
	if (!scope)
		return NULL;
	pick->scope = scope;
	pick->wanted = xalloc((size_t)(value_behind(scope) - scope));
	where_each(scope, prefix, fn, pick);
	return pick->wanted;
}

/* A duration needs all events, and a context of the application all of its members. */
static void where_pick_all(struct where_class *class, const struct event *event)
{
	const struct values *packet = &event->packet->context;
	const struct value *of[PLAN_SCOPES] = { event->stream_context, event->context,
						event->fields };
	struct where_pick contexts = { .class = class }, fields = { .class = class };
	struct plan_scope scopes[PLAN_SCOPES];
	bool *wanted[PLAN_SCOPES];

	if (packet->nr) {
		contexts.scope = packet->at;
		where_each(packet->at, where_context, where_pick_packet, &contexts);
	}
	for (uint32_t i = 0; i < PLAN_SCOPES; i++) {
		wanted[i] = i < PLAN_SCOPES - 1 ?
				    where_pick_scope(&contexts, of[i], where_context,
						     where_pick_context) :
				    where_pick_scope(&fields, of[i], "", where_pick_field);
		scopes[i] = (struct plan_scope){ of[i] ? of[i]->type : NULL, wanted[i] };
	}
	if (!contexts.provided && !(class->used >> class->duration & 1) &&
	    (!class->nr_packet || packet->at->type->plan))
		class->pick = plan_pick_new(scopes);
	for (uint32_t i = 0; i < PLAN_SCOPES; i++)
		free(wanted[i]);
	class->values =
		xalloc((class->nr_contexts + class->nr_fields + 1) * sizeof(*class->values));
}

/* Which of the fields a program for the fields that it may name has. */
static void where_set_named(void *priv, const struct value *value, const char *prefix)
{
	struct where_naming *naming = priv;

	(void)prefix;
	naming->named[naming->nr++] = where_may_name(naming->expression, value);
}

static void where_name_fields(struct where_class *class, const char *expression,
			      const struct value *fields)
{
	struct where_sizes sizes = { .expression = expression };
	struct where_naming naming = { .expression = expression };

	if (fields)
		where_each(fields, "", where_count, &sizes);
	class->named = naming.named = xalloc(sizes.nr_values + 1);
	if (fields)
		where_each(fields, "", where_set_named, &naming);
}

static struct where_class *where_class_new(const char *expression, const struct event *event)
{
	struct where_class *class = xalloc(sizeof(*class));
	struct where_contexts contexts = { .nr = 0 };
	struct ltt_filter *all;

	where_each_context(event, where_name_context, &contexts);
	where_add_name(&contexts, xstrdup(FILTER_DURATION), LTT_FILTER_INTEGER);
	all = where_compile(expression, event->fields, &contexts, NULL, &class->why);
	if (all)
		class->program = where_compile(expression, event->fields, &contexts, expression,
					       &class->why);
	free(all);
	if (class->program) {
		where_name_fields(class, expression, event->fields);
		class->used = where_used_contexts(class->program);
		class->duration = contexts.nr;
		where_pick_all(class, event);
	}
	for (uint32_t i = 0; i < contexts.nr_names; i++)
		free((void *)contexts.of[i].name);
	return class;
}

static struct where_class *where_class_of(struct where *where, const char *expression,
					  struct ctf_event_class *ec, const struct event *event)
{
	struct where_class *class;

	if (ec->where)
		return ec->where;
	class = where_class_new(expression, event);
	class->next = where->classes;
	return where->classes = ec->where = class;
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

static void where_put_value(struct where *where, const struct value *value)
{
	if (type_is_scalar(value->type)) {
		where_put(where, &value->u, sizeof(value->u));
	} else if (value_has_text(value)) {
		where_put(where, value->bytes, value_text_length(value));
		where_put(where, "", 1);
	} else {
		if (where_field(value).kind == LTT_KIND_SEQUENCE)
			where_put(where, &value->count, sizeof(value->count));
		where_put_elements(where, value);
	}
}

struct where_payload {
	struct where *where;
	const bool *named;
};

static void where_put_named(void *priv, const struct value *value, const char *prefix)
{
	struct where_payload *payload = priv;

	(void)prefix;
	if (*payload->named++)
		where_put_value(payload->where, value);
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
	struct where_taken taken = { where->contexts, class->used, 0 };
	struct where_payload payload = { where, class->named };

	if (!class->program)
		return false;
	where->len = 0;
	if (event->fields)
		where_each(event->fields, "", where_put_named, &payload);
	where_each_context(event, where_take_context, &taken);
	where->contexts[class->duration] = where_duration(event);
	return ltt_filter_run(class->program, where->payload, where->len, where->contexts);
}

/* Return: as where_picked_holds(). */
static int where_run_picked(struct where *where, const struct where_class *class, struct feed *feed)
{
	const struct value *value;
	int r;

	r = feed_pick(feed, class->pick, class->values);
	if (r != 1)
		return r == FEED_UNPLANNED ? WHERE_UNKNOWN : r;
	value = class->values;
	for (uint32_t i = 0; i < class->nr_contexts; i++)
		where_set_context(&where->contexts[class->numbers[i]], value++);
	for (const struct where_packet *at = class->packet; at < class->packet + class->nr_packet;
	     at++)
		where_set_context(&where->contexts[at->number], &feed->packet.context.at[at->at]);
	where->len = 0;
	for (uint32_t i = 0; i < class->nr_fields; i++)
		where_put_value(where, value++);
	return ltt_filter_run(class->program, where->payload, where->len, where->contexts);
}

int where_picked_holds(struct where *where, struct feed *feed)
{
	struct where_class *class = feed->ec->where;
	const uint8_t *bytes = NULL;
	size_t len = 0;
	int r;

	if (!class || (class->program && !class->pick))
		return WHERE_UNKNOWN;
	if (!class->program)
		return 0;
	if (!class->nr_fields && !class->nr_packet)
		bytes = feed_pick_bytes(feed, class->pick, &len);
	if (bytes && len == class->nr_seen && memcmp(bytes, class->seen, len) == 0)
		return class->held;
	r = where_run_picked(where, class, feed);
	if (bytes && len <= WHERE_SEEN && (r == 0 || r == 1)) {
		memcpy(class->seen, bytes, len);
		class->nr_seen = len;
		class->held = r;
	}
	return r;
}
