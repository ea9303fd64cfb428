// SPDX-License-Identifier: GPL-2.0-only
#include "fallback.h"

#include <linux/err.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace_events.h>

#include "arg_type.h"
#include "fallback_probe.h"
#include "ltt_kmod.h"
#include "registry.h"
#include "instr/symbols.h"

/* Only added to, by the task that loads us or another module; they take turns. */
static struct fallback *last_fallback;

/* --- fields --------------------------------------------------------------- */

static bool skip_prefix(const char **text, const char *prefix)
{
	size_t len = strlen(prefix);

	if (strncmp(*text, prefix, len))
		return false;
	*text += len;
	return true;
}

static bool is_struct(const char *type)
{
	return (!strncmp(type, "struct ", 7) || !strncmp(type, "union ", 6)) && !strchr(type, '*');
}

/* The type of one element: the text before the brackets. */
static const char *fallback_element_type(const char *type)
{
	const char *bracket = strrchr(type, '[');

	return kasprintf(GFP_KERNEL_ACCOUNT, "%.*s",
			 bracket ? (int)(bracket - type) : (int)strlen(type), type);
}

static void describe_varying(struct field *field, const char *type)
{
	u8 is_signed;

	if (!strcmp(type, "cpumask_t"))
		type = "unsigned long[]";
	field->type = fallback_element_type(type);
	field->form = FORM_DYNAMIC;
	field->elem_bytes = field->type ? arg_type(field->type, &is_signed) : 0;
	if (!field->elem_bytes)
		field->elem_bytes = 1;
	if (field->type && !strcmp(field->type, "char"))
		field->form = FORM_STRING;
}

static void describe_fixed(struct field *field, const struct trace_event_fields *from)
{
	field->type = fallback_element_type(from->type);
	field->elem_bytes = from->size;
	field->form = is_struct(from->type) ? FORM_STRUCT : FORM_VALUE;
	if (from->len <= 0 || !strchr(from->type, '['))
		return;
	field->form = FORM_ARRAY;
	field->count = from->len;
	field->elem_bytes = from->size / from->len;
}

static bool fallback_describe(struct fallback *fallback, struct field *field,
			      const struct trace_event_fields *from)
{
	struct fallback_place *place = &fallback->places[field - fallback->fields];
	const char *type = from->type;

	place->is_relative = skip_prefix(&type, "__rel_loc ");
	field->name = kstrdup(from->name, GFP_KERNEL_ACCOUNT);
	field->is_signed = from->is_signed;
	if (place->is_relative || skip_prefix(&type, "__data_loc ")) {
		describe_varying(field, type);
	} else {
		describe_fixed(field, from);
		place->bytes = from->size;
		fallback->fixed += from->size;
	}
	return field->name && field->type;
}

/* The offsets are those that the kernel itself works out from the same table. */
static bool describe_all(struct fallback *fallback, const struct trace_event_fields *from)
{
	u32 at = sizeof(struct trace_entry), i;

	for (i = 0; i < fallback->event.nr_fields; i++, from++) {
		at = ALIGN(at, from->align);
		if (at + from->size > U16_MAX)
			return false;
		fallback->places[i].at = at;
		at += from->size;
		if (!fallback_describe(fallback, &fallback->fields[i], from))
			return false;
	}
	return true;
}

/* --- events --------------------------------------------------------------- */

static void fallback_free(struct fallback *fallback)
{
	u32 i;

	for (i = 0; i < fallback->event.nr_fields; i++) {
		kfree(fallback->fields[i].name);
		kfree(fallback->fields[i].type);
	}
	kfree(fallback->places);
	kfree(fallback->event.system);
	kfree(fallback->event.name);
	kfree(fallback);
}

static struct fallback *fallback_new(struct trace_event_call *call)
{
	const struct trace_event_fields *fields = call->class->fields_array;
	struct fallback *fallback;
	u32 nr = 0;

