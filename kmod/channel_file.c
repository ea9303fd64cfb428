// SPDX-License-Identifier: GPL-2.0-only
#include "channel_file.h"

#include <linux/anon_inodes.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/security.h>

#include "channel.h"
#include "fields.h"
#include "filter.h"
#include "fires.h"
#include "memory_file.h"
#include "probe/place.h"
#include "registry.h"
#include "request.h"
#include "trace/text_folder.h"
#include "probe/user_place.h"

static bool channel_file_counts(struct channel *channel)
{
	return kmod_channel_set(channel)->counts;
}

/* Return: NULL: none; ERR_PTR. */
static const struct filter *channel_file_filter_new(struct channel *channel,
						    const struct ltt_kmod_filter *request)
{
	const struct filter *filter = filter_new(request);

	if (IS_ERR_OR_NULL(filter) || !filter->samplers || !channel_file_counts(channel))
		return filter;
	filter_free(filter);
	return ERR_PTR(-EINVAL);
}

/* The filter that comes with an event. Return: NULL: none; ERR_PTR. */
static const struct filter *channel_file_filter(struct channel *channel, u64 at)
{
	struct ltt_kmod_filter request;
	int ret = at ? request_get(&request, sizeof(request), u64_to_user_ptr(at)) : 0;

	if (ret)
		return ERR_PTR(ret);
	return at ? channel_file_filter_new(channel, &request) : NULL;
}

static int enable_filtered(struct channel *channel, struct event *event, u32 id,
			   const struct stat_spec *spec, u64 filter_at, bool instead)
{
	const struct filter *filter = channel_file_filter(channel, filter_at);
	int ret;

	if (IS_ERR(filter))
		return PTR_ERR(filter);
	ret = kmod_channel_enable(channel, event, id, spec, filter, instead);
	if (ret)
		filter_free(filter);
	return ret;
}

/* The trigger that comes with an event, of a channel whose events fire. */
static int channel_file_fire(struct channel *channel, u64 at, struct stat_spec *spec,
			     struct fire_spec *ret)
{
	ret->fires = kmod_channel_fires(channel);
	if (!ret->fires != !at)
		return -EINVAL;
	if (!at)
		return 0;
	spec->fire = ret;
	return request_get(&ret->request, sizeof(ret->request), u64_to_user_ptr(at));
}

/* The fields that the event is counted by. */
static int channel_file_locate(const struct ltt_kmod_enable *request, const struct event *event,
			       struct stat_spec *ret)
{
	u32 i;
	int err = 0;

	*ret = (struct stat_spec){ .event = event, .nr_by = request->nr_by };
	if (request->flags & LTT_KMOD_HISTOGRAM)
		err = field_locate(event, request->field, &ret->value);
	if (!err && ret->value.kind == LTT_COUNTS_TEXT)
		err = -EINVAL;
	for (i = 0; i < ret->nr_by && !err; i++)
		err = field_locate(event, request->by[i], &ret->by[i]);
	return err;
}

static bool channel_file_is_sound(struct channel *channel, const struct ltt_kmod_enable *request)
{
	bool counts = channel_file_counts(channel);

	return request_text_ends(request->name, sizeof(request->name)) &&
	       !(request->flags & ~(counts ? LTT_KMOD_HISTOGRAM : LTT_KMOD_INSTEAD)) &&
	       (request->flags & LTT_KMOD_HISTOGRAM || !request->field) &&
	       request->nr_by <= (counts ? LTT_COUNTS_BY_MAX : 0) && !request->reserved;
}

static int channel_file_enable(struct channel *channel, const void __user *from)
{
	struct ltt_kmod_enable request;
	struct fire_spec fire;
	struct stat_spec spec;
	struct event *event;
	int ret = request_get(&request, sizeof(request), from);

	if (ret)
		return ret;
	if (!channel_file_is_sound(channel, &request))
		return -EINVAL;
	event = registry_find(request.name);
	if (!event)
		return -ENOENT;
	ret = channel_file_locate(&request, event, &spec);
	if (!ret)
		ret = channel_file_fire(channel, request.fire, &spec, &fire);
	if (ret)
		return ret;
	return enable_filtered(channel, event, request.id, &spec, request.filter,
			       request.flags & LTT_KMOD_INSTEAD);
}

