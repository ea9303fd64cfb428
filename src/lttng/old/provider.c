// SPDX-License-Identifier: LGPL-2.1-or-later
#include "provider.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lttng/join.h"
#include "lttng/provider.h"
#include "lttng/readers.h"

#define MAX_ENTRIES 65536u
#define MAJOR 1u

/* --- recording: between the program's read lock and unlock --------------------------------- */

static struct event *event_of(const struct old_reservation *at)
{
	return ((const struct old_recorder *)at->event)->of;
}

static int old_reserve(struct old_reservation *at, uint32_t id)
{
	(void)id;
	if (unlikely(!lttng_ust_urcu_reader))
		lttng_ust_urcu_register();
	at->buffer = record_open(event_of(at), at, at->bytes);
	return at->buffer ? 0 : -ENOBUFS;
}

static void old_write(struct old_reservation *at, const void *from, size_t bytes)
{
	record_bytes(at->buffer, from, bytes);
}

static void old_write_string(struct old_reservation *at, const char *from, size_t bytes)
{
	record_text(at->buffer, from, bytes);
}

static void old_commit(struct old_reservation *at)
{
	struct frame *frame = at->buffer;

	if (likely(frame->at == frame->end))
		ltt_emit_at(&event_of(at)->site, frame->payload, at->bytes, 0, at->ip);
	record_close(frame);
}

static struct old_session session = { .active = 1 };
static const struct old_operations operations = {
	.has_string = 1,
	.reserve = old_reserve,
	.commit = old_commit,
	.write = old_write,
	.write_string = old_write_string,
};
static struct old_channel channel = {
	.enabled = 1,
	.session = &session,
	.operations = &operations,
};

int old_prepare(struct event *event)
{
	struct old_recorder *old = calloc(1, sizeof(*old));

	if (!old)
		return -ENOMEM;
	old->of = event;
	old->event.channel = &channel;
	old->event.filters.next = old->event.filters.previous = &old->event.filters;
	event->old = old;
	return 0;
}

/* The library is there before the first such thread, and stays. */
void old_synchronize(void)
{
	static void (*wait_for_readers)(void);

	if (!wait_for_readers)
		*(void **)&wait_for_readers = dlsym(RTLD_DEFAULT, "urcu_bp_synchronize_rcu");
	if (!wait_for_readers)
		*(void **)&wait_for_readers = dlsym(RTLD_DEFAULT, "synchronize_rcu_bp");
	if (wait_for_readers)
		wait_for_readers();
}

/* --- descriptions --------------------------------------------------------------------------- */

/** struct translated_field - a field; @length: that of a sequence, which is a field before it. */
struct translated_field {
	struct tp_field field, length;
	union {
		struct tp_type_any any;
		struct tp_integer integer;
		struct tp_float real;
		struct tp_enum enumeration;
		struct tp_array array;
		struct tp_sequence sequence;
	} type;
	struct tp_integer element, length_type;
	struct tp_enum_desc labels;
	struct tp_enum_entry *entries;
	const struct tp_enum_entry **list;
};

struct translated_event {
	struct tp_event event;
	struct tp_class class;
	struct translated_field *fields;
	uint32_t nr_fields;
	const struct tp_field **list;
};

/** struct translated - a provider's description. */
struct translated {
	struct translated *next;
	const struct old_provider_desc *from;
	struct provider *provider;
	struct lttng_ust_probe_desc desc;
	struct translated_event *events;
	const struct tp_event **list;
};

static struct translated *all; /* with the lock of join.h */

static struct tp_integer integer_from(const struct old_integer *from)
{
	return (struct tp_integer){
		.any = { TP_INTEGER, sizeof(struct tp_integer) },
		.bits = from->bits,
		.is_signed = from->is_signed,
		.is_swapped = from->is_swapped,
		.base = from->base,
	};
}

