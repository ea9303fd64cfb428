// SPDX-License-Identifier: GPL-2.0-only
#include "channel.h"

#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "dump/dump.h"
#include "family.h"
#include "filter.h"
#include "fires.h"
#include "registry.h"
#include "trace/text_folder.h"

struct channel {
	struct list_head all;
	u64 number;
	struct mutex lock;
	struct list_head hooks;
	struct list_head gone; /* off, but a record may be under way: the reaper's */
	struct work_struct reaper;
	struct work_struct dumper;
	bool closes;
	bool is_unread; /* LTT_KMOD_DUMP_UNREAD of the last dump */
	struct ring_set *set;
	struct text_channel *text; /* NULL: not shown */
	struct fires *fires;	   /* NULL: its events fire no triggers */
};

/* Beneath it the locks of channels. */
static DEFINE_MUTEX(channels_lock);
static LIST_HEAD(channels);

/* --- events --------------------------------------------------------------- */

static void hook_free(struct hook *hook)
{
	if (hook->event->kind->release)
		hook->event->kind->release(hook->event);
	stat_free(hook->source.stat);
	filter_free(hook->source.filter);
	free_percpu(hook->source.tally);
	kfree(hook);
}

static void kmod_channel_hooks_free(struct list_head *hooks)
{
	struct hook *hook, *next;

	list_for_each_entry_safe(hook, next, hooks, of_channel)
		hook_free(hook);
}

/* One grace period for all that went since the last one, so that disabling a thousand
 * events does not take a thousand. */
static void kmod_channel_reap(struct work_struct *work)
{
	struct channel *channel = container_of(work, struct channel, reaper);
	LIST_HEAD(gone);

	mutex_lock(&channel->lock);
	list_splice_init(&channel->gone, &gone);
	mutex_unlock(&channel->lock);
	compat_probes_synchronize();
	kmod_channel_hooks_free(&gone);
}

static struct hook *kmod_channel_hook_of(struct channel *channel, u32 id)
{
	struct hook *hook;

	list_for_each_entry(hook, &channel->hooks, of_channel)
		if (hook->source.id == id)
			return hook;
	return NULL;
}

/* The one that records the event. (It may be counted by several of its fields.) */
static struct hook *kmod_channel_recorder(struct channel *channel, const struct event *event)
{
	struct hook *hook;

	list_for_each_entry(hook, &channel->hooks, of_channel)
		if (hook->event == event && !channel->set->counts)
			return hook;
	return NULL;
}

/* Probes may run: the filter is there before they read it, and while they use it. */
static void kmod_channel_put_filter(struct hook *hook, const struct filter *filter)
{
	const struct filter *before = hook->source.filter;

	if (filter)
		smp_store_release(&hook->source.filter, filter);
	WRITE_ONCE(hook->source.special, source_special(&hook->source, filter));
	if (!filter)
		WRITE_ONCE(hook->source.filter, NULL);
	filter_free(before);
}

/* An event that belongs to the channel is freed before its records: these are of its copy. */
static int kmod_channel_describe(struct channel *channel, struct event *event, u32 id)
{
	if (channel->set->counts)
		classes_uncopy(event);
	if (channel->set->counts || (event->kind->release && !event->copy))
		return 0;
	return classes_add(&channel->set->classes, id, event, channel->set->contexts.nr);
}

/* It is the reaper's then. */
static void kmod_channel_retire(struct channel *channel, struct hook *hook)
{
	registry_disconnect(hook);
	list_move(&hook->of_channel, &channel->gone);
	queue_work(compat_unbound_wq, &channel->reaper);
}

/* Both are connected, and only the earlier one records. */
static void kmod_channel_succeed(struct channel *channel, struct hook *before, struct hook *hook,
				 const struct filter *filter)
{
	WRITE_ONCE(before->source.special, SOURCE_MUTED);
	kmod_channel_put_filter(hook, filter);
	kmod_channel_retire(channel, before);
}

/* The counter and the counts of records; and memory to make the payload of an event that may be of
 * our own daemons alone. Return: 0 or -ENOMEM. */
