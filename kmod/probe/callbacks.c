// SPDX-License-Identifier: GPL-2.0-only
#include "callbacks.h"

#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "ltt_probe.h"
#include "tracepoints.h"

/** struct callback - a registered pair. @tp: the tracepoint that calls it; NULL: not there. */
struct callback {
	struct list_head all;
	struct tracepoint *tp;
	void *probe;
	void *data;
	u32 users;
	char name[];
};

/** struct module_tracepoint - one of a module that is loaded. */
struct module_tracepoint {
	struct list_head all;
	struct tracepoint *tp;
};

/* Within it the tracepoints' own; outside of it those of modules and of the registry. */
static DEFINE_MUTEX(lock);
static LIST_HEAD(callbacks);
static LIST_HEAD(module_tracepoints);

static struct tracepoint *callbacks_tracepoint(const char *name)
{
	struct module_tracepoint *m;

	list_for_each_entry(m, &module_tracepoints, all)
		if (!strcmp(m->tp->name, name))
			return m->tp;
	return tracepoints_find(name);
}

static int callback_connect(struct callback *callback, struct tracepoint *tp)
{
	int ret = tp ? tracepoint_probe_register(tp, callback->probe, callback->data) : 0;

	if (!ret)
		callback->tp = tp;
	return ret;
}

static void callback_disconnect(struct callback *callback)
{
	if (callback->tp)
		tracepoint_probe_unregister(callback->tp, callback->probe, callback->data);
	callback->tp = NULL;
}

static void callback_drop(struct callback *callback)
{
	callback_disconnect(callback);
	list_del(&callback->all);
	kfree(callback);
}

static struct callback *callback_find(const char *name, const void *probe, const void *data)
{
	struct callback *callback;

	list_for_each_entry(callback, &callbacks, all)
		if (callback->probe == probe && callback->data == data &&
		    !strcmp(callback->name, name))
			return callback;
	return NULL;
}

static int callback_add(const char *name, void *probe, void *data)
{
	size_t len = strlen(name) + 1;
	struct callback *callback = kzalloc(struct_size(callback, name, len), GFP_KERNEL);
	int ret;

	if (!callback)
		return -ENOMEM;
	memcpy(callback->name, name, len);
	callback->probe = probe;
	callback->data = data;
	ret = callback_connect(callback, callbacks_tracepoint(name));
	if (ret) {
		kfree(callback);
		return ret;
	}
	callback->users = 1;
	list_add_tail(&callback->all, &callbacks);
	return 1;
}

int ltt_trace_register(const char *tracepoint, void *probe, void *data)
{
	struct callback *callback;
	int ret;

	if (!tracepoint || !tracepoint[0] || !probe)
		return -EINVAL;
	mutex_lock(&lock);
	callback = callback_find(tracepoint, probe, data);
	ret = callback ? ++callback->users : callback_add(tracepoint, probe, data);
	mutex_unlock(&lock);
	return ret;
}
EXPORT_SYMBOL_GPL(ltt_trace_register);

int ltt_trace_unregister(const char *tracepoint, void *probe, void *data)
{
	struct callback *callback;
	int ret = -ENOENT;

	mutex_lock(&lock);
	callback = callback_find(tracepoint, probe, data);
	if (callback) {
		ret = --callback->users;
		if (!ret)
			callback_drop(callback);
	}
	mutex_unlock(&lock);
	return ret;
}
EXPORT_SYMBOL_GPL(ltt_trace_unregister);

void ltt_trace_synchronize(void)
{
	tracepoint_synchronize_unregister();
}
EXPORT_SYMBOL_GPL(ltt_trace_synchronize);

void callbacks_show(struct seq_file *to)
{
	struct callback *callback;

	mutex_lock(&lock);
	list_for_each_entry(callback, &callbacks, all)
		seq_printf(to, "tracepoint %s %u %ps%s\n", callback->name, callback->users,
			   callback->probe, callback->tp ? "" : " (not there yet)");
	mutex_unlock(&lock);
}

/* --- modules come and go ------------------------------------------------------- */

#ifdef CONFIG_MODULES
static void module_tracepoint_comes(struct tracepoint *tp)
{
	struct module_tracepoint *m = kmalloc(sizeof(*m), GFP_KERNEL);
	struct callback *callback;

	if (!m) {
		pr_warn("ltt: no memory to connect probes to the tracepoint %s\n", tp->name);
		return;
	}
	m->tp = tp;
	list_add_tail(&m->all, &module_tracepoints);
	list_for_each_entry(callback, &callbacks, all)
		if (!callback->tp && !strcmp(callback->name, tp->name) &&
		    callback_connect(callback, tp))
			pr_warn("ltt: a probe of %s could not be connected\n", tp->name);
}

static void module_tracepoint_goes(const struct tracepoint *tp)
{
	struct module_tracepoint *m, *next;
	struct callback *callback;

	list_for_each_entry(callback, &callbacks, all)
		if (callback->tp == tp)
			callback_disconnect(callback);
	list_for_each_entry_safe(m, next, &module_tracepoints, all) {
		if (m->tp != tp)
			continue;
		list_del(&m->all);
		kfree(m);
	}
}

static int callbacks_tracepoints_change(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct module *module = ((struct tp_module *)data)->mod;
	unsigned int i;

	mutex_lock(&lock);
	for (i = 0; i < module->num_tracepoints; i++) {
		struct tracepoint *tp = tracepoint_ptr_deref(&module->tracepoints_ptrs[i]);

		if (event == MODULE_STATE_COMING)
			module_tracepoint_comes(tp);
		else if (event == MODULE_STATE_GOING)
			module_tracepoint_goes(tp);
	}
	mutex_unlock(&lock);
	return 0;
}

/* The exit function of the module has run; its memory is freed when this returns. */
static int callbacks_module_changes(struct notifier_block *nb, unsigned long event, void *data)
{
	struct callback *callback, *next;
	struct module *module = data;
	bool left = false;

	if (event != MODULE_STATE_GOING)
		return 0;
	mutex_lock(&lock);
	list_for_each_entry_safe(callback, next, &callbacks, all) {
		if (!within_module((unsigned long)callback->probe, module))
			continue;
		pr_warn("ltt: module %s goes without unregistering its probe of %s\n",
			module->name, callback->name);
		callback_drop(callback);
		left = true;
	}
	mutex_unlock(&lock);
	if (left)
		ltt_trace_synchronize();
	return 0;
}

static struct notifier_block tracepoint_notifier = {
	.notifier_call = callbacks_tracepoints_change,
};
static struct notifier_block module_notifier = {
	.notifier_call = callbacks_module_changes,
};
#endif

int callbacks_init(void)
{
	int ret = 0;

#ifdef CONFIG_MODULES
	ret = register_tracepoint_module_notifier(&tracepoint_notifier);
	if (ret)
		return ret;
	ret = register_module_notifier(&module_notifier);
	if (ret)
		unregister_tracepoint_module_notifier(&tracepoint_notifier);
#endif
	return ret;
}

void callbacks_fini(void)
{
#ifdef CONFIG_MODULES
	struct module_tracepoint *m, *next;

	unregister_module_notifier(&module_notifier);
	unregister_tracepoint_module_notifier(&tracepoint_notifier);
	list_for_each_entry_safe(m, next, &module_tracepoints, all)
		kfree(m);
#endif
}
