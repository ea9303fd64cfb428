// SPDX-License-Identifier: GPL-2.0-only
#include "providers.h"

#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "ltt_kmod.h"
#include "ltt_provider.h"
#include "registry.h"
#include "text.h"
#include "traced.h"

/**
 * struct provided - an event that is or was a provider's; its description is copied, because
 * it outlives the provider.
 * @source: its provider now; NULL: none.
 * @numbers: bytes of all of them. @nr_variable: fields that are none; @is_bytes: a bit for each of
 * these.
 * @traced: NULL: ftrace and perf don't have it.
 */
struct provided {
	struct event event;
	struct list_head all;
	struct ltt_event *source;
	struct traced *traced;
	u32 numbers, nr_variable, is_bytes;
	char *texts; /* all names and types */
	struct field fields[];
};

/** struct values - arguments of a recording function. @bytes: NULL: all are empty. */
struct values {
	const void *numbers;
	const char *const *texts;
	const struct ltt_event_bytes *bytes;
};

/* Beneath it the registry's; never the other way. */
static DEFINE_MUTEX(providers_lock);
static LIST_HEAD(all);

/* --- recording ------------------------------------------------------------ */

static size_t providers_length(const struct ltt_event_bytes *bytes)
{
	return bytes && bytes->data ? bytes->len : 0;
}

/* Lengths of texts and bytes now; a text may change until it is copied. Return: their sum. */
static u32 providers_measure(const struct provided *provided, const struct values *values,
			     u16 *lens)
{
	const struct ltt_event_bytes *bytes = values->bytes;
	const char *const *text = values->texts;
	u32 len = provided->numbers, i;

	for (i = 0; i < provided->nr_variable; i++) {
		if (provided->is_bytes & BIT(i)) {
			if (providers_length(bytes) > LTT_EVENT_BYTES_MAX)
				return RING_TOO_LONG;
			lens[i] = providers_length(bytes);
			len += sizeof(*lens);
			bytes += bytes != NULL;
		} else {
			lens[i] = strnlen(*text ? *text : "(null)", LTT_EVENT_TEXT_MAX - 1) + 1;
			text++;
		}
		len += lens[i];
	}
	return len;
}

static void providers_fill(const struct provided *provided, u8 *to, const struct values *values,
			   const u16 *lens)
{
	const struct ltt_event_bytes *bytes = values->bytes;
	const char *const *text = values->texts;
	u32 i;

	memcpy(to, values->numbers, provided->numbers);
	to += provided->numbers;
	for (i = 0; i < provided->nr_variable; i++) {
		if (!(provided->is_bytes & BIT(i))) {
			to = text_put(to, *text ? *text : "(null)", lens[i]);
			text++;
			continue;
		}
		memcpy(to, &lens[i], sizeof(lens[i]));
		to += sizeof(lens[i]);
		if (lens[i])
			memcpy(to, bytes->data, lens[i]);
		to += lens[i];
		bytes += bytes != NULL;
	}
}

/* For ftrace and perf. */
static noinline void providers_trace(const struct provided *provided, const struct values *values,
				     const u16 *lens)
{
	const struct ltt_event_bytes *bytes = values->bytes;
	struct traced_part parts[LTT_EVENT_FIELDS_MAX];
	const char *const *text = values->texts;
	u32 i;

	for (i = 0; i < provided->nr_variable; i++) {
		parts[i].len = lens[i];
		if (provided->is_bytes & BIT(i)) {
			parts[i].data = bytes ? bytes->data : NULL;
			bytes += bytes != NULL;
		} else {
			parts[i].data = *text ? *text : "(null)";
			text++;
		}
	}
	traced_record(provided->traced, values->numbers, parts);
}

static void providers_record(const struct provided *provided, const struct values *values)
{
	u16 lens[LTT_EVENT_FIELDS_MAX];
	u32 len = providers_measure(provided, values, lens);
	struct hook *hook;

	if (unlikely(traced_is_on(provided->traced)) && len != RING_TOO_LONG)
		providers_trace(provided, values, lens);

	list_for_each_entry_rcu(hook, &provided->event.hooks, of_event) {
		struct ring *ring;
		u8 *to = ring_begin(&hook->source, len, &ring);

		if (!to)
			continue;
		providers_fill(provided, to, values, lens);
		ring_end(ring);
	}
}

/* RCU waits for code that runs with preemption off, too, and rcu_read_lock() is a function, which
 * a client's tracer of functions would find within its own recording. */
