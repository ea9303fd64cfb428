// SPDX-License-Identifier: GPL-2.0-only
#include "callbacks.h"

#include <linux/err.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "compat.h"
#include "hits.h"
#include "ltt_probe.h"
#include "markers.h"

static const char *const sources[] = {
	[LTT_PLACE_FUNCTION] = "function", [LTT_PLACE_RETURN] = "return",
	[LTT_PLACE_KPROBE] = "kprobe", [LTT_PLACE_UPROBE] = "uprobe",
	[LTT_PLACE_URETPROBE] = "uretprobe",
};
static const char tracepoint_source[] = "tracepoint";

/**
 * struct callback - a registered pair.
 * @source: "tracepoint" or one of @sources.
 * @tp: the tracepoint that calls it; NULL: not there.
 * @hits: of a place.
 */
struct callback {
	struct list_head all;
	const char *source;
	struct tracepoint *tp;
	struct hits *hits;
	void *probe;
	void *data;
	u64 offset;
	u32 users;
	char name[];
};

/** struct module_tracepoint - one of a module that is loaded. */
struct module_tracepoint {
	struct list_head all;
	struct tracepoint *tp;
};

/* Within it the tracepoints' own; outside of it those of modules. */
static DEFINE_MUTEX(callbacks_lock);
static LIST_HEAD(callbacks);
static LIST_HEAD(module_tracepoints);

struct search {
	const char *name;
	struct tracepoint *found;
};

static void callbacks_compare(struct tracepoint *tp, void *data)
{
	struct search *search = data;

	if (!strcmp(tp->name, search->name))
		search->found = tp;
}

struct tracepoint *ltt_tracepoint_find(const char *name)
{
	struct search search = { .name = name };

	for_each_kernel_tracepoint(callbacks_compare, &search);
	return search.found;
}
EXPORT_SYMBOL_GPL(ltt_tracepoint_find);

static struct tracepoint *callbacks_tracepoint(const char *name)
{
	struct module_tracepoint *m;

	list_for_each_entry(m, &module_tracepoints, all)
		if (!strcmp(m->tp->name, name))
			return m->tp;
	return ltt_tracepoint_find(name);
}

static int callback_connect(struct callback *callback, struct tracepoint *tp)
{
	int ret = tp ? tracepoint_probe_register(tp, callback->probe, callback->data) : 0;

	if (!ret)
		callback->tp = tp;
	return ret;
}

static int callback_attach(struct callback *callback, const struct ltt_place *place)
{
	struct hits *hits = hits_new(place, callback->probe, callback->data);

	if (IS_ERR(hits))
		return PTR_ERR(hits);
	callback->hits = hits;
	return 0;
}