static int kmod_channel_add_counts(struct hook *hook, const struct stat_spec *spec)
{
	struct source *source = &hook->source;
	struct stat_counter *stat = source->set->counts ? stat_new(spec) : NULL;

	if (IS_ERR(stat))
		return PTR_ERR(stat);
	source->stat = stat;
	source->tally = alloc_percpu_gfp(struct tally, GFP_KERNEL_ACCOUNT);
	if (!source->tally)
		return -ENOMEM;
	if (!source->set->leaves_own || source->subject == FAMILY_NO_SUBJECT)
		return 0;
	return filter_rooms_ensure();
}

/* The filter is the hook's then, but not if it fails. */
static int connect(struct channel *channel, struct event *event, u32 id,
		   const struct stat_spec *spec, const struct filter *filter, bool instead)
{
	struct hook *before = kmod_channel_recorder(channel, event), *hook;
	int ret;

	if (kmod_channel_hook_of(channel, id) || (before && !instead))
		return -EEXIST;
	hook = kzalloc(sizeof(*hook), GFP_KERNEL_ACCOUNT);
	if (!hook)
		return -ENOMEM;
	source_init(&hook->source, channel->set, id);
	hook->source.subject = family_subject(event);
	ret = kmod_channel_add_counts(hook, spec);
	if (before)
		hook->source.special = SOURCE_MUTED;
	else
		kmod_channel_put_filter(hook, filter);
	hook->event = event;
	if (!ret)
		ret = kmod_channel_describe(channel, event, id);
	if (!ret)
		ret = registry_connect(hook);
	if (ret) {
		stat_free(hook->source.stat);
		free_percpu(hook->source.tally);
		kfree(hook);
		return ret;
	}
	list_add_tail(&hook->of_channel, &channel->hooks);
	if (before)
		kmod_channel_succeed(channel, before, hook, filter);
	return 0;
}

int kmod_channel_enable(struct channel *channel, struct event *event, u32 id,
			const struct stat_spec *spec, const struct filter *filter, bool instead)
{
	int ret;

	mutex_lock(&channel->lock);
	ret = connect(channel, event, id, spec, filter, instead);
	mutex_unlock(&channel->lock);
	return ret;
}

int kmod_channel_join(struct channel *channel, u32 id, struct event *more)
{
	struct hook *hook;
	int ret;

	mutex_lock(&channel->lock);
	hook = kmod_channel_hook_of(channel, id);
	if (hook && hook->event->kind->join)
		ret = hook->event->kind->join(hook->event, more);
	else
		ret = hook ? -EEXIST : -ENOENT;
	mutex_unlock(&channel->lock);
	return ret;
}

int kmod_channel_refilter(struct channel *channel, u32 id, const struct filter *filter)
{
	struct hook *hook;

	mutex_lock(&channel->lock);
	hook = kmod_channel_hook_of(channel, id);
	if (hook)
		kmod_channel_put_filter(hook, filter);
	mutex_unlock(&channel->lock);
	return hook ? 0 : -ENOENT;
}

int kmod_channel_disable(struct channel *channel, u32 id)
{
	struct hook *hook;

	mutex_lock(&channel->lock);
	hook = kmod_channel_hook_of(channel, id);
	if (hook)
		kmod_channel_retire(channel, hook);
	mutex_unlock(&channel->lock);
	return hook ? 0 : -ENOENT;
}

void kmod_channel_disable_slot(struct channel *channel, u32 slot)
{
	struct hook *hook, *next;

	mutex_lock(&channel->lock);
	list_for_each_entry_safe(hook, next, &channel->hooks, of_channel) {
		const struct fire *fire = hook->source.stat ? stat_fire(hook->source.stat) : NULL;

		if (fire && fire_slot(fire) == slot)
			kmod_channel_retire(channel, hook);
	}
	mutex_unlock(&channel->lock);
}

void kmod_channel_drain(struct channel *channel)
{
	flush_work(&channel->reaper);
}

