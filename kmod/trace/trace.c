// SPDX-License-Identifier: GPL-2.0-only
#include "trace.h"

#include <linux/bitmap.h>
#include <linux/glob.h>
#include <linux/idr.h>
#include <linux/kref.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/uuid.h>
#include <linux/wait_bit.h>

#include "compat.h"
#include "channel.h"
#include "ltt_probe.h"
#include "ltt_trace.h"
#include "merge.h"
#include "probe/text.h"
#include "registry.h"
#include "text_folder.h"

/**
 * struct trace - referenced by the table of traces and by each function that uses it.
 * @lock: held while events are enabled or disabled, and while recording is switched.
 * @channel: NULL: it is destroyed.
 * @reader: of all records; used by the task that is the @reading one.
 * @ends: a reader gets no further record.
 */
struct trace {
	struct kref ref;
	char name[LTT_TRACE_NAME_MAX];
	const struct module *owner;
	struct mutex lock;
	struct channel *channel;
	struct merge *reader;
	struct task_struct *reading;
	bool ends;
};

static DEFINE_MUTEX(traces_lock); /* of the table */
static DEFINE_IDR(traces);

/* --- the table --------------------------------------------------------------------- */

static struct trace *trace_get(int number)
{
	struct trace *trace;

	mutex_lock(&traces_lock);
	trace = idr_find(&traces, number);
	if (trace)
		kref_get(&trace->ref);
	mutex_unlock(&traces_lock);
	return trace;
}

static void trace_release(struct kref *ref)
{
	struct trace *trace = container_of(ref, struct trace, ref);

	merge_free(trace->reader);
	kfree(trace);
}

static void trace_put(struct trace *trace)
{
	kref_put(&trace->ref, trace_release);
}

static bool is_name_taken(const char *name)
{
	const struct trace *trace;
	int number;

	idr_for_each_entry(&traces, trace, number) if (!strcmp(trace->name, name)) return true;
	return false;
}

static int trace_list(struct trace *trace)
{
	int ret = -EEXIST;

	mutex_lock(&traces_lock);
	if (!is_name_taken(trace->name))
		ret = idr_alloc_cyclic(&traces, trace, 1, 0, GFP_KERNEL);
	mutex_unlock(&traces_lock);
	return ret;
}

int trace_find(const char *name, const struct module *owner)
{
	const struct trace *trace;
	int number, ret = -ENOENT;

	mutex_lock(&traces_lock);
	idr_for_each_entry(&traces, trace, number) if (!strcmp(trace->name, name))
		ret = trace->owner == owner ? number : -EPERM;
	mutex_unlock(&traces_lock);
	return ret;
}

/* --- traces -------------------------------------------------------------------------- */

/* Its text, where there is a debugfs. */
static int trace_show(struct trace *trace)
{
	struct text_trace text = { .name = trace->name, .channel = trace->name, .host = "" };
	int ret;

	generate_random_uuid(text.id);
	ret = kmod_channel_show(trace->channel, &text);
	return ret == -ENODEV ? 0 : ret;
}

static int trace_make_buffers(struct trace *trace, const struct ltt_trace_options *options)
{
	const struct ltt_ring_desc desc = {
		.mode = options->mode == LTT_TRACE_OVERWRITE ? LTT_RING_OVERWRITE :
							       LTT_RING_DISCARD,
		.num_subbuf = options->num_subbuf,
		.subbuf_size = options->subbuf_size,
		.clock = (u32)ltt_trace_clock_kind(),
	};
	struct channel *channel = kmod_channel_new(&desc, false);
	struct ring_set *set;
	int ret;

	if (IS_ERR(channel))
		return PTR_ERR(channel);
	set = kmod_channel_set(channel);
	set->has_data = true; /* only root reads it */
	trace->reader = merge_new(&set, 1, MERGE_CONSUMES);
	if (!IS_ERR(trace->reader)) {
		trace->channel = channel;
		return trace_show(trace);
	}
	ret = PTR_ERR(trace->reader);
	trace->reader = NULL;
	kmod_channel_free(channel);
	return ret;
}

