// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/ltt: lists events, makes channels, and takes commands for traces inside of the kernel
 * (trace/control.h). It has no state of its own; the module can't be unloaded while it, a channel
 * or a ring set is open.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/security.h>

#include "channel_file.h"
#include "context.h"
#include "counters.h"
#include "dump/argv.h"
#include "dump/changes.h"
#include "dump/dump.h"
#include "dump/maps.h"
#include "family.h"
#include "probe/coming.h"
#include "probe/fallback.h"
#include "fields.h"
#include "filter.h"
#include "folder.h"
#include "ltt_probe.h"
#include "probe/function.h"
#include "probe/markers.h"
#include "probe/presets.h"
#include "probe/providers.h"
#include "probe/samples.h"
#include "registry.h"
#include "request.h"
#include "trace/control.h"
#include "trace/trace.h"
#include "probe/syscalls.h"
#include "probe/traced.h"
#include "probe/tracepoints.h"

static long kmod_device_hello(void __user *arg)
{
	struct ltt_kmod_hello request;
	int ret = request_get(&request, sizeof(request), arg);

	if (ret)
		return ret;
	request.abi = LTT_KMOD_ABI;
	request.nr_events = registry_nr_events();
	request.features = LTT_KMOD_SAMPLES | LTT_KMOD_FAMILIES | LTT_KMOD_KEYS |
			   LTT_KMOD_OUTPUTS | LTT_KMOD_OWN | LTT_KMOD_FILES | LTT_KMOD_TRIGGERS |
			   LTT_KMOD_CAPTURES | LTT_KMOD_CONTEXTS |
			   (IS_ENABLED(CONFIG_CGROUPS) ? LTT_KMOD_CGROUPS : 0);
	request.clock = ltt_trace_clock_kind();
	return request_put(arg, &request, sizeof(request));
}

static long event(void __user *arg)
{
	struct ltt_kmod_event request;
	struct event *event;
	int ret = request_get(&request, sizeof(request), arg);

	if (ret)
		return ret;
	event = registry_event(request.index);
	if (!event)
		return -ENOENT;
	request.nr_fields = event->nr_fields;
	request.flags = event->kind->flags | (registry_is_live(event) ? LTT_KMOD_LIVE : 0);
	snprintf(request.name, sizeof(request.name), "%s%s%s", event->system ? event->system : "",
		 event->system ? ":" : "", event->name);
	return request_put(arg, &request, sizeof(request));
}

static long field(void __user *arg)
{
	struct ltt_kmod_field request;
	struct event *event;
	int ret = request_get(&request, sizeof(request), arg);

	if (ret)
		return ret;
	event = registry_event(request.index);
	ret = event ? field_describe(event, request.field, &request) : -ENOENT;
	return ret ? ret : request_put(arg, &request, sizeof(request));
}

static long context_describe(void __user *arg)
{
	struct ltt_kmod_field request;
	const struct field *field;
	int ret = request_get(&request, sizeof(request), arg);

	if (ret)
		return ret;
	field = context_field(request.index);
	if (!field)
		return -ENOENT;
	field_describe_one(field, &request);
	return request_put(arg, &request, sizeof(request));
}

static long preset(void __user *arg)
{
	struct ltt_kmod_preset request;
	int ret = request_get(&request, sizeof(request), arg);

	if (!ret)
		ret = preset_describe(&request);
	return ret ? ret : request_put(arg, &request, sizeof(request));
}

/* The caller learns its descriptors, or has none. */
static long channel(void __user *arg)
{
	struct ltt_kmod_channel request;
	int ret = request_get(&request, sizeof(request), arg);

	if (ret)
		return ret;
	if (request.size < offsetofend(struct ltt_kmod_channel, nr_rings))
		return -EINVAL;
	if (clear_user(arg + offsetof(struct ltt_kmod_channel, data_bytes),
		       offsetofend(struct ltt_kmod_channel, nr_rings) -
			       offsetof(struct ltt_kmod_channel, data_bytes)))
		return -EFAULT;
	/* the device may have been opened before the lockdown */
	ret = security_locked_down(LOCKDOWN_TRACEFS);
	return ret ? ret : channel_open(&request, arg);
}

static long kmod_device_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
	void __user *to = (void __user *)arg;

	if (_IOC_TYPE(command) != LTT_KMOD_IOC)
		return -ENOTTY;
	switch (_IOC_NR(command)) {
	case _IOC_NR(LTT_KMOD_HELLO):
		return kmod_device_hello(to);
	case _IOC_NR(LTT_KMOD_EVENT):
		return event(to);
	case _IOC_NR(LTT_KMOD_FIELD):
		return field(to);
	case _IOC_NR(LTT_KMOD_CONTEXT_FIELD):
		return context_describe(to);
	case _IOC_NR(LTT_KMOD_PRESET):
		return preset(to);
	case _IOC_NR(LTT_KMOD_CHANNEL):
		return channel(to);
	}
	return -ENOTTY;
}

/* The mode permits root only; a chmod by accident must not hand out the kernel's secrets. */
static int device_open(struct inode *inode, struct file *file)
{
	return capable(CAP_SYS_ADMIN) ? security_locked_down(LOCKDOWN_TRACEFS) : -EPERM;
}

static const struct file_operations device_fops = {
	.owner = THIS_MODULE,
	.open = device_open,
	.write = control_write,
	.unlocked_ioctl = kmod_device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "ltt",
	.mode = 0600,
	.fops = &device_fops,
};

/* The asynchronous lookup of events comes first: it runs once more when it ends. */
static void events_fini(void)
{
	tracepoints_fini();
	fallback_fini();
	coming_fini();
	function_fini();
	syscalls_fini();
	markers_fini();
	providers_fini();
	changes_fini();
	registry_fini();
}

/* A kernel without the tracepoints of system calls still has all the others. */
static int __init events_init(void)
{
	int ret = tracepoints_init();

	if (ret)
		goto no_tracepoints;
	traced_init();
	ret = syscalls_init();
	if (ret && ret != -ENOSYS)
		goto no_syscalls;
	ret = dump_init();
	if (ret)
		goto no_syscalls;
	ret = function_init();
	if (ret)
		goto no_syscalls;
	ret = coming_init();
	if (ret)
		goto no_coming;
	ret = changes_init();
	if (ret)
		goto no_changes;
	ret = argv_init();
	if (!ret)
		ret = maps_init();
	if (!ret)
		ret = samples_init();
	if (!ret)
		ret = markers_init();
	if (!ret)
		ret = fallback_init();
	if (!ret)
		return 0;
	markers_fini();
	changes_fini();
no_changes:
	coming_fini();
no_coming:
	function_fini();
no_syscalls:
	tracepoints_fini();
	syscalls_fini();
no_tracepoints:
	registry_fini();
	return ret;
}

static int __init ltt_init(void)
{
	int ret = counters_init();

	if (ret)
		return ret;
	context_init();
	ret = events_init();
	if (ret)
		goto no_events;
	ret = traces_init();
	if (ret)
		goto no_traces;
	ret = misc_register(&device);
	if (!ret) {
		folder_init();
		return 0;
	}
	traces_fini();
no_traces:
	events_fini();
no_events:
	counters_fini();
	return ret;
}

static void __exit ltt_exit(void)
{
	folder_fini();
	misc_deregister(&device);
	traces_fini();
	counters_fini();
	events_fini();
	filter_fini();
	family_own_fini();
}

module_init(ltt_init);
module_exit(ltt_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("kernel tracer of ltt-control");
