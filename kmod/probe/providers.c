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

/**
 * struct provided - an event that is or was a provider's; its description is copied, because
 * it outlives the provider.
 * @source: its provider now; NULL: none.
 * @numbers: bytes of all of them. @nr_texts: fields that are none.
 */
struct provided {
	struct event event;
	struct list_head all;
	struct ltt_event *source;
	u32 numbers, nr_texts;
	char *texts; /* all names and types */
	struct field fields[];
};

/* Beneath it the registry's; never the other way. */
static DEFINE_MUTEX(lock);
static LIST_HEAD(all);

/* --- recording ------------------------------------------------------------ */

/* Lengths of the texts now; a text may change until it is copied. */
static u32 providers_measure(const struct provided *provided, const char *const texts[], u16 *lens)
{
	u32 len = provided->numbers, i;

	for (i = 0; i < provided->nr_texts; i++) {
		lens[i] = strnlen(texts[i] ? texts[i] : "(null)", LTT_EVENT_TEXT_MAX - 1) + 1;
		len += lens[i];
	}
	return len;
}

static void providers_fill(const struct provided *provided, u8 *to, const void *numbers,
			   const char *const texts[], const u16 *lens)
{
	u32 i;

	memcpy(to, numbers, provided->numbers);
	to += provided->numbers;
	for (i = 0; i < provided->nr_texts; i++)
		to = text_put(to, texts[i] ? texts[i] : "(null)", lens[i]);
}

static void providers_record(const struct provided *provided, const void *numbers,
			     const char *const texts[])
{
	u16 lens[LTT_EVENT_FIELDS_MAX];
	u32 len = providers_measure(provided, texts, lens);
	struct hook *hook;

	list_for_each_entry_rcu(hook, &provided->event.hooks, of_event) {
		struct ring *ring;
		u8 *to = ring_begin(&hook->source, len, &ring);

		if (!to)
			continue;
		providers_fill(provided, to, numbers, texts, lens);
		ring_end(ring);
	}
}

void ltt_event_record(const struct ltt_event *event, const void *numbers,
		      const char *const texts[])
{
	const struct provided *provided;

	preempt_disable_notrace();
	rcu_read_lock();
	provided = READ_ONCE(event->provided);
	if (provided)
		providers_record(provided, numbers, texts);
	rcu_read_unlock();
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(ltt_event_record);

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

static const struct event_kind kind = { .attach = providers_attach, .detach = providers_detach };

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
		field->bytes == 8);
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

static bool providers_is_same(const struct provided *provided, const struct ltt_event *event)
{
	u32 i;

	if (provided->event.nr_fields != event->nr_fields)
		return false;
	for (i = 0; i < event->nr_fields; i++) {
		const struct ltt_event_field *field = &event->fields[i];
		const struct field *own = &provided->fields[i];

		if (strcmp(field->name, own->name) || strcmp(field->type, own->type) ||
		    field->bytes != own->elem_bytes || field->is_signed != own->is_signed)
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

static void providers_describe(struct provided *provided, const char *system,
			       const struct ltt_event *event)
{
	char *to = provided->texts;
	u32 i;

	provided->event.system = providers_copy_text(&to, system);
	provided->event.name = providers_copy_text(&to, event->name);
	provided->event.fields = provided->fields;
	provided->event.nr_fields = event->nr_fields;
	for (i = 0; i < event->nr_fields; i++) {
		const struct ltt_event_field *field = &event->fields[i];

		provided->fields[i] = (struct field){
			.name = providers_copy_text(&to, field->name),
			.type = providers_copy_text(&to, field->type),
			.elem_bytes = field->bytes,
			.form = field->bytes ? FORM_VALUE : FORM_STRING,
			.is_signed = field->is_signed,
		};
		provided->numbers += field->bytes;
		provided->nr_texts += !field->bytes;
	}
}

/* Once the registry has it, it stays. Return: or ERR_PTR. */
static struct provided *provided_new(const char *system, const struct ltt_event *event)
{
	struct provided *provided;
	int ret = -ENOMEM;

	provided = kzalloc(struct_size(provided, fields, event->nr_fields), GFP_KERNEL);
	if (!provided)
		return ERR_PTR(-ENOMEM);
	provided->texts = kmalloc(texts_of(system, event), GFP_KERNEL);
	if (provided->texts) {
		providers_describe(provided, system, event);
		ret = registry_add(&provided->event, &kind);
	}
	if (ret) {
		kfree(provided->texts);
		kfree(provided);
		return ERR_PTR(ret);
	}
	list_add_tail(&provided->all, &all);
	return provided;
}

void providers_fini(void)
{
	struct provided *provided, *next;

	list_for_each_entry_safe(provided, next, &all, all) {
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

static int event_add(const char *system, struct ltt_event *event)
{
	struct provided *provided;

	if (!providers_is_sound(system, event))
		return -EINVAL;
	provided = providers_find(system, event->name);
	if (provided ? !!provided->source : exists(system, event->name))
		return -EEXIST;
	if (!provided)
		provided = provided_new(system, event);
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
	return 0;
}

static void event_remove(struct ltt_event *event)
{
	struct provided *provided = event->provided;

	registry_goes(&provided->event);
	WRITE_ONCE(event->provided, NULL);
	provided->source = NULL;
}

int ltt_provider_register(struct ltt_provider *provider)
{
	unsigned int i;
	int ret = 0;

	mutex_lock(&lock);
	for (i = 0; i < provider->nr_events && !ret; i++)
		ret = event_add(provider->name, &provider->events[i]);
	if (ret)
		for (i--; i--;)
			event_remove(&provider->events[i]);
	mutex_unlock(&lock);
	if (ret)
		synchronize_rcu();
	return ret;
}
EXPORT_SYMBOL_GPL(ltt_provider_register);

void ltt_provider_unregister(struct ltt_provider *provider)
{
	unsigned int i;

	mutex_lock(&lock);
	for (i = 0; i < provider->nr_events; i++)
		event_remove(&provider->events[i]);
	mutex_unlock(&lock);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(ltt_provider_unregister);