/* An event of this channel alone. */
static int enable_own(struct channel *channel, struct event *event, u32 id, u64 filter_at,
		      u64 description_at, u64 fire_at)
{
	struct stat_spec spec = { .event = event };
	struct fire_spec fire;
	int ret;

	if (IS_ERR(event))
		return PTR_ERR(event);
	ret = classes_copy(event, description_at);
	if (!ret)
		ret = channel_file_fire(channel, fire_at, &spec, &fire);
	if (!ret)
		ret = enable_filtered(channel, event, id, &spec, filter_at, false);
	if (!ret)
		return 0;
	classes_uncopy(event);
	event->kind->release(event);
	return ret;
}

static int probe(struct channel *channel, void __user *from)
{
	struct ltt_kmod_probe request;
	struct event *event;
	int ret = request_get(&request, sizeof(request), from);

	if (ret)
		return ret;
	if (!request_text_ends(request.symbol, sizeof(request.symbol)))
		return -EINVAL;
	ret = security_locked_down(LOCKDOWN_KPROBES);
	if (ret)
		return ret;
	event = place_new(&request);
	if (IS_ERR(event) && event != ERR_PTR(-ERANGE))
		return PTR_ERR(event);
	if (request_put(from, &request, sizeof(request))) {
		if (!IS_ERR(event))
			event->kind->release(event);
		return -EFAULT;
	}
	return enable_own(channel, event, request.id, request.filter, request.description,
			  request.fire);
}

static int user_probe(struct channel *channel, const void __user *from)
{
	struct ltt_kmod_user_probe request;
	struct event *event;
	int ret = request_get(&request, sizeof(request), from);

	if (!ret)
		ret = security_locked_down(LOCKDOWN_KPROBES);
	if (ret)
		return ret;
	event = user_place_new(&request, fget(request.fd));
	ret = IS_ERR(event) ? PTR_ERR(event) : kmod_channel_join(channel, request.id, event);
	if (ret == -ENOENT && !IS_ERR(event))
		return enable_own(channel, event, request.id, request.filter, request.description,
				  request.fire);
	if (!IS_ERR(event))
		event->kind->release(event);
	return ret;
}

/* Another filter for an event, or none. */
static int channel_file_refilter(struct channel *channel, const void __user *from)
{
	struct ltt_kmod_filter request;
	const struct filter *filter;
	int ret = request_get(&request, sizeof(request), from);

	if (ret)
		return ret;
	filter = channel_file_filter_new(channel, &request);
	if (IS_ERR(filter))
		return PTR_ERR(filter);
	ret = kmod_channel_refilter(channel, request.id, filter);
	if (ret)
		filter_free(filter);
	return ret;
}

static int channel_file_disable(struct channel *channel, const void __user *from)
{
	struct ltt_kmod_enable request;
	int ret = request_get(&request, sizeof(request), from);

	if (ret)
		return ret;
	if (request.flags & ~(LTT_KMOD_NOWAIT | LTT_KMOD_OF_SLOT) || request.field ||
	    request.filter || request.nr_by || request.fire)
		return -EINVAL;
	if (request.flags & LTT_KMOD_OF_SLOT)
		kmod_channel_disable_slot(channel, request.id);
	else
		ret = kmod_channel_disable(channel, request.id);
	if (!ret && !(request.flags & LTT_KMOD_NOWAIT))
		kmod_channel_drain(channel);
	return ret;
}

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
	return kmod_channel_add_context(channel, &request);
}

static int track(struct channel *channel, const void __user *from)
{
	struct ltt_kmod_track request;
	int ret = request_get(&request, sizeof(request), from);

	return ret ? ret : kmod_channel_track(channel, &request);
}

