// SPDX-License-Identifier: GPL-2.0-only
#include "channel.h"

#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "dump/dump.h"
#include "fields.h"
#include "filter.h"
#include "memory_file.h"
#include "probe/place.h"
#include "registry.h"
#include "request.h"
#include "probe/user_place.h"

struct channel {
	struct mutex lock;
	struct list_head hooks;
	struct list_head gone; /* off, but a record may be under way: the reaper's */
	struct work_struct reaper;
	struct work_struct dumper;
	bool closes;
	struct ring_set *set;
	bool has_recorded; /* or may have: its contexts are fixed */
};

static void hook_free(struct hook *hook)
{
	if (hook->event->kind->release)
		hook->event->kind->release(hook->event);
	stat_free(hook->stat);
	filter_free(hook->source.filter);
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
	tracepoint_synchronize_unregister();
	kmod_channel_hooks_free(&gone);
}

static bool kmod_channel_is_taken(const struct channel *channel, const struct event *event, u32 id)
{
	const struct hook *hook;

	/* (one event may be counted by several of its fields) */
	list_for_each_entry(hook, &channel->hooks, of_channel)
		if (hook->source.id == id || (hook->event == event && !channel->set->stats))
			return true;
	return false;
}

/* A field that is not connected yet is not counted. */
static int connect_hook(struct hook *hook, const struct stat_field *field)
{
	struct stats *stats = hook->source.set->stats;
	int ret;

	if (stats) {
		hook->stat = stat_new(stats, hook->source.id, field);
		if (IS_ERR(hook->stat))
			return PTR_ERR(hook->stat);
	}
	ret = registry_connect(hook);
	if (ret && stats) {
		stat_remove(stats, hook->source.id);
		stat_free(hook->stat);
	}
	return ret;
}

static void kmod_channel_disconnect(struct hook *hook)
{
	registry_disconnect(hook);
	if (hook->stat)
		stat_remove(hook->source.set->stats, hook->source.id);
}

/* Probes may run: the filter is there before they read it, and while they use it. */
static void kmod_channel_set_filter(struct hook *hook, const struct filter *filter)
{
	const struct filter *before = hook->source.filter;

	if (filter)
		smp_store_release(&hook->source.filter, filter);
	WRITE_ONCE(hook->source.special, hook->source.set->special || filter);
	if (!filter)
		WRITE_ONCE(hook->source.filter, NULL);
	filter_free(before);
}

/* The filter is the hook's then, but not if it fails. */
static int connect(struct channel *channel, struct event *event, u32 id,
		   const struct stat_field *field, const struct filter *filter)
{
	struct hook *hook;
	int ret;

	if (kmod_channel_is_taken(channel, event, id))
		return -EEXIST;
	hook = kzalloc(sizeof(*hook), GFP_KERNEL_ACCOUNT);
	if (!hook)
		return -ENOMEM;
	hook->source.set = channel->set;
	hook->source.id = id;
	kmod_channel_set_filter(hook, filter);
	hook->event = event;
	channel->has_recorded = true;
	ret = connect_hook(hook, field);
	if (ret)
		kfree(hook);
	else
		list_add_tail(&hook->of_channel, &channel->hooks);
	return ret;
}

static const struct stat_field only_hits;

/* The filter that comes with an event. Return: NULL: none; ERR_PTR. */
static const struct filter *kmod_channel_filter(const struct channel *channel, u64 at)
{
	struct ltt_kmod_filter request;
	int ret = at ? request_get(&request, sizeof(request), u64_to_user_ptr(at)) : 0;

	if (ret)
		return ERR_PTR(ret);
	if (at && channel->set->stats)
		return ERR_PTR(-EINVAL);
	return at ? filter_new(&request) : NULL;
}

static int connect_filtered(struct channel *channel, struct event *event, u32 id,
			    const struct stat_field *field, u64 filter_at)
{
	const struct filter *filter = kmod_channel_filter(channel, filter_at);
	int ret;

	if (IS_ERR(filter))
		return PTR_ERR(filter);
	mutex_lock(&channel->lock);
	ret = connect(channel, event, id, field, filter);
	mutex_unlock(&channel->lock);
	if (ret)
		filter_free(filter);
	return ret;
}