static void providers_record_any(const struct ltt_event *event, const struct values *values)
{
	const struct provided *provided;

	preempt_disable_notrace();
	provided = READ_ONCE(event->provided);
	if (provided)
		providers_record(provided, values);
	preempt_enable_notrace();
}

void ltt_event_record(const struct ltt_event *event, const void *numbers,
		      const char *const texts[])
{
	providers_record_any(event, &(struct values){ numbers, texts });
}
EXPORT_SYMBOL_GPL(ltt_event_record);

void ltt_event_record_bytes(const struct ltt_event *event, const void *numbers,
			    const char *const texts[], const struct ltt_event_bytes bytes[])
{
	providers_record_any(event, &(struct values){ numbers, texts, bytes });
}
EXPORT_SYMBOL_GPL(ltt_event_record_bytes);

void ltt_event_lose(const struct ltt_event *event, unsigned int nr)
{
	const struct provided *provided;
	struct hook *hook;

	preempt_disable_notrace();
	provided = READ_ONCE(event->provided);
	if (provided)
		list_for_each_entry_rcu(hook, &provided->event.hooks, of_event)
			ring_lose(&hook->source, nr);
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(ltt_event_lose);

/* --- events --------------------------------------------------------------- */

static int providers_attach(struct hook *hook)
{
	atomic_inc(&container_of(hook->event, struct provided, event)->source->listeners);
	return 0;
}

static void providers_detach(struct hook *hook)
{
	atomic_dec(&container_of(hook->event, struct provided, event)->source->listeners);
}

static const struct event_kind provider_kind = { .attach = providers_attach,
						 .detach = providers_detach };

static struct provided *providers_find(const char *system, const char *name)
{
	struct provided *provided;

	list_for_each_entry(provided, &all, all)
		if (!strcmp(provided->event.system, system) && !strcmp(provided->event.name, name))
			return provided;
	return NULL;
}

static bool is_sound_field(const struct ltt_event_field *field)
{
	return text_is_word(field->name) && strlen(field->name) < LTT_KMOD_TEXT_MAX &&
	       strlen(field->type) < LTT_KMOD_TEXT_MAX &&
	       (field->bytes == 0 || field->bytes == 1 || field->bytes == 2 || field->bytes == 4 ||
		field->bytes == 8 || field->bytes == LTT_EVENT_VARIABLE);
}

static bool providers_is_sound(const char *system, const struct ltt_event *event)
{
	u32 i, j;

	if (!text_is_word(system) || !text_is_word(event->name) ||
	    strlen(system) + strlen(event->name) + 2 > LTT_KMOD_NAME_MAX ||
	    event->nr_fields > LTT_EVENT_FIELDS_MAX)
		return false;
	for (i = 0; i < event->nr_fields; i++) {
		if (!is_sound_field(&event->fields[i]))
			return false;
		for (j = 0; j < i; j++)
			if (!strcmp(event->fields[i].name, event->fields[j].name))
				return false;
	}
	return true;
}

static u8 providers_form(const struct ltt_event_field *field)
{
	if (field->bytes == LTT_EVENT_VARIABLE)
		return FORM_DYNAMIC;
	return field->bytes ? FORM_VALUE : FORM_STRING;
}

static bool providers_is_same(const struct provided *provided, const struct ltt_event *event)
{
	u32 i;

	if (provided->event.nr_fields != event->nr_fields)
		return false;
	for (i = 0; i < event->nr_fields; i++) {
		const struct ltt_event_field *field = &event->fields[i];
		const struct field *own = &provided->fields[i];

		if (strcmp(field->name, own->name) || strcmp(field->type, own->type) ||
		    providers_form(field) != own->form ||
		    (own->form == FORM_VALUE && field->bytes != own->elem_bytes) ||
		    field->is_signed != own->is_signed)
			return false;
	}
	return true;
}

static const char *providers_copy_text(char **to, const char *text)
{
	char *copy = *to;

	strcpy(copy, text);
	*to += strlen(text) + 1;
	return copy;
}

static size_t texts_of(const char *system, const struct ltt_event *event)
{
	size_t bytes = strlen(system) + strlen(event->name) + 2;
	u32 i;

	for (i = 0; i < event->nr_fields; i++)
		bytes += strlen(event->fields[i].name) + strlen(event->fields[i].type) + 2;
	return bytes;
}

static void providers_describe_field(struct provided *provided, char **to, struct field *ret,
				     const struct ltt_event_field *field)
{
	*ret = (struct field){
		.name = providers_copy_text(to, field->name),
		.type = providers_copy_text(to, field->type),
		.form = providers_form(field),
		.is_signed = field->is_signed,
	};
	switch (ret->form) {
	case FORM_VALUE:
		ret->elem_bytes = field->bytes;
		provided->numbers += field->bytes;
		break;
	case FORM_DYNAMIC:
		ret->elem_bytes = 1;
		provided->is_bytes |= BIT(provided->nr_variable);
		fallthrough;
	default:
		provided->nr_variable++;
	}
}

static void providers_describe(struct provided *provided, const char *system,
			       const struct ltt_event *event)
{
	char *to = provided->texts;
	u32 i;

	provided->event.system = providers_copy_text(&to, system);
	provided->event.name = providers_copy_text(&to, event->name);
	provided->event.fields = provided->fields;
	provided->event.nr_fields = event->nr_fields;
	for (i = 0; i < event->nr_fields; i++)
		providers_describe_field(provided, &to, &provided->fields[i], &event->fields[i]);
}

/* Once the registry has it, it stays. Return: or ERR_PTR. */
static struct provided *provided_new(const struct ltt_provider *provider,
				     const struct ltt_event *event)
{
	const char *system = provider->name;
	struct provided *provided;
	int ret = -ENOMEM;

	provided = kzalloc(struct_size(provided, fields, event->nr_fields), GFP_KERNEL);
	if (!provided)
		return ERR_PTR(-ENOMEM);
	provided->texts = kmalloc(texts_of(system, event), GFP_KERNEL);
	if (provided->texts) {
		providers_describe(provided, system, event);
		ret = registry_add(&provided->event, &provider_kind);
	}
	if (ret) {
		kfree(provided->texts);
		kfree(provided);
		return ERR_PTR(ret);
	}
	if (!provider->is_for_channels_only)
		provided->traced = traced_new(&provided->event);
	list_add_tail(&provided->all, &all);
	return provided;
}

void providers_fini(void)
{
	struct provided *provided, *next;

	list_for_each_entry_safe(provided, next, &all, all) {
		traced_free(provided->traced);
		kfree(provided->texts);
		kfree(provided);
	}
}

/* --- providers ------------------------------------------------------------ */

static bool exists(const char *system, const char *name)
{
	char whole[LTT_KMOD_NAME_MAX];

	snprintf(whole, sizeof(whole), "%s:%s", system, name);
	return registry_find(whole);
}

static int event_add(const struct ltt_provider *provider, struct ltt_event *event)
{
	const char *system = provider->name;
	struct provided *provided;

	if (!providers_is_sound(system, event))
		return -EINVAL;
	provided = providers_find(system, event->name);
	if (provided ? !!provided->source : exists(system, event->name))
		return -EEXIST;
	if (!provided)
		provided = provided_new(provider, event);
	if (IS_ERR(provided))
		return PTR_ERR(provided);
	if (!providers_is_same(provided, event)) {
		pr_warn("ltt: event %s:%s had other fields before; not registered\n", system,
			event->name);
		return -EINVAL;
	}
	atomic_set(&event->listeners, 0);
	provided->source = event;
	WRITE_ONCE(event->provided, provided);
	registry_comes(&provided->event);
	traced_comes(provided->traced, &event->listeners);
	return 0;
}

static void event_remove(struct ltt_event *event)
{
	struct provided *provided = event->provided;

	traced_goes(provided->traced);
	registry_goes(&provided->event);
	WRITE_ONCE(event->provided, NULL);
	provided->source = NULL;
}

int ltt_provider_register(struct ltt_provider *provider)
{
	unsigned int i;
	int ret = 0;

	mutex_lock(&providers_lock);
	for (i = 0; i < provider->nr_events && !ret; i++)
		ret = event_add(provider, &provider->events[i]);
	if (ret)
		for (i--; i--;)
			event_remove(&provider->events[i]);
	mutex_unlock(&providers_lock);
	if (ret)
		synchronize_rcu();
	return ret;
}
EXPORT_SYMBOL_GPL(ltt_provider_register);

void ltt_provider_unregister(struct ltt_provider *provider)
{
	unsigned int i;

	mutex_lock(&providers_lock);
	for (i = 0; i < provider->nr_events; i++)
		event_remove(&provider->events[i]);
	mutex_unlock(&providers_lock);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(ltt_provider_unregister);
