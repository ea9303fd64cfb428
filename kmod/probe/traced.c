// SPDX-License-Identifier: GPL-2.0-only
#include "traced.h"

#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace_events.h>
#include <linux/trace_seq.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "event.h"
#include "instr/symbols.h"
#include "text.h"

/* A page of ftrace's buffer takes no larger record. */
#define TRACED_BYTES_MAX 3072u

enum traced_form { TRACED_NUMBER, TRACED_TEXT, TRACED_CHARS, TRACED_BYTES };

/**
 * struct traced - numbers come first in a record, without gaps, then a word for each other field,
 * which has length and place of its value.
 * @fields: the event's, in the order of the record, and @table the same for the kernel.
 * @is_listed: the kernel has @call. @links: struct traced_link. @listeners: of the provider, NULL:
 * it has gone. Beneath `events_lock`.
 */
struct traced {
	struct trace_event_call call;
	struct trace_event_class class;
	struct work_struct remover;
	const struct field **fields;
	u32 nr_fields, numbers, nr_parts;
	bool is_listed;
	struct list_head links;
	u32 nr_links;
	atomic_t *listeners;
	char *name;
	struct trace_event_fields table[];
};

/** struct traced_link - a listener. @file: NULL: perf. */
struct traced_link {
	struct list_head all;
	struct trace_event_file *file;
};

/* The kernel's event_mutex, which it wants held where events come and go, and holds itself where
 * they get listeners. It is not exported; NULL: not found, and ftrace and perf get no events. */
static struct mutex *events_lock;

static enum traced_form traced_form(const struct field *field)
{
	if (field->form == FORM_VALUE)
		return TRACED_NUMBER;
	if (field->form == FORM_STRING)
		return TRACED_TEXT;
	return strcmp(field->type, "char") ? TRACED_BYTES : TRACED_CHARS;
}

/* --- recording -------------------------------------------------------------------- */

bool traced_is_on(const struct traced *traced)
{
	return traced && !list_empty(&traced->links);
}

static u32 traced_bytes(const struct traced *traced, const struct traced_part parts[])
{
	u32 bytes = sizeof(struct trace_entry) + traced->numbers + traced->nr_parts * sizeof(u32);
	u32 i;

	for (i = 0; i < traced->nr_parts; i++)
		bytes += parts[i].len + 1;
	return bytes;
}

/* Texts may change meanwhile; one of characters gets its NUL here. */
static void traced_fill(const struct traced *traced, u8 *entry, const void *numbers,
			const struct traced_part parts[])
{
	const struct field **fields = traced->fields + traced->nr_fields - traced->nr_parts;
	u32 word = sizeof(struct trace_entry) + traced->numbers, i;
	u32 at = word + traced->nr_parts * sizeof(u32), place;

	memcpy(entry + sizeof(struct trace_entry), numbers, traced->numbers);
	for (i = 0; i < traced->nr_parts; i++, word += sizeof(u32)) {
		enum traced_form form = traced_form(fields[i]);
		u32 len = parts[i].len;

		if (form == TRACED_TEXT)
			text_put(entry + at, parts[i].data, len);
		else if (len)
			memcpy(entry + at, parts[i].data, len);
		if (form == TRACED_CHARS)
			entry[at + len++] = 0;
		place = len << 16 | at;
		memcpy(entry + word, &place, sizeof(place));
		at += len;
	}
}

static void traced_by_ftrace(const struct traced *traced, struct trace_event_file *file,
			     u32 bytes, const void *numbers, const struct traced_part parts[])
{
	struct trace_event_buffer buffer;
	u8 *entry;

	if (trace_trigger_soft_disabled(file))
		return;
	entry = trace_event_buffer_reserve(&buffer, file, bytes);
	if (!entry)
		return;
	traced_fill(traced, entry, numbers, parts);
	trace_event_buffer_commit(&buffer);
}

#ifdef CONFIG_PERF_EVENTS
static void traced_by_perf(const struct traced *traced, u32 bytes, const void *numbers,
			   const struct traced_part parts[])
{
	struct hlist_head *head = this_cpu_ptr(traced->call.perf_events);
	struct pt_regs *regs;
	int context;
	u8 *entry;

	if (hlist_empty(head))
		return;
	bytes = ALIGN(bytes + sizeof(u32), sizeof(u64)) - sizeof(u32);
	entry = perf_trace_buf_alloc(bytes, &regs, &context);
	if (!entry)
		return;
	perf_fetch_caller_regs(regs);
	traced_fill(traced, entry, numbers, parts);
	perf_trace_buf_submit(entry, bytes, context, traced->call.event.type, 1, regs, head, NULL);
}
#else
static void traced_by_perf(const struct traced *traced, u32 bytes, const void *numbers,
			   const struct traced_part parts[])
{
}
#endif