static int kmod_channel_enable(struct channel *channel, const void __user *from)
{
	struct ltt_kmod_enable request;
	struct stat_field field = only_hits;
	struct event *event;
	int ret = request_get(&request, sizeof(request), from);

	if (ret)
		return ret;
	if (!request_text_ends(request.name, sizeof(request.name)) ||
	    request.flags & ~(channel->set->stats ? LTT_KMOD_HISTOGRAM : 0) ||
	    (!request.flags && request.field))
		return -EINVAL;
	event = registry_find(request.name);
	if (!event)
		return -ENOENT;
	if (request.flags)
		ret = field_locate(event, request.field, &field);
	if (ret)
		return ret == -ENOENT ? -EINVAL : ret;
	return connect_filtered(channel, event, request.id, &field, request.filter);
}

/* An event of this channel alone. */
static int connect_own(struct channel *channel, struct event *event, u32 id, u64 filter_at)
{
	int ret;

	if (IS_ERR(event))
		return PTR_ERR(event);
	ret = connect_filtered(channel, event, id, &only_hits, filter_at);
	if (ret)
		event->kind->release(event);
	return ret;
}

static int probe(struct channel *channel, const void __user *from)
{
	struct ltt_kmod_probe request;
	int ret = request_get(&request, sizeof(request), from);

	if (ret)
		return ret;
	if (!request_text_ends(request.symbol, sizeof(request.symbol)))
		return -EINVAL;
	return connect_own(channel, place_new(&request), request.id, request.filter);
}

static int user_probe(struct channel *channel, const void __user *from)
{
	struct ltt_kmod_user_probe request;
	int ret = request_get(&request, sizeof(request), from);

	return ret ? ret :
		     connect_own(channel, user_place_new(&request, fget(request.fd)), request.id,
				 request.filter);
}

static struct hook *kmod_channel_hook_of(struct channel *channel, u32 id)
{
	struct hook *hook;

	list_for_each_entry(hook, &channel->hooks, of_channel)
		if (hook->source.id == id)
			return hook;
	return NULL;
}

/* Another filter for an event, or none. */
static int kmod_channel_refilter(struct channel *channel, const void __user *from)
{
	struct ltt_kmod_filter request;
	const struct filter *filter;
	struct hook *hook;
	int ret = request_get(&request, sizeof(request), from);

	if (ret)
		return ret;
	filter = channel->set->stats ? ERR_PTR(-EINVAL) : filter_new(&request);
	if (IS_ERR(filter))
		return PTR_ERR(filter);
	mutex_lock(&channel->lock);
	hook = kmod_channel_hook_of(channel, request.id);
	if (hook)
		kmod_channel_set_filter(hook, filter);
	mutex_unlock(&channel->lock);
	if (!hook)
		filter_free(filter);
	return hook ? 0 : -ENOENT;
}

static int kmod_channel_disable(struct channel *channel, const void __user *from)
{
	struct ltt_kmod_enable request;
	struct hook *hook;
	int ret = request_get(&request, sizeof(request), from);

	if (ret)
		return ret;
	if (request.flags & ~LTT_KMOD_NOWAIT || request.field || request.filter)
		return -EINVAL;
	mutex_lock(&channel->lock);
	hook = kmod_channel_hook_of(channel, request.id);
	if (hook) {
		kmod_channel_disconnect(hook);
		list_move(&hook->of_channel, &channel->gone);
	}
	mutex_unlock(&channel->lock);
	if (!hook)
		return -ENOENT;
	queue_work(system_unbound_wq, &channel->reaper);
	if (!(request.flags & LTT_KMOD_NOWAIT))
		flush_work(&channel->reaper);
	return 0;
}