int kmod_channel_counted(struct channel *channel, u32 id, struct ltt_kmod_counted *ret_counted)
{
	struct hook *hook;
	int ret = 0;

	mutex_lock(&channel->lock);
	hook = kmod_channel_hook_of(channel, id);
	if (hook && hook->source.stat)
		stat_read(hook->source.stat, ret_counted);
	else
		ret = hook ? -EINVAL : -ENOENT;
	mutex_unlock(&channel->lock);
	return ret;
}

int kmod_channel_counted_keys(struct channel *channel, u32 id, struct ltt_kmod_keys *ret_keys)
{
	struct hook *hook;
	int ret;

	mutex_lock(&channel->lock);
	hook = kmod_channel_hook_of(channel, id);
	if (hook)
		ret = hook->source.stat ? stat_read_keys(hook->source.stat, ret_keys) : -EINVAL;
	else
		ret = -ENOENT;
	mutex_unlock(&channel->lock);
	return ret;
}

/* --- counts --------------------------------------------------------------- */

static void kmod_channel_hook_counts(const struct hook *hook, struct ring_counts *ret)
{
	struct ltt_kmod_counted counted = {};
	unsigned int cpu;

	*ret = (struct ring_counts){};
	if (hook->source.stat) {
		stat_read(hook->source.stat, &counted);
		*ret = (struct ring_counts){ counted.count, counted.missed, 0 };
		return;
	}
	for_each_possible_cpu(cpu) {
		const struct tally *tally = per_cpu_ptr(hook->source.tally, cpu);

		ret->recorded += READ_ONCE(tally->recorded);
		ret->lost += READ_ONCE(tally->lost);
		ret->not_sampled += READ_ONCE(tally->not_sampled);
	}
}

/* Users choose the names of sessions, channels and places. */
static void kmod_channel_show_name(struct seq_file *to, const char *name)
{
	seq_escape(to, name, " \t\n\\");
}

static void kmod_channel_show_numbers(struct seq_file *to, const char *what,
				      const struct ring_counts *counts)
{
	seq_printf(to, " %s %llu lost %llu", what, counts->recorded, counts->lost);
	if (counts->not_sampled)
		seq_printf(to, " not_sampled %llu", counts->not_sampled);
	seq_putc(to, '\n');
}

static void kmod_channel_show_hook(struct seq_file *to, const struct channel *channel,
				   const struct hook *hook)
{
	const struct event *event = hook->event->copy ? hook->event->copy : hook->event;
	struct ring_counts counts;

	kmod_channel_hook_counts(hook, &counts);
	seq_printf(to, "rule %llu ", channel->number);
	if (event->system)
		seq_printf(to, "%s:", event->system);
	kmod_channel_show_name(to, event->name);
	kmod_channel_show_numbers(to, hook->source.stat ? "counted" : "recorded", &counts);
}

static void kmod_channel_show_counts(struct seq_file *to, struct channel *channel)
{
	char name[2 * LTT_KMOD_NAME_MAX + 16] = "-";
	struct ring_counts counts;
	struct hook *hook;

	mutex_lock(&channel->lock);
	if (channel->text)
		text_folder_name(channel->text, name, sizeof(name));
	seq_printf(to, "channel %llu ", channel->number);
	kmod_channel_show_name(to, name);
	if (channel->set->counts) {
		seq_puts(to, " counts\n");
	} else {
		ring_set_counts(channel->set, &counts);
		kmod_channel_show_numbers(to, "recorded", &counts);
	}
	list_for_each_entry(hook, &channel->hooks, of_channel)
		kmod_channel_show_hook(to, channel, hook);
	mutex_unlock(&channel->lock);
}

void kmod_channels_show(struct seq_file *to)
{
	struct channel *channel;

	mutex_lock(&channels_lock);
	list_for_each_entry(channel, &channels, all) kmod_channel_show_counts(to, channel);
	mutex_unlock(&channels_lock);
}

/* --- attributes of the channel ---------------------------------------------- */

int kmod_channel_add_context(struct channel *channel, const struct ltt_kmod_context *context)
{
	int ret;

	mutex_lock(&channel->lock);
	ret = channel->set->counts ? -EINVAL : contexts_add(&channel->set->contexts, context);
	mutex_unlock(&channel->lock);
	return ret;
}