void traced_record(const struct traced *traced, const void *numbers,
		   const struct traced_part parts[])
{
	u32 bytes = traced_bytes(traced, parts);
	const struct traced_link *link;

	if (bytes > TRACED_BYTES_MAX)
		return;
	list_for_each_entry_rcu(link, &traced->links, all) {
		if (link->file)
			traced_by_ftrace(traced, link->file, bytes, numbers, parts);
		else
			traced_by_perf(traced, bytes, numbers, parts);
	}
}

/* --- listeners, beneath `events_lock` --------------------------------------------- */

static int traced_listen(struct traced *traced, struct trace_event_file *file)
{
	struct traced_link *link = kzalloc(sizeof(*link), GFP_KERNEL);

	if (!link)
		return -ENOMEM;
	if (!try_module_get(THIS_MODULE)) {
		kfree(link);
		return -ENODEV;
	}
	link->file = file;
	list_add_tail_rcu(&link->all, &traced->links);
	traced->nr_links++;
	if (traced->listeners)
		atomic_inc(traced->listeners);
	return 0;
}

/* The module can't go before the lock is released. */
static int traced_leave(struct traced *traced, const struct trace_event_file *file)
{
	struct traced_link *link, *found = NULL;

	list_for_each_entry(link, &traced->links, all)
		if (link->file == file)
			found = link;
	if (!found)
		return -ENOENT;
	list_del_rcu(&found->all);
	traced->nr_links--;
	if (traced->listeners)
		atomic_dec(traced->listeners);
	synchronize_rcu();
	kfree(found);
	if (!traced->listeners)
		queue_work(compat_unbound_wq, &traced->remover);
	module_put(THIS_MODULE);
	return 0;
}

static int traced_reg(struct trace_event_call *call, enum trace_reg type, void *data)
{
	struct traced *traced = container_of(call, struct traced, call);

	switch (type) {
	case TRACE_REG_REGISTER:
		return traced_listen(traced, data);
	case TRACE_REG_UNREGISTER:
		return traced_leave(traced, data);
#ifdef CONFIG_PERF_EVENTS
	case TRACE_REG_PERF_REGISTER:
		return traced_listen(traced, NULL);
	case TRACE_REG_PERF_UNREGISTER:
		return traced_leave(traced, NULL);
#endif
	default:
		return 0;
	}
}

/* --- as text ---------------------------------------------------------------------- */

static void traced_print_number(struct trace_seq *to, const struct field *field, const u8 *at)
{
	u8 unused = 64 - 8 * field->elem_bytes;
	u64 value = 0;

	memcpy(&value, at, field->elem_bytes);
	if (field->is_signed)
		trace_seq_printf(to, " %s=%lld", field->name, (s64)(value << unused) >> unused);
	else
		trace_seq_printf(to, " %s=%llu", field->name, value);
}

static void traced_print_part(struct trace_seq *to, const struct field *field, const u8 *entry,
			      const u8 *word)
{
	u32 place;

	memcpy(&place, word, sizeof(place));
	entry += place & 0xffff;
	if (traced_form(field) == TRACED_BYTES)
		trace_seq_printf(to, " %s=%*phN", field->name, min_t(int, place >> 16, 64), entry);
	else
		trace_seq_printf(to, " %s=%.*s", field->name, (int)(place >> 16), entry);
}

static enum print_line_t traced_print(struct trace_iterator *iterator, int flags,
				      struct trace_event *event)
{
	const struct traced *traced = container_of(event, struct traced, call.event);
	const u8 *entry = (const u8 *)iterator->ent;
	const u8 *at = entry + sizeof(struct trace_entry);
	struct trace_seq *to = &iterator->seq;
	u32 i;

	trace_seq_printf(to, "%s:", traced->name);
	for (i = 0; i < traced->nr_fields; i++) {
		const struct field *field = traced->fields[i];

		if (field->form == FORM_VALUE) {
			traced_print_number(to, field, at);
			at += field->elem_bytes;
		} else {
			traced_print_part(to, field, entry, at);
			at += sizeof(u32);
		}
	}
	trace_seq_putc(to, '\n');
	return trace_handle_return(to);
}

/* For perf and trace-cmd, which print the fields themselves. */
static char *traced_print_format(const struct traced *traced)
{
	static const char *const forms[] = {
		[TRACED_TEXT] = ", __get_str(%s)", [TRACED_CHARS] = ", __get_str(%s)",
		[TRACED_BYTES] = ", __print_hex(__get_dynamic_array(%s), __get_dynamic_array_len(%s))",
	};
	size_t size = 8, at, i;
	char *text;

	for (i = 0; i < traced->nr_fields; i++)
		size += 3 * strlen(traced->fields[i]->name) + 96;
	text = kzalloc(size, GFP_KERNEL);
	if (!text)
		return NULL;
	at = scnprintf(text, size, "\"");
	for (i = 0; i < traced->nr_fields; i++) {
		const struct field *field = traced->fields[i];
		const char *form = field->form != FORM_VALUE ? "%s" :
							       field->is_signed ? "%lld" : "%llu";

		at += scnprintf(text + at, size - at, "%s%s=%s", i ? " " : "", field->name, form);
	}
	at += scnprintf(text + at, size - at, "\"");
	for (i = 0; i < traced->nr_fields; i++) {
		const struct field *field = traced->fields[i];

		if (field->form != FORM_VALUE)
			at += scnprintf(text + at, size - at, forms[traced_form(field)],
					field->name, field->name);
		else
			at += scnprintf(text + at, size - at, ", (%slong long)REC->%s",
					field->is_signed ? "" : "unsigned ", field->name);
	}
	return text;
}