static int channel_file_dump(struct channel *channel, const void __user *from)
{
	struct ltt_kmod_dump request;
	int ret = request_get(&request, sizeof(request), from);

	if (ret)
		return ret;
	if (request.flags & ~(LTT_KMOD_DUMP_WAIT | LTT_KMOD_DUMP_UNREAD))
		return -EINVAL;
	kmod_channel_dump(channel, request.flags);
	return 0;
}

static int counted(struct channel *channel, void __user *arg)
{
	struct ltt_kmod_counted request, answer;
	int ret = request_get(&request, sizeof(request), arg);

	if (ret)
		return ret;
	answer = (struct ltt_kmod_counted){ .size = request.size, .id = request.id };
	ret = kmod_channel_counted(channel, request.id, &answer);
	return ret ? ret : request_put(arg, &answer, sizeof(answer));
}

static int counted_keys(struct channel *channel, void __user *arg)
{
	struct ltt_kmod_keys request;
	int ret = request_get(&request, sizeof(request), arg);

	if (ret)
		return ret;
	if (request.reserved)
		return -EINVAL;
	ret = kmod_channel_counted_keys(channel, request.id, &request);
	return ret ? ret : request_put(arg, &request, sizeof(request));
}

static long channel_file_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
	if (_IOC_TYPE(command) != LTT_KMOD_IOC)
		return -ENOTTY;
	/* it may have been passed on to a user's process; root's daemon has no capability */
	if (!uid_eq(current_euid(), GLOBAL_ROOT_UID))
		return -EPERM;
	switch (_IOC_NR(command)) {
	case _IOC_NR(LTT_KMOD_ENABLE):
		return channel_file_enable(file->private_data, (const void __user *)arg);
	case _IOC_NR(LTT_KMOD_PROBE):
		return probe(file->private_data, (void __user *)arg);
	case _IOC_NR(LTT_KMOD_USER_PROBE):
		return user_probe(file->private_data, (const void __user *)arg);
	case _IOC_NR(LTT_KMOD_CONTEXT):
		return context(file->private_data, (const void __user *)arg);
	case _IOC_NR(LTT_KMOD_TRACK):
		return track(file->private_data, (const void __user *)arg);
	case _IOC_NR(LTT_KMOD_DUMP):
		return channel_file_dump(file->private_data, (const void __user *)arg);
	case _IOC_NR(LTT_KMOD_COUNTED):
		return counted(file->private_data, (void __user *)arg);
	case _IOC_NR(LTT_KMOD_COUNTED_KEYS):
		return counted_keys(file->private_data, (void __user *)arg);
	case _IOC_NR(LTT_KMOD_FILTER):
		return channel_file_refilter(file->private_data, (const void __user *)arg);
	case _IOC_NR(LTT_KMOD_DISABLE):
		return channel_file_disable(file->private_data, (const void __user *)arg);
	}
	return -ENOTTY;
}

static int channel_file_release(struct inode *inode, struct file *file)
{
	kmod_channel_free(file->private_data);
	return 0;
}

static int channel_file_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct fires *fires = kmod_channel_fires(file->private_data);

	if (!uid_eq(current_euid(), GLOBAL_ROOT_UID))
		return -EPERM;
	return fires ? fires_mmap(fires, vma) : -ENODEV;
}

/* Nothing happens in another channel: systemd, which may hold it, drops one with an error. */
static __poll_t channel_file_poll(struct file *file, poll_table *wait)
{
	struct fires *fires = kmod_channel_fires(file->private_data);

	return fires ? fires_poll(fires, file, wait) : 0;
}

static const struct file_operations channel_fops = {
	.owner = THIS_MODULE,
	.mmap = channel_file_mmap,
	.poll = channel_file_poll,
	.unlocked_ioctl = channel_file_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.release = channel_file_release,
	.llseek = noop_llseek,
};