	while (fields[nr].type)
		nr++;
	fallback = kzalloc(struct_size(fallback, fields, nr), GFP_KERNEL_ACCOUNT);
	if (!fallback)
		return NULL;
	fallback->type = call->event.type;
	fallback->event.nr_fields = nr;
	fallback->event.fields = fallback->fields;
	fallback->event.system = kstrdup(call->class->system, GFP_KERNEL_ACCOUNT);
	fallback->event.name = kstrdup(trace_event_name(call), GFP_KERNEL_ACCOUNT);
	fallback->places = kcalloc(nr, sizeof(*fallback->places), GFP_KERNEL_ACCOUNT);
	if (fallback->event.system && fallback->event.name && fallback->places &&
	    describe_all(fallback, fields))
		return fallback;
	fallback_free(fallback);
	return NULL;
}

static bool has_field_table(const struct trace_event_call *call)
{
	const struct trace_event_fields *fields = call->class->fields_array;

	return (call->flags & TRACE_EVENT_FL_TRACEPOINT) && fields &&
	       fields->type != TRACE_FUNCTION_TYPE;
}

static struct event *fallback_find(struct trace_event_call *call)
{
	char name[LTT_KMOD_NAME_MAX];

	snprintf(name, sizeof(name), "%s:%s", call->class->system, trace_event_name(call));
	return registry_find(name);
}

/* An event that a module had when it was here before keeps its place. */
static void comes(struct trace_event_call *call)
{
	struct event *event = has_field_table(call) ? fallback_find(call) : NULL;

	if (!event || event->kind != &fallback_kind)
		return;
	container_of(event, struct fallback, event)->type = call->event.type;
	registry_comes(event);
}

static struct fallback *if_wanted(struct trace_event_call *call)
{
	return has_field_table(call) && !fallback_find(call) ? fallback_new(call) : NULL;
}

static void fallback_add(struct fallback *fallback)
{
	if (registry_add(&fallback->event, &fallback_kind)) {
		fallback_free(fallback);
		return;
	}
	fallback->made_before = last_fallback;
	last_fallback = fallback;
}

/* The list and its lock are the kernel's own; the registry's lock is never taken beneath
 * that one, as perf takes them the other way round. */
static void fallback_add_all(struct list_head *calls, struct mutex *calls_lock)
{
	struct fallback *found = NULL, *fallback;
	struct trace_event_call *call;

	mutex_lock(calls_lock);
	list_for_each_entry(call, calls, list) {
		fallback = if_wanted(call);
		if (!fallback)
			continue;
		fallback->made_before = found;
		found = fallback;
	}
	mutex_unlock(calls_lock);
	while ((fallback = found)) {
		found = fallback->made_before;
		fallback_add(fallback);
		if (fallback == last_fallback)
			registry_comes(&fallback->event);
	}
}

/* --- modules -------------------------------------------------------------- */

static void module_came(const struct module *module)
{
	unsigned int i;

	for (i = 0; i < module->num_trace_events; i++) {
		struct fallback *fallback = if_wanted(module->trace_events[i]);

		if (fallback)
			fallback_add(fallback);
		comes(module->trace_events[i]);
	}
}

static void module_goes(const struct module *module)
{
	unsigned int i;

	for (i = 0; i < module->num_trace_events; i++) {
		struct event *event = fallback_find(module->trace_events[i]);

		if (event && event->kind == &fallback_kind)
			registry_goes(event);
	}
}

/* While it is recorded perf holds a reference to the module, so it is unloaded only afterwards. */
static int fallback_module_changes(struct notifier_block *nb, unsigned long what, void *module)
{
	static DEFINE_MUTEX(turn);

	mutex_lock(&turn);
	if (what == MODULE_STATE_LIVE)
		module_came(module);
	else if (what == MODULE_STATE_GOING)
		module_goes(module);
	mutex_unlock(&turn);
	return 0;
}

static struct notifier_block fallback_notifier = { .notifier_call = fallback_module_changes };

int fallback_init(void)
{
	struct list_head *calls = ltt_symbol_find("ftrace_events");
	struct mutex *calls_lock = ltt_symbol_find("event_mutex");

	if (calls && calls_lock)
		fallback_add_all(calls, calls_lock);
	return register_module_notifier(&fallback_notifier);
}

void fallback_fini(void)
{
	struct fallback *fallback;

	unregister_module_notifier(&fallback_notifier);
	while ((fallback = last_fallback)) {
		last_fallback = fallback->made_before;
		fallback_free(fallback);
	}
}