int ltt_trace_create_for(struct module *owner, const struct ltt_trace_options *options)
{
	struct trace *trace;
	int ret;

	if (!options->name || !text_is_word(options->name) ||
	    strlen(options->name) >= LTT_TRACE_NAME_MAX ||
	    (unsigned int)options->mode > LTT_TRACE_OVERWRITE)
		return -EINVAL;
	trace = kzalloc(sizeof(*trace), GFP_KERNEL);
	if (!trace)
		return -ENOMEM;
	kref_init(&trace->ref);
	mutex_init(&trace->lock);
	strscpy(trace->name, options->name, sizeof(trace->name));
	trace->owner = owner;
	ret = trace_make_buffers(trace, options);
	if (!ret)
		ret = trace_list(trace);
	if (ret < 0) {
		if (trace->channel)
			kmod_channel_free(trace->channel);
		trace_put(trace);
	}
	return ret;
}
EXPORT_SYMBOL_GPL(ltt_trace_create_for);

/* No reader comes after this. */
static void trace_end_reading(struct trace *trace)
{
	WRITE_ONCE(trace->ends, true);
	wait_var_event(&trace->reading, !cmpxchg(&trace->reading, NULL, current));
}

/* It has left the table. */
static void trace_end(struct trace *trace)
{
	trace_end_reading(trace);
	mutex_lock(&trace->lock);
	kmod_channel_free(trace->channel);
	trace->channel = NULL;
	mutex_unlock(&trace->lock);
	trace_put(trace);
}

int ltt_trace_destroy(int number)
{
	struct trace *trace;
	int ret = 0;

	mutex_lock(&traces_lock);
	trace = idr_find(&traces, number);
	if (!trace)
		ret = -EBADF;
	else if (READ_ONCE(trace->reading) == current)
		ret = -EDEADLK;
	else
		idr_remove(&traces, number);
	mutex_unlock(&traces_lock);
	if (!ret)
		trace_end(trace);
	return ret;
}
EXPORT_SYMBOL_GPL(ltt_trace_destroy);

/* --- events -------------------------------------------------------------------------- */

/* The next event from number @i on that a pattern accepts; its number is its id in all traces.
 * Return: NULL: there is none. */
static struct event *trace_next_event(const char *pattern, u32 *i)
{
	char name[LTT_KMOD_NAME_MAX];
	struct event *event;

	for (; (event = registry_event(*i)); ++*i) {
		snprintf(name, sizeof(name), "%s%s%s", event->system ? event->system : "",
			 event->system ? ":" : "", event->name);
		if (!(event->kind->flags & LTT_KMOD_STATE) &&
		    (glob_match(pattern, name) || glob_match(pattern, event->name)))
			return event;
		cond_resched();
	}
	return NULL;
}

/* @done: those that were not enabled before. */
static int trace_enable_events(struct channel *channel, const char *pattern, unsigned long *done,
			       u32 nr)
{
	int ret, error = -ENOENT;
	bool any = false;
	struct event *event;
	u32 i;

	for (i = 0; (event = trace_next_event(pattern, &i)) && i < nr; i++) {
		ret = kmod_channel_enable(channel, event, i, NULL, NULL, false);
		if (ret == -ENOMEM)
			return ret;
		if (!ret)
			__set_bit(i, done);
		if (!ret || ret == -EEXIST)
			any = true;
		else
			error = ret;
	}
	return any ? bitmap_weight(done, nr) : error;
}

static void trace_undo_enable(struct channel *channel, const unsigned long *done, u32 nr)
{
	u32 i;

	for_each_set_bit(i, done, nr) kmod_channel_disable(channel, i);
	kmod_channel_drain(channel);
}

static int trace_disable_events(struct channel *channel, const char *pattern)
{
	int nr = -ENOENT;
	u32 i;

	for (i = 0; trace_next_event(pattern, &i); i++) {
		nr = max(nr, 0);
		if (!kmod_channel_disable(channel, i))
			nr++;
	}
	kmod_channel_drain(channel);
	return nr;
}

/* Return: the trace, with its lock held and a channel; NULL. */
static struct trace *trace_lock(int number)
{
	struct trace *trace = trace_get(number);

	if (!trace)
		return NULL;
	mutex_lock(&trace->lock);
	if (trace->channel)
		return trace;
	mutex_unlock(&trace->lock);
	trace_put(trace);
	return NULL;
}