static int translate_enum(struct translated_field *to, const struct old_enum_desc *from)
{
	const uint32_t nr = from && from->entries ? from->nr_entries : 0;

	if (nr > MAX_ENTRIES)
		return -EINVAL;
	to->labels = (struct tp_enum_desc){ .size = sizeof(to->labels),
					    .name = from ? from->name : NULL,
					    .nr_entries = nr };
	to->entries = calloc(nr + 1, sizeof(*to->entries));
	to->list = calloc(nr + 1, sizeof(*to->list));
	to->labels.entries = to->list;
	if (!to->entries || !to->list)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		to->entries[i] = (struct tp_enum_entry){
			.size = sizeof(to->entries[i]),
			.first = from->entries[i].first,
			.last = from->entries[i].last,
			.label = from->entries[i].label,
			.options = from->entries[i].options,
		};
		to->list[i] = &to->entries[i];
	}
	return 0;
}

/* An unknown type stays unknown: the event is refused. */
static int translate_type(struct translated_field *to, const struct old_type *from)
{
	switch (from->type) {
	case OLD_INTEGER:
		to->type.integer = integer_from(&from->u.basic.integer);
		return 0;
	case OLD_FLOAT:
		to->type.real = (struct tp_float){ .any = { TP_FLOAT, sizeof(to->type.real) },
						   .exponent = from->u.basic.real.exponent,
						   .mantissa = from->u.basic.real.mantissa };
		return 0;
	case OLD_STRING:
		to->type.any = (struct tp_type_any){ TP_STRING, sizeof(to->type.any) };
		return 0;
	case OLD_ENUM:
		to->element = integer_from(&from->u.basic.enumeration.container);
		to->type.enumeration = (struct tp_enum){ { TP_ENUM, sizeof(to->type.enumeration) },
							 &to->labels,
							 &to->element.any };
		return translate_enum(to, from->u.basic.enumeration.desc);
	case OLD_ARRAY:
		to->element = integer_from(&from->u.array.element.u.integer);
		to->type.array = (struct tp_array){
			.any = { TP_ARRAY, sizeof(to->type.array) },
			.element = &to->element.any,
			.length = from->u.array.length,
			.encoding = from->u.array.element.u.integer.encoding,
		};
		return 0;
	case OLD_SEQUENCE:
		to->element = integer_from(&from->u.sequence.element.u.integer);
		to->length_type = integer_from(&from->u.sequence.length.u.integer);
		to->type.sequence = (struct tp_sequence){
			.any = { TP_SEQUENCE, sizeof(to->type.sequence) },
			.element = &to->element.any,
			.encoding = from->u.sequence.element.u.integer.encoding,
		};
		return 0;
	default:
		to->type.any = (struct tp_type_any){ -1, sizeof(to->type.any) };
		return 0;
	}
}

static int translate_fields(struct translated_event *to, const struct old_event_desc *from)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < from->nr_fields; i++) {
		struct translated_field *field = &to->fields[i];
		int res;

		if (from->fields[i].nowrite)
			continue;
		res = translate_type(field, &from->fields[i].type);
		if (res < 0)
			return res;
		field->field = (struct tp_field){ .size = sizeof(field->field),
						  .name = from->fields[i].name,
						  .type = &field->type.any };
		field->length = field->field;
		field->length.type = &field->length_type.any;
		if (from->fields[i].type.type == OLD_SEQUENCE)
			to->list[nr++] = &field->length;
		to->list[nr++] = &field->field;
	}
	to->class.nr_fields = nr;
	return 0;
}

/* @name: the provider's. Return: the name behind "provider:"; NULL: it has another form. */
static const char *name_behind(const char *name, const char *whole)
{
	const size_t len = strlen(name);

	return whole && strncmp(whole, name, len) == 0 && whole[len] == ':' ? whole + len + 1 :
									      NULL;
}

static int translate_event(struct translated_event *to, const char *provider,
			   const struct old_event_desc *from)
{
	if (!from || from->nr_fields > MAX_FIELDS || (from->nr_fields && !from->fields))
		return 0; /* it has no name, and is refused */
	to->event = (struct tp_event){ .size = sizeof(to->event),
				       .name = name_behind(provider, from->name),
				       .class = &to->class,
				       .loglevel = from->loglevel };
	to->class = (struct tp_class){ .size = sizeof(to->class),
				       .probe = from->probe,
				       .signature = from->signature };
	to->nr_fields = from->nr_fields;
	to->fields = calloc(from->nr_fields + 1u, sizeof(*to->fields));
	to->list = calloc(2u * from->nr_fields + 1u, sizeof(struct tp_field *));
	to->class.fields = to->list;
	return to->fields && to->list ? translate_fields(to, from) : -ENOMEM;
}