/* The trace whose text has the channel's records. */
static int channel_file_show(struct channel *channel, u64 at)
{
	struct ltt_kmod_trace request;
	struct text_trace trace = {
		.name = request.name, .channel = request.channel, .host = request.host,
	};
	int ret = request_get(&request, sizeof(request), u64_to_user_ptr(at));

	if (ret)
		return ret;
	if (!request_text_ends(request.name, sizeof(request.name)) ||
	    !request_text_ends(request.channel, sizeof(request.channel)) ||
	    !request_text_ends(request.host, sizeof(request.host)) || request.reserved ||
	    channel_file_counts(channel))
		return -EINVAL;
	memcpy(trace.id, request.id, sizeof(trace.id));
	trace.clock = (struct text_clock){ request.clock_hz, request.clock_base_ns };
	ret = kmod_channel_show(channel, &trace);
	return ret == -ENODEV ? 0 : ret;
}

static struct channel *channel_file_new(const struct ltt_kmod_channel *request)
{
	struct channel *channel;
	struct ltt_ring_desc desc = {
		.mode = request->mode,
		.num_subbuf = request->num_subbuf,
		.subbuf_size = request->subbuf_size,
		.clock = request->clock,
	};
	int ret;

	if (request->flags &
		    ~(LTT_KMOD_COUNTS | LTT_KMOD_DATA | LTT_KMOD_LEAVE_OWN | LTT_KMOD_FIRES) ||
	    (request->flags & (LTT_KMOD_COUNTS | LTT_KMOD_FIRES)) == LTT_KMOD_FIRES)
		return ERR_PTR(-EINVAL);
	channel = kmod_channel_new(&desc, request->flags & LTT_KMOD_COUNTS);
	if (IS_ERR(channel))
		return channel;
	kmod_channel_set(channel)->has_data = request->flags & LTT_KMOD_DATA;
	kmod_channel_set(channel)->leaves_own = request->flags & LTT_KMOD_LEAVE_OWN;
	ret = request->trace ? channel_file_show(channel, request->trace) : 0;
	if (!ret && request->flags & LTT_KMOD_FIRES)
		ret = kmod_channel_add_fires(channel);
	if (ret) {
		kmod_channel_free(channel);
		return ERR_PTR(ret);
	}
	return channel;
}

enum { CHANNEL, DATA, CTL, NR_FILES };

/* Return: 0, or -errno and then there is no file. */
static int files_new(struct channel *channel, struct file *files[NR_FILES])
{
	int i, ret = 0;

	files[DATA] = memory_file_data(kmod_channel_set(channel));
	files[CTL] = memory_file_ctl(kmod_channel_set(channel));
	files[CHANNEL] = anon_inode_getfile("[ltt-channel]", &channel_fops, channel, O_RDWR);
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

int channel_open(struct ltt_kmod_channel *request, void __user *answer)
{
	struct channel *channel = channel_file_new(request);
	const struct ltt_ring_desc *desc;
	struct file *files[NR_FILES];
	int fds[NR_FILES], i, ret;

	if (IS_ERR(channel))
		return PTR_ERR(channel);
	desc = &kmod_channel_set(channel)->desc;
	request->data_bytes = ltt_ring_data_bytes(desc);
	request->ctl_bytes = ltt_ring_ctl_bytes(desc);
	request->nr_rings = desc->nr_rings;
	ret = files_new(channel, files);
	if (ret)
		return ret;
	ret = fds_new(fds);
	if (!ret) {
		request->data_fd = fds[DATA];
		request->ctl_fd = fds[CTL];
		ret = request_put(answer, request, sizeof(*request));
		for (i = 0; ret && i < NR_FILES; i++)
			put_unused_fd(fds[i]);
	}
	for (i = 0; i < NR_FILES; i++) {
		if (ret)
			fput(files[i]);
		else
			fd_install(fds[i], files[i]);
	}
	return ret ? ret : fds[CHANNEL];
}
