/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ltt_provider.h - events of other modules, with typed fields: a module registers a provider,
 * which has a name and any number of events, and unregisters it before it is unloaded. The events
 * are listed and recorded like all others, by the name `PROVIDER:EVENT`, into any number of
 * channels. kmod/examples has an example. An event that is not recorded costs a load and a branch.
 *
 *	static const struct ltt_event_field job_fields[] = {
 *		LTT_FIELD_NUMBER(u32, id), LTT_FIELD_NUMBER(s64, left), LTT_FIELD_TEXT(reason),
 *	};
 *	static struct ltt_event events[] = { LTT_EVENT(job, job_fields) };
 *	static struct ltt_provider provider = { "printer", events, ARRAY_SIZE(events) };
 *
 *	ltt_provider_register(&provider);			when the module is loaded
 *
 *	if (ltt_event_is_on(&events[0])) {			in any context, NMIs included
 *		const struct { u32 id; s64 left; } __packed numbers = { 7, -1 };
 *		const char *texts[] = { name };
 *
 *		ltt_event_record(&events[0], &numbers, texts);
 *	}
 *
 *	ltt_provider_unregister(&provider);			before it is unloaded
 *
 * ftrace and perf have them, too, as `ltt:PROVIDER_EVENT`, while the provider is registered, if
 * they take at most 3072 bytes.
 *
 * Fields of bytes are passed to ltt_event_record_bytes(). In the record numbers come first, then
 * texts and bytes in their order.
 *
 * A provider may be unregistered while its events are recorded, and registered again: channels
 * then continue to record them. Its events must have the same fields as before, until ltt.ko is
 * unloaded, which is impossible while a provider's module is loaded.
 */
#ifndef LTT_PROVIDER_H
#define LTT_PROVIDER_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/kernel.h>

enum {
	LTT_EVENT_FIELDS_MAX = 32,
	LTT_EVENT_TEXT_MAX = 1024, /* with its NUL */
	LTT_EVENT_BYTES_MAX = 65535,
	LTT_EVENT_VARIABLE = 255,
};

/** struct ltt_event_field - @bytes: 1, 2, 4, 8; 0: a text; LTT_EVENT_VARIABLE: bytes. */
struct ltt_event_field {
	const char *name;
	const char *type;
	u8 bytes;
	bool is_signed;
};

#define LTT_FIELD_NUMBER(type_, name_) \
	{ .name = #name_, .type = #type_, .bytes = sizeof(type_), \
	  .is_signed = (type_)-1 < (type_)1 }
#define LTT_FIELD_TEXT(name_) { .name = #name_, .type = "const char *" }
/* Values of any length (struct ltt_event_bytes): raw bytes, which are shown as hexadecimal numbers;
 * and a text that need not end with a NUL. */
#define LTT_FIELD_BYTES(name_) \
	{ .name = #name_, .type = "const void *", .bytes = LTT_EVENT_VARIABLE }
#define LTT_FIELD_CHARS(name_) { .name = #name_, .type = "char", .bytes = LTT_EVENT_VARIABLE }

/** struct ltt_event - the module sets @name, @fields and @nr_fields; ltt.ko uses the others. */
struct ltt_event {
	const char *name;
	const struct ltt_event_field *fields;
	unsigned int nr_fields;

	atomic_t listeners;
	void *provided;
};

#define LTT_EVENT(name_, fields_) \
	{ .name = #name_, .fields = (fields_), .nr_fields = ARRAY_SIZE(fields_) }

/** struct ltt_provider - @is_for_channels_only: ftrace and perf don't get its events. */
struct ltt_provider {
	const char *name;
	struct ltt_event *events;
	unsigned int nr_events;
	bool is_for_channels_only;
};

/**
 * ltt_provider_register() - make the provider's events available for recording. Process context;
 * may sleep. Names consist of letters, digits and underscores.
 * Return: 0; -EEXIST: an event or a provider of this name exists; -EINVAL: a name or a field is
 * invalid, or an event had other fields before; -ENOMEM. On error no event is registered.
 */
int ltt_provider_register(struct ltt_provider *provider);
/** Unregister a provider. The caller ensures that no ltt_event_record() of it runs. Process
 *  context; may sleep. */
void ltt_provider_unregister(struct ltt_provider *provider);

/** Whether a channel records the event, or ftrace or perf do. */
static __always_inline bool ltt_event_is_on(const struct ltt_event *event)
{
	return unlikely(atomic_read(&event->listeners));
}

/**
 * ltt_event_record() - record an event into all channels that have it enabled. Any context in which
 * RCU is watching; a tracer of functions may run where it is not (rcu_is_watching()).
 * @numbers: all fields that are numbers, in their order, without padding.
 * @texts: all that are texts, in their order; NULL is recorded as (null). They may change
 * meanwhile. Fields of bytes are recorded as empty.
 */
void ltt_event_record(const struct ltt_event *event, const void *numbers,
		      const char *const texts[]);

/**
 * struct ltt_event_bytes - the value of an LTT_FIELD_BYTES() or LTT_FIELD_CHARS().
 * @data: may change meanwhile; NULL: an empty value, whatever @len is.
 * @len: bytes. An event with more than LTT_EVENT_BYTES_MAX is not recorded, nor one that is too
 * large for a channel's sub-buffers: these channels count it as lost.
 */
struct ltt_event_bytes {
	const void *data;
	size_t len;
};

/** ltt_event_record() of an event with fields of bytes. @bytes: all of them, in their order. */
void ltt_event_record_bytes(const struct ltt_event *event, const void *numbers,
			    const char *const texts[], const struct ltt_event_bytes bytes[]);

/** Count @nr events that the module could not record as lost, in all channels that record the
 *  event, whatever their filters and trackers. Any context. */
void ltt_event_lose(const struct ltt_event *event, unsigned int nr);

#endif