static void translated_free(struct translated *to)
{
	for (uint32_t i = 0; to->events && i < to->desc.nr_events; i++) {
		struct translated_event *event = &to->events[i];

		for (uint32_t f = 0; event->fields && f < event->nr_fields; f++) {
			free(event->fields[f].entries);
			free(event->fields[f].list);
		}
		free(event->fields);
		free(event->list);
	}
	free(to->events);
	free(to->list);
	free(to);
}

static int translate(struct translated *to, const struct old_provider_desc *from)
{
	const uint32_t nr = from->events ? from->nr_events : 0;
	int res = 0;

	to->from = from;
	to->desc = (struct lttng_ust_probe_desc){ .size = sizeof(to->desc),
						  .name = from->name,
						  .nr_events = nr,
						  .major = from->major == MAJOR ?
								   PROVIDER_OLDEST_MAJOR :
								   0 };
	if (!event_is_name(from->name) || nr > PROVIDER_MAX_EVENTS)
		return 0; /* it is refused */
	to->events = calloc(nr + 1, sizeof(*to->events));
	to->list = calloc(nr + 1, sizeof(*to->list));
	to->desc.events = to->list;
	if (!to->events || !to->list)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr && !res; i++) {
		res = translate_event(&to->events[i], from->name, from->events[i]);
		to->list[i] = &to->events[i].event;
	}
	return res;
}

/* The program ends itself if the result is not 0: a provider that is refused has no events. */
EXPORT int lttng_probe_register(const struct old_provider_desc *desc)
{
	struct translated *to = desc ? calloc(1, sizeof(*to)) : NULL;

	if (!to)
		return 0;
	if (translate(to, desc) < 0) {
		translated_free(to);
		return 0;
	}
	to->provider = provider_register(&to->desc, desc);
	join_lock();
	to->next = all;
	all = to;
	join_unlock();
	return 0;
}

EXPORT void lttng_probe_unregister(const struct old_provider_desc *desc)
{
	struct translated **at = &all, *to;

	join_lock();
	while (*at && (*at)->from != desc)
		at = &(*at)->next;
	to = *at;
	if (to)
		*at = to->next;
	join_unlock();
	if (to && provider_unregister(to->provider))
		translated_free(to);
}

/* --- call sites ------------------------------------------------------------------------------ */

static bool place_of(const void *address, struct place *ret_place, char *names)
{
	struct old_site *site = (struct old_site *)address;
	const char *colon = site && site->name && site->signature ? strchr(site->name, ':') : NULL;

	if (!colon || strlen(site->name) >= MAX_NAME)
		return false;
	memcpy(names, site->name, strlen(site->name) + 1);
	names[colon - site->name] = '\0';
	*ret_place = (struct place){ names, names + (colon - site->name) + 1, site->signature,
				     &site->state, &site->probes };
	return event_is_name(ret_place->provider) && event_is_name(ret_place->event);
}

EXPORT int tracepoint_register_lib(struct old_site *const *sites, int nr_sites)
{
	return module_register((const void *const *)sites, nr_sites, place_of);
}

EXPORT int tracepoint_unregister_lib(struct old_site *const *sites)
{
	return module_unregister((const void *const *)sites);
}

/* --- liblttng-ust-tracepoint.so.0 ----------------------------------------------------------- */

EXPORT __attribute__((weak)) int __tracepoints__disable_destructors;

EXPORT void tp_rcu_read_lock_bp(void)
{
	lttng_ust_urcu_read_lock();
}

EXPORT void tp_rcu_read_unlock_bp(void)
{
	lttng_ust_urcu_read_unlock();
}

EXPORT void *tp_rcu_dereference_sym_bp(void *pointer)
{
	return pointer;
}