int kmod_channel_track(struct channel *channel, const struct ltt_kmod_track *track)
{
	struct ring_set *set = channel->set;
	struct hook *hook;
	int ret;

	mutex_lock(&channel->lock);
	ret = tracker_change(&set->tracker, track);
	list_for_each_entry(hook, &channel->hooks, of_channel)
		WRITE_ONCE(hook->source.special,
			   source_special(&hook->source, hook->source.filter));
	mutex_unlock(&channel->lock);
	return ret;
}

/* Errors are not reported: the caller has returned. */
static void run_dump(struct work_struct *work)
{
	struct channel *channel = container_of(work, struct channel, dumper);

	if (dump_all(channel->set, &channel->closes, READ_ONCE(channel->is_unread)))
		pr_warn("ltt: no memory for the state dump\n");
}

/* Runs asynchronously, because it takes a while. */
void kmod_channel_dump(struct channel *channel, u32 flags)
{
	WRITE_ONCE(channel->is_unread, flags & LTT_KMOD_DUMP_UNREAD);
	queue_work(compat_unbound_wq, &channel->dumper);
	if (flags & LTT_KMOD_DUMP_WAIT)
		flush_work(&channel->dumper);
}

struct ring_set *kmod_channel_set(struct channel *channel)
{
	return channel->set;
}

/* --- channels --------------------------------------------------------------- */

int kmod_channel_show(struct channel *channel, const struct text_trace *trace)
{
	struct text_channel *text = text_folder_join(trace, channel->set);

	if (IS_ERR(text))
		return PTR_ERR(text);
	mutex_lock(&channel->lock);
	channel->text = text;
	mutex_unlock(&channel->lock);
	return 0;
}

int kmod_channel_add_fires(struct channel *channel)
{
	struct fires *fires = fires_new();

	if (IS_ERR(fires))
		return PTR_ERR(fires);
	channel->fires = fires;
	return 0;
}

struct fires *kmod_channel_fires(struct channel *channel)
{
	return channel->fires;
}

/* One grace period for all events, however many there are. */
void kmod_channel_free(struct channel *channel)
{
	struct hook *hook;

	WRITE_ONCE(channel->closes, true);
	mutex_lock(&channels_lock);
	list_del(&channel->all);
	mutex_unlock(&channels_lock);
	text_folder_leave(channel->text);
	cancel_work_sync(&channel->dumper);
	list_for_each_entry(hook, &channel->hooks, of_channel) registry_disconnect(hook);
	flush_work(&channel->reaper);
	compat_probes_synchronize();
	kmod_channel_hooks_free(&channel->hooks);
	fires_free(channel->fires);
	ring_set_put(channel->set);
	kfree(channel);
}

static void kmod_channel_list(struct channel *channel)
{
	static u64 last;

	mutex_lock(&channels_lock);
	channel->number = ++last;
	list_add_tail(&channel->all, &channels);
	mutex_unlock(&channels_lock);
}

static int set_new(struct channel *channel, const struct ltt_ring_desc *desc, bool counts)
{
	struct ring_set *set;
	int ret = family_own_ensure(); /* each event compares it */

	if (ret)
		return ret;
	set = ring_set_new(desc);
	if (IS_ERR(set))
		return PTR_ERR(set);
	set->counts = counts;
	channel->set = set;
	return 0;
}

struct channel *kmod_channel_new(const struct ltt_ring_desc *desc, bool counts)
{
	struct channel *channel = kzalloc(sizeof(*channel), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!channel)
		return ERR_PTR(-ENOMEM);
	mutex_init(&channel->lock);
	INIT_LIST_HEAD(&channel->hooks);
	INIT_LIST_HEAD(&channel->gone);
	INIT_WORK(&channel->reaper, kmod_channel_reap);
	INIT_WORK(&channel->dumper, run_dump);
	ret = set_new(channel, desc, counts);
	if (!ret) {
		kmod_channel_list(channel);
		return channel;
	}
	kfree(channel);
	return ERR_PTR(ret);
}