static void trace_unlock(struct trace *trace)
{
	mutex_unlock(&trace->lock);
	trace_put(trace);
}

int ltt_trace_enable(int number, const char *pattern)
{
	u32 nr = registry_nr_events();
	unsigned long *done = bitmap_zalloc(nr, GFP_KERNEL);
	struct trace *trace;
	int ret = -EBADF;

	if (!done)
		return -ENOMEM;
	trace = trace_lock(number);
	if (trace) {
		ret = trace_enable_events(trace->channel, pattern, done, nr);
		if (ret < 0)
			trace_undo_enable(trace->channel, done, nr);
		trace_unlock(trace);
	}
	bitmap_free(done);
	return ret;
}
EXPORT_SYMBOL_GPL(ltt_trace_enable);

int ltt_trace_disable(int number, const char *pattern)
{
	struct trace *trace = trace_lock(number);
	int ret;

	if (!trace)
		return -EBADF;
	ret = trace_disable_events(trace->channel, pattern);
	trace_unlock(trace);
	return ret;
}
EXPORT_SYMBOL_GPL(ltt_trace_disable);

static int trace_switch(int number, bool on)
{
	struct trace *trace = trace_lock(number);

	if (!trace)
		return -EBADF;
	ring_set_switch(kmod_channel_set(trace->channel), on);
	if (!on)
		compat_probes_synchronize();
	trace_unlock(trace);
	return 0;
}

int ltt_trace_start(int number)
{
	return trace_switch(number, true);
}
EXPORT_SYMBOL_GPL(ltt_trace_start);

int ltt_trace_stop(int number)
{
	return trace_switch(number, false);
}
EXPORT_SYMBOL_GPL(ltt_trace_stop);

/* --- reading ------------------------------------------------------------------------- */

/* A task that found the trace before it was destroyed may come here after that. */
static int trace_begin_reading(struct trace *trace)
{
	if (!cmpxchg(&trace->reading, NULL, current))
		return 0;
	return READ_ONCE(trace->ends) ? -EBADF : -EBUSY;
}

static void trace_finish_reading(struct trace *trace)
{
	smp_store_release(&trace->reading, NULL);
	wake_up_var(&trace->reading);
}

static int trace_hand_out(const struct merged *merged, ltt_trace_each *each, void *data)
{
	const struct ltt_trace_record record = {
		.time = merged->record.time,
		.system = merged->record.event->system,
		.name = merged->record.event->name,
		.id = merged->record.id,
		.cpu = merged->cpu,
		.payload = merged->record.payload,
		.bytes = merged->record.end - merged->record.payload,
		.event = merged->record.event,
	};

	return each(data, &record);
}

static long trace_pass(const struct trace *trace, struct merge *merge, ltt_trace_each *each,
		       void *data)
{
	struct merged merged;
	long nr = 0;
	int ret = 0;

	while (!ret && !READ_ONCE(trace->ends)) {
		ret = merge_next(merge, &merged);
		if (ret <= 0)
			break;
		ret = trace_hand_out(&merged, each, data);
		if (ret >= 0)
			nr++;
		else
			merge_put_back(merge);
		cond_resched();
	}
	merge_release(merge);
	return ret < 0 ? ret : nr;
}

long ltt_trace_read(int number, ltt_trace_each *each, void *data)
{
	struct trace *trace = trace_get(number);
	long ret;

	if (!trace)
		return -EBADF;
	ret = trace_begin_reading(trace);
	if (!ret) {
		merge_begin(trace->reader);
		ret = trace_pass(trace, trace->reader, each, data);
		trace_finish_reading(trace);
	}
	trace_put(trace);
	return ret;
}
EXPORT_SYMBOL_GPL(ltt_trace_read);

static long trace_look_ahead(const struct trace *trace, ltt_trace_each *each, void *data)
{
	struct merge *merge = merge_look_ahead(trace->reader);
	long ret;

	if (IS_ERR(merge))
		return PTR_ERR(merge);
	ret = trace_pass(trace, merge, each, data);
	merge_free(merge);
	return ret;
}