/* Not after the first event: all records of a channel have the same contexts. */
static int context(struct channel *channel, const void __user *from)
{
	struct ltt_kmod_context request;
	int ret = request_get(&request, sizeof(request), from);

	if (ret)
		return ret;
	if (!request_text_ends(request.name, sizeof(request.name)) ||
	    request.flags & ~LTT_KMOD_CONTEXT_PERF || request.reserved ||
	    (!request.flags && (request.perf_type || request.perf_config)))
		return -EINVAL;
	mutex_lock(&channel->lock);
	if (channel->set->stats)
		ret = -EINVAL;
	else if (channel->has_recorded)
		ret = -EBUSY;
	else
		ret = contexts_add(&channel->set->contexts, &request);
	if (!ret)
		WRITE_ONCE(channel->set->special, 1);
	mutex_unlock(&channel->lock);
	return ret;
}

static int track(struct channel *channel, const void __user *from)
{
	struct ltt_kmod_track request;
	struct ring_set *set = channel->set;
	struct hook *hook;
	int ret = request_get(&request, sizeof(request), from);

	if (ret)
		return ret;
	mutex_lock(&channel->lock);
	ret = tracker_change(&set->tracker, &request);
	WRITE_ONCE(set->special, set->contexts.nr || set->tracker.on || set->stats);
	list_for_each_entry(hook, &channel->hooks, of_channel)
		WRITE_ONCE(hook->source.special, set->special || hook->source.filter);
	mutex_unlock(&channel->lock);
	return ret;
}

/* Errors are not reported: the caller has returned. */
static void run_dump(struct work_struct *work)
{
	struct channel *channel = container_of(work, struct channel, dumper);

	if (dump_all(channel->set, &channel->closes))
		pr_warn("ltt: no memory for the state dump\n");
}

/* Runs asynchronously, because it takes a while. */
static int kmod_channel_dump(struct channel *channel, const void __user *from)
{
	struct ltt_kmod_dump request;
	int ret = request_get(&request, sizeof(request), from);

	if (ret)
		return ret;
	if (request.flags & ~LTT_KMOD_DUMP_WAIT)
		return -EINVAL;
	queue_work(system_unbound_wq, &channel->dumper);
	if (request.flags & LTT_KMOD_DUMP_WAIT)
		flush_work(&channel->dumper);
	return 0;
}

static int counted(struct channel *channel, void __user *arg)
{
	struct ltt_kmod_counted request, answer;
	struct hook *hook;
	int ret = request_get(&request, sizeof(request), arg);

	if (ret)
		return ret;
	answer = (struct ltt_kmod_counted){ .size = request.size, .id = request.id };
	mutex_lock(&channel->lock);
	hook = kmod_channel_hook_of(channel, request.id);
	if (hook && hook->stat)
		stat_read(hook->stat, &answer);
	else
		ret = hook ? -EINVAL : -ENOENT;
	mutex_unlock(&channel->lock);
	return ret ? ret : request_put(arg, &answer, sizeof(answer));
}

static long kmod_channel_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
	if (_IOC_TYPE(command) != LTT_KMOD_IOC)
		return -ENOTTY;
	switch (_IOC_NR(command)) {
	case _IOC_NR(LTT_KMOD_ENABLE):
		return kmod_channel_enable(file->private_data, (const void __user *)arg);
	case _IOC_NR(LTT_KMOD_PROBE):
		return probe(file->private_data, (const void __user *)arg);
	case _IOC_NR(LTT_KMOD_USER_PROBE):
		return user_probe(file->private_data, (const void __user *)arg);
	case _IOC_NR(LTT_KMOD_CONTEXT):
		return context(file->private_data, (const void __user *)arg);
	case _IOC_NR(LTT_KMOD_TRACK):
		return track(file->private_data, (const void __user *)arg);
	case _IOC_NR(LTT_KMOD_DUMP):
		return kmod_channel_dump(file->private_data, (const void __user *)arg);
	case _IOC_NR(LTT_KMOD_COUNTED):
		return counted(file->private_data, (void __user *)arg);
	case _IOC_NR(LTT_KMOD_FILTER):
		return kmod_channel_refilter(file->private_data, (const void __user *)arg);
	case _IOC_NR(LTT_KMOD_DISABLE):
		return kmod_channel_disable(file->private_data, (const void __user *)arg);
	}
	return -ENOTTY;
}