/* --- the kernel's description ----------------------------------------------------- */

static struct trace_event_functions traced_functions = { .trace = traced_print };

static int traced_raw_init(struct trace_event_call *call)
{
	return register_trace_event(&call->event) ? 0 : -ENODEV;
}

/* (The kernel's members are constant.) */
static void traced_describe(struct traced *traced, u32 i, const struct field *field)
{
	static const char *const types[] = {
		[TRACED_TEXT] = "__data_loc char[]", [TRACED_CHARS] = "__data_loc char[]",
		[TRACED_BYTES] = "__data_loc u8[]",
	};
	bool is_number = field->form == FORM_VALUE;
	const struct trace_event_fields described = {
		.type = is_number ? field->type : types[traced_form(field)],
		.name = field->name,
		.size = is_number ? field->elem_bytes : sizeof(u32),
		.align = 1,
		.is_signed = is_number ? field->is_signed : traced_form(field) != TRACED_BYTES,
		.filter_type = FILTER_OTHER,
	};

	traced->fields[i] = field;
	memcpy(&traced->table[i], &described, sizeof(described));
	if (is_number)
		traced->numbers += field->elem_bytes;
	else
		traced->nr_parts++;
}

static void traced_describe_all(struct traced *traced, const struct event *event)
{
	u32 at = 0, i;
	int others;

	for (others = 0; others < 2; others++)
		for (i = 0; i < event->nr_fields; i++)
			if (others == (event->fields[i].form != FORM_VALUE))
				traced_describe(traced, at++, &event->fields[i]);
}

/* --- coming and going ------------------------------------------------------------- */

void traced_init(void)
{
	events_lock = ltt_symbol_find("event_mutex");
	if (!events_lock)
		pr_warn("ltt: ftrace and perf don't have events of providers: the kernel has no symbol event_mutex\n");
}

/* Once its provider and its listeners have gone. */
static void traced_remove(struct work_struct *work)
{
	struct traced *traced = container_of(work, struct traced, remover);

	mutex_lock(events_lock);
	if (!traced->listeners && traced->is_listed && !trace_remove_event_call(&traced->call))
		traced->is_listed = false;
	mutex_unlock(events_lock);
}

struct traced *traced_new(const struct event *event)
{
	struct traced *traced;

	if (!events_lock)
		return NULL;
	traced = kzalloc(struct_size(traced, table, event->nr_fields + 1), GFP_KERNEL);
	if (!traced)
		return NULL;
	INIT_LIST_HEAD(&traced->links);
	INIT_WORK(&traced->remover, traced_remove);
	INIT_LIST_HEAD(&traced->class.fields);
	traced->nr_fields = event->nr_fields;
	traced->fields = kcalloc(event->nr_fields + 1, sizeof(*traced->fields), GFP_KERNEL);
	traced->name = kasprintf(GFP_KERNEL, "%s_%s", event->system, event->name);
	if (traced->fields) {
		traced_describe_all(traced, event);
		traced->call.print_fmt = traced_print_format(traced);
	}
	traced->class.system = "ltt";
	traced->class.reg = traced_reg;
	traced->class.raw_init = traced_raw_init;
	traced->class.fields_array = traced->table;
	traced->call.class = &traced->class;
	traced->call.name = traced->name;
	if (traced->name && traced->call.print_fmt)
		return traced;
	traced_free(traced);
	return NULL;
}

void traced_free(struct traced *traced)
{
	if (!traced)
		return;
	cancel_work_sync(&traced->remover);
	if (traced->is_listed)
		traced_remove(&traced->remover);
	if (WARN_ON(traced->is_listed))
		return;
	kfree(traced->call.print_fmt);
	kfree(traced->fields);
	kfree(traced->name);
	kfree(traced);
}

void traced_comes(struct traced *traced, atomic_t *listeners)
{
	int ret = 0;

	if (!traced)
		return;
	mutex_lock(events_lock);
	traced->listeners = listeners;
	atomic_add(traced->nr_links, listeners);
	if (!traced->is_listed) {
		traced->call.event = (struct trace_event){ .funcs = &traced_functions };
		ret = trace_add_event_call(&traced->call);
		traced->is_listed = !ret;
	}
	mutex_unlock(events_lock);
	if (ret)
		pr_warn("ltt: ftrace and perf don't have event %s: error %d\n", traced->name, ret);
}

void traced_goes(struct traced *traced)
{
	if (!traced)
		return;
	mutex_lock(events_lock);
	traced->listeners = NULL;
	mutex_unlock(events_lock);
	trace_set_clr_event("ltt", traced->name, 0);
	traced_remove(&traced->remover);
}