long ltt_trace_peek(int number, ltt_trace_each *each, void *data)
{
	struct trace *trace = trace_get(number);
	long ret;

	if (!trace)
		return -EBADF;
	ret = trace_begin_reading(trace);
	if (!ret) {
		ret = trace_look_ahead(trace, each, data);
		trace_finish_reading(trace);
	}
	trace_put(trace);
	return ret;
}
EXPORT_SYMBOL_GPL(ltt_trace_peek);

int ltt_trace_losses(int number, struct ltt_trace_losses *ret)
{
	struct trace *trace = trace_get(number);
	struct merge_losses losses;

	if (!trace)
		return -EBADF;
	merge_losses(trace->reader, &losses);
	*ret = (struct ltt_trace_losses){ losses.discarded, losses.overwritten };
	trace_put(trace);
	return 0;
}
EXPORT_SYMBOL_GPL(ltt_trace_losses);

/* --- fields -------------------------------------------------------------------------- */

static u64 trace_number(const struct field *field, const u8 *at)
{
	u8 unused = 64 - 8 * field->elem_bytes;
	u64 number = 0;

	memcpy(&number, at, field->elem_bytes);
	return field->is_signed ? (u64)((s64)(number << unused) >> unused) : number;
}

static void trace_value(const struct field *field, const u8 *at, u32 bytes,
			struct ltt_trace_value *ret)
{
	u32 count = field->form == FORM_DYNAMIC ? sizeof(u16) : 0;

	*ret = (struct ltt_trace_value){
		.kind = LTT_TRACE_BYTES,
		.data = at + count,
		.bytes = bytes - count,
		.elem_bytes = field->elem_bytes,
	};
	if (field->form == FORM_STRING) {
		ret->kind = LTT_TRACE_TEXT;
	} else if (field->form == FORM_VALUE && field_is_number(field)) {
		ret->kind = LTT_TRACE_NUMBER;
		ret->number = trace_number(field, at);
	}
}

/* @last: fields of varying size, which come behind the others. Return: 1: found; 0; -ENODATA. */
static int trace_find_field(const struct ltt_trace_record *record, const char *name, bool last,
			    const u8 **at, struct ltt_trace_value *ret)
{
	const u8 *end = (const u8 *)record->payload + record->bytes;
	const struct event *event = record->event;
	u32 i;

	for (i = 0; i < event->nr_fields; i++) {
		const struct field *field = &event->fields[i];
		int bytes =
			field_comes_last(field) == last ? record_field_bytes(field, *at, end) : 0;

		if (bytes < 0)
			return bytes;
		if (field_comes_last(field) == last && !strcmp(field->name, name)) {
			trace_value(field, *at, bytes, ret);
			return 1;
		}
		*at += bytes;
	}
	return 0;
}

int ltt_trace_field(const struct ltt_trace_record *record, const char *name,
		    struct ltt_trace_value *ret)
{
	const u8 *at = record->payload;
	int found = trace_find_field(record, name, false, &at, ret);

	if (!found)
		found = trace_find_field(record, name, true, &at, ret);
	return found > 0 ? 0 : -ENOENT;
}
EXPORT_SYMBOL_GPL(ltt_trace_field);

/* --- modules that are unloaded --------------------------------------------------------- */

/* Return: a trace of the module, which has left the table; NULL. */
static struct trace *trace_take_of(const struct module *owner)
{
	struct trace *trace;
	int number;

	mutex_lock(&traces_lock);
	idr_for_each_entry(&traces, trace, number) if (trace->owner == owner)
	{
		idr_remove(&traces, number);
		break;
	}
	mutex_unlock(&traces_lock);
	return trace;
}

static int traces_module_changes(struct notifier_block *nb, unsigned long state, void *module)
{
	struct trace *trace;

	if (state != MODULE_STATE_GOING)
		return NOTIFY_OK;
	while ((trace = trace_take_of(module))) {
		pr_warn("ltt: trace %s: its module %s is unloaded; the trace is destroyed\n",
			trace->name, ((const struct module *)module)->name);
		trace_end(trace);
	}
	return NOTIFY_OK;
}

static struct notifier_block traces_notifier = { .notifier_call = traces_module_changes };

int traces_init(void)
{
	return register_module_notifier(&traces_notifier);
}

void traces_fini(void)
{
	unregister_module_notifier(&traces_notifier);
	idr_destroy(&traces);
}
