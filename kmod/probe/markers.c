// SPDX-License-Identifier: GPL-2.0-only
#include "markers.h"

#include <linux/list.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "instr/markers.h"
#include "registry.h"
#include "text.h"

#define TEXT_MAX 1024 /* of a string, its NUL included */

/** struct marker_event - of all markers of one name. */
struct marker_event {
	struct event event;
	struct marker_facts *facts;
	struct list_head all;
};

static LIST_HEAD(marker_events); /* beneath the lock of instr/markers.h */

/* --- at a marker ---------------------------------------------------------- */

static const char *next_text(va_list *values)
{
	const char *text = va_arg(*values, const char *);

	return text ? text : "(null)";
}

static u64 next_number(va_list *values, u32 bytes)
{
	return bytes <= sizeof(int) ? (u64)va_arg(*values, int) : va_arg(*values, u64);
}

/* Return: bytes of the payload; those of each text go to @texts. */
static u32 markers_measure(const struct marker_format *format, va_list *values, u16 *texts)
{
	u32 len = 0, i;

	for (i = 0; i < format->nr; i++) {
		const struct field *field = &format->fields[i];

		if (field->form == FORM_STRING) {
			texts[i] = strnlen(next_text(values), TEXT_MAX - 1) + 1;
			len += texts[i];
		} else {
			next_number(values, field->elem_bytes);
			len += field->elem_bytes;
		}
	}
	return len;
}

/* Numbers come first, then texts. */
static void markers_fill(u8 *to, const struct marker_format *format, va_list *values,
			 const u16 *texts)
{
	const char *pointers[MARKER_VALUES_MAX];
	u32 i;

	for (i = 0; i < format->nr; i++) {
		const struct field *field = &format->fields[i];

		if (field->form == FORM_STRING) {
			pointers[i] = next_text(values);
		} else {
			u64 value = next_number(values, field->elem_bytes);

			memcpy(to, &value, field->elem_bytes);
			to += field->elem_bytes;
		}
	}
	for (i = 0; i < format->nr; i++)
		if (format->fields[i].form == FORM_STRING)
			to = text_put(to, pointers[i], texts[i]);
}

static void markers_record(const struct marker_facts *facts, va_list *values)
{
	const struct marker_event *marker = facts->own;
	u16 texts[MARKER_VALUES_MAX];
	struct hook *hook;
	va_list copy;
	u32 len;

	va_copy(copy, *values);
	len = markers_measure(&facts->parsed, &copy, texts);
	va_end(copy);
	list_for_each_entry_rcu(hook, &marker->event.hooks, of_event) {
		struct ring *ring;
		void *payload = ring_begin(&hook->source, len, &ring);

		if (!payload)
			continue;
		va_copy(copy, *values);
		markers_fill(payload, &facts->parsed, &copy, texts);
		va_end(copy);
		ring_end(ring);
	}
}

/* --- events --------------------------------------------------------------- */

static int markers_attach(struct hook *hook)
{
	return ltt_marker_record(container_of(hook->event, struct marker_event, event)->facts, 1);
}

static void markers_detach(struct hook *hook)
{
	ltt_marker_record(container_of(hook->event, struct marker_event, event)->facts, -1);
}

static const struct event_kind marker_kind = { .attach = markers_attach, .detach = markers_detach };

/* Once the registry has it, it stays. */
static int markers_add(struct marker_facts *facts)
{
	struct marker_event *marker = kzalloc(sizeof(*marker), GFP_KERNEL);
	int ret;

	if (!marker)
		return -ENOMEM;
	marker->facts = facts;
	marker->event.system = "marker";
	marker->event.name = facts->name;
	marker->event.fields = facts->parsed.fields;
	marker->event.nr_fields = facts->parsed.nr;
	facts->own = marker;
	ret = registry_add(&marker->event, &marker_kind);
	if (ret) {
		kfree(marker);
		return ret;
	}
	list_add_tail(&marker->all, &marker_events);
	return 0;
}

static void markers_come(struct marker_facts *facts)
{
	struct marker_event *marker = facts->own;

	registry_comes(&marker->event);
}

static void markers_go(struct marker_facts *facts)
{
	struct marker_event *marker = facts->own;

	registry_goes(&marker->event);
}

static const struct marker_recorder recorder = {
	.add = markers_add,
	.comes = markers_come,
	.goes = markers_go,
	.record = markers_record,
};

int markers_init(void)
{
	return ltt_markers_record(&recorder);
}

void markers_fini(void)
{
	struct marker_event *marker, *next;

	ltt_markers_record_end();
	list_for_each_entry_safe(marker, next, &marker_events, all)
		kfree(marker);
}