/* One grace period for all events, however many there are. */
static void kmod_channel_free(struct channel *channel)
{
	struct hook *hook;

	WRITE_ONCE(channel->closes, true);
	cancel_work_sync(&channel->dumper);
	list_for_each_entry(hook, &channel->hooks, of_channel) kmod_channel_disconnect(hook);
	flush_work(&channel->reaper);
	tracepoint_synchronize_unregister();
	kmod_channel_hooks_free(&channel->hooks);
	ring_set_put(channel->set);
	kfree(channel);
}

static int kmod_channel_release(struct inode *inode, struct file *file)
{
	kmod_channel_free(file->private_data);
	return 0;
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = kmod_channel_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.release = kmod_channel_release,
	.llseek = noop_llseek,
};

static int set_new(struct channel *channel, const struct ltt_ring_desc *desc, u32 flags)
{
	struct ring_set *set = ring_set_new(desc);
	int ret;

	if (IS_ERR(set))
		return PTR_ERR(set);
	ret = flags & LTT_KMOD_COUNTS ? ring_set_count(set) : 0;
	if (ret)
		ring_set_put(set);
	else
		channel->set = set;
	return ret;
}

static struct channel *kmod_channel_new(const struct ltt_kmod_channel *request)
{
	struct ltt_ring_desc desc = {
		.mode = request->mode,
		.num_subbuf = request->num_subbuf,
		.subbuf_size = request->subbuf_size,
		.clock = request->clock,
	};
	struct channel *channel = kzalloc(sizeof(*channel), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!channel)
		return ERR_PTR(-ENOMEM);
	mutex_init(&channel->lock);
	INIT_LIST_HEAD(&channel->hooks);
	INIT_LIST_HEAD(&channel->gone);
	INIT_WORK(&channel->reaper, kmod_channel_reap);
	INIT_WORK(&channel->dumper, run_dump);
	ret = request->flags & ~LTT_KMOD_COUNTS ? -EINVAL : set_new(channel, &desc, request->flags);
	if (!ret)
		return channel;
	kfree(channel);
	return ERR_PTR(ret);
}

enum { CHANNEL, DATA, CTL, NR_FILES };

/* Return: 0, or -errno and then there is no file. */
static int files_new(struct channel *channel, struct file *files[NR_FILES])
{
	int i, ret = 0;

	files[DATA] = memory_file_data(channel->set);
	files[CTL] = memory_file_ctl(channel->set);
	files[CHANNEL] = anon_inode_getfile("[ltt-channel]", &fops, channel, O_RDWR);
	for (i = 0; i < NR_FILES; i++)
		if (IS_ERR(files[i]))
			ret = PTR_ERR(files[i]);
	if (!ret)
		return 0;
	if (IS_ERR(files[CHANNEL]))
		kmod_channel_free(channel);
	for (i = 0; i < NR_FILES; i++)
		if (!IS_ERR(files[i]))
			fput(files[i]);
	return ret;
}

static int fds_new(int fds[NR_FILES])
{
	int i;

	for (i = 0; i < NR_FILES; i++) {
		fds[i] = get_unused_fd_flags(O_CLOEXEC);
		if (fds[i] < 0) {
			int ret = fds[i];

			while (i--)
				put_unused_fd(fds[i]);
			return ret;
		}
	}
	return 0;
}

int channel_open(struct ltt_kmod_channel *request)
{
	struct channel *channel = kmod_channel_new(request);
	struct file *files[NR_FILES];
	int fds[NR_FILES], i, ret;

	if (IS_ERR(channel))
		return PTR_ERR(channel);
	request->data_bytes = ltt_ring_data_bytes(&channel->set->desc);
	request->ctl_bytes = ltt_ring_ctl_bytes(&channel->set->desc);
	request->nr_rings = channel->set->desc.nr_rings;
	ret = files_new(channel, files);
	if (ret)
		return ret;
	ret = fds_new(fds);
	for (i = 0; i < NR_FILES; i++) {
		if (ret)
			fput(files[i]);
		else
			fd_install(fds[i], files[i]);
	}
	if (ret)
		return ret;
	request->data_fd = fds[DATA];
	request->ctl_fd = fds[CTL];
	return fds[CHANNEL];
}