static void callback_disconnect(struct callback *callback)
{
	if (callback->hits)
		callback->hits = hits_free(callback->hits);
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

static bool callback_is_at(const struct callback *callback, const struct ltt_place *place,
			   const char *source)
{
	return callback->source == source && callback->offset == place->offset &&
	       !strcmp(callback->name, place->name);
}

static struct callback *callback_find(const struct ltt_place *place, const char *source,
				      const void *probe, const void *data)
{
	struct callback *callback;

	list_for_each_entry(callback, &callbacks, all)
		if (callback->probe == probe && callback->data == data &&
		    callback_is_at(callback, place, source))
			return callback;
	return NULL;
}

static int callback_add(const struct ltt_place *place, const char *source, void *probe, void *data)
{
	size_t len = strlen(place->name) + 1;
	struct callback *callback = kzalloc(struct_size(callback, name, len), GFP_KERNEL);
	int ret;

	if (!callback)
		return -ENOMEM;
	memcpy(callback->name, place->name, len);
	callback->source = source;
	callback->offset = place->offset;
	callback->probe = probe;
	callback->data = data;
	if (source == tracepoint_source)
		ret = callback_connect(callback, callbacks_tracepoint(place->name));
	else
		ret = callback_attach(callback, place);
	if (ret) {
		kfree(callback);
		return ret;
	}
	callback->users = 1;
	list_add_tail(&callback->all, &callbacks);
	return 1;
}

static int callback_register(const struct ltt_place *place, const char *source, void *probe,
			     void *data)
{
	struct callback *callback;
	int ret;

	if (!place->name || !place->name[0] || !probe)
		return -EINVAL;
	mutex_lock(&callbacks_lock);
	callback = callback_find(place, source, probe, data);
	ret = callback ? ++callback->users : callback_add(place, source, probe, data);
	mutex_unlock(&callbacks_lock);
	return ret;
}

static int callback_unregister(const struct ltt_place *place, const char *source, void *probe,
			       void *data)
{
	struct callback *callback;
	int ret = -ENOENT;

	mutex_lock(&callbacks_lock);
	callback = callback_find(place, source, probe, data);
	if (callback) {
		ret = --callback->users;
		if (!ret)
			callback_drop(callback);
	}
	mutex_unlock(&callbacks_lock);
	return ret;
}

int ltt_trace_register(const char *tracepoint, void *probe, void *data)
{
	const struct ltt_place place = { .name = tracepoint };

	return callback_register(&place, tracepoint_source, probe, data);
}
EXPORT_SYMBOL_GPL(ltt_trace_register);

int ltt_trace_unregister(const char *tracepoint, void *probe, void *data)
{
	const struct ltt_place place = { .name = tracepoint };

	return tracepoint ? callback_unregister(&place, tracepoint_source, probe, data) : -ENOENT;
}
EXPORT_SYMBOL_GPL(ltt_trace_unregister);

int ltt_place_register(const struct ltt_place *place, ltt_place_call *call, void *data)
{
	if (place->kind >= ARRAY_SIZE(sources))
		return -EINVAL;
	return callback_register(place, sources[place->kind], call, data);
}
EXPORT_SYMBOL_GPL(ltt_place_register);

int ltt_place_unregister(const struct ltt_place *place, ltt_place_call *call, void *data)
{
	if (place->kind >= ARRAY_SIZE(sources) || !place->name)
		return -ENOENT;
	return callback_unregister(place, sources[place->kind], call, data);
}
EXPORT_SYMBOL_GPL(ltt_place_unregister);

void ltt_trace_synchronize(void)
{
	compat_probes_synchronize();
}
EXPORT_SYMBOL_GPL(ltt_trace_synchronize);

void callbacks_show(struct seq_file *to)
{
	struct callback *callback;

	mutex_lock(&callbacks_lock);
	list_for_each_entry(callback, &callbacks, all) {
		seq_printf(to, "%s %s", callback->source, callback->name);
		if (callback->offset)
			seq_printf(to, "+%#llx", callback->offset);
		seq_printf(to, " %u %ps%s\n", callback->users, callback->probe,
			   callback->tp || callback->hits ? "" : " (not there yet)");
	}
	mutex_unlock(&callbacks_lock);
}

static void callbacks_show_tracepoint(struct tracepoint *tp, void *data)
{
	seq_printf(data, "tracepoint %s\n", tp->name);
}

void callbacks_show_tracepoints(struct seq_file *to)
{
	const struct module_tracepoint *m;

	for_each_kernel_tracepoint(callbacks_show_tracepoint, to);
	mutex_lock(&callbacks_lock);
	list_for_each_entry(m, &module_tracepoints, all)
		callbacks_show_tracepoint(m->tp, to);
	mutex_unlock(&callbacks_lock);
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
		if (callback->source == tracepoint_source && !callback->tp &&
		    !strcmp(callback->name, tp->name) &&
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

	mutex_lock(&callbacks_lock);
	for (i = 0; i < module->num_tracepoints; i++) {
		struct tracepoint *tp = tracepoint_ptr_deref(&module->tracepoints_ptrs[i]);

		if (marker_of(tp))
			continue;
		if (event == MODULE_STATE_COMING)
			module_tracepoint_comes(tp);
		else if (event == MODULE_STATE_GOING)
			module_tracepoint_goes(tp);
	}
	mutex_unlock(&callbacks_lock);
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
	mutex_lock(&callbacks_lock);
	list_for_each_entry_safe(callback, next, &callbacks, all) {
		/* another module could have another function there */
		if (callback->hits && hits_are_of(callback->hits, module))
			callback->hits = hits_free(callback->hits);
		if (!within_module((unsigned long)callback->probe, module))
			continue;
		pr_warn("ltt: module %s goes without unregistering its probe of %s\n",
			module->name, callback->name);
		callback_drop(callback);
		left = true;
	}
	mutex_unlock(&callbacks_lock);
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
