// SPDX-License-Identifier: GPL-2.0-only
#include "markers.h"

#include <linux/mutex.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "compat.h"
#include "ltt_kmod.h"
#include "ltt_marker.h"
#include "ltt_probe.h"

/**
 * struct marker_name
 * @listeners: armed probes, and the recorder's hooks.
 * @markers: that have the format.
 * @source: the marker that has a probe of a tracepoint (DEFINE_MARKER_TP()); NULL: none has.
 * @connected: @source, while its probe is registered. All four beneath `sites_lock`.
 * @probes: armed ones; walked by RCU, changed beneath the lock.
 */
struct marker_name {
	struct marker_facts facts;
	struct list_head all;
	u32 listeners;
	struct list_head markers;
	struct ltt_marker *source, *connected;
	struct list_head probes;
	char text[]; /* the name, the format */
};

/* Beneath it the recorder's; never the other way. */
static DEFINE_MUTEX(markers_lock);
static DEFINE_MUTEX(sites_lock); /* beneath both of them */
static LIST_HEAD(names);
static LIST_HEAD(refused); /* markers that are never armed */
static LIST_HEAD(probes);
static const struct marker_recorder *recorder; /* read by RCU at a marker */

/* --- at a marker ---------------------------------------------------------- */

static void call_probes(const struct marker_name *name, va_list *values)
{
	const struct ltt_marker_probe *probe;
	va_list copy;

	list_for_each_entry_rcu(probe, &name->probes, of_marker) {
		va_copy(copy, *values);
		probe->call(probe->private, name->facts.format, &copy);
		va_end(copy);
	}
}

/* Preemption is off. */
static void markers_hit(struct ltt_marker *marker, ...)
{
	const struct marker_recorder *to;
	const struct marker_name *name;
	va_list values;

	rcu_read_lock();
	name = READ_ONCE(marker->of_name);
	if (name) {
		va_start(values, marker);
		to = READ_ONCE(recorder);
		if (to && READ_ONCE(name->facts.recorded))
			to->record(&name->facts, &values);
		call_probes(name, &values);
		va_end(values);
	}
	rcu_read_unlock();
}

/* --- sites ---------------------------------------------------------------- */

/* The registered probe switches the site's key; the site calls `hit`, and no probe. */
static void markers_never_called(void *data)
{
	WARN_ON_ONCE(1);
}

static void site_switch(struct ltt_marker *marker, bool on)
{
	int ret;

	if (on == !!marker->hit)
		return;
	if (on) {
		WRITE_ONCE(marker->hit, markers_hit);
		ret = tracepoint_probe_register(&marker->tp, markers_never_called, marker);
	} else {
		ret = tracepoint_probe_unregister(&marker->tp, markers_never_called, marker);
	}
	if (!on || ret)
		WRITE_ONCE(marker->hit, NULL);
	if (ret)
		pr_warn("ltt: marker %s (%s:%u) could not be switched: %d\n",
			marker_name_of(marker), marker->file, marker->line, ret);
}

/* --- names ---------------------------------------------------------------- */

/* After each change of the listeners, of the source or of the markers. */
static int sites_update(struct marker_name *name)
{
	struct ltt_marker *wanted = name->listeners ? name->source : NULL;
	struct ltt_marker *marker;
	int ret = 0;

	if (name->connected && name->connected != wanted) {
		ltt_trace_unregister(name->connected->tracepoint, name->connected->probe,
				     name->connected);
		name->connected = NULL;
	}
	list_for_each_entry(marker, &name->markers, alike)
		site_switch(marker, name->listeners);
	if (wanted && !name->connected)
		ret = ltt_trace_register(wanted->tracepoint, wanted->probe, wanted);
	if (ret > 0)
		name->connected = wanted;
	return min(ret, 0);
}

static int name_listen(struct marker_name *name, int change)
{
	int ret;

	mutex_lock(&sites_lock);
	name->listeners += change;
	ret = sites_update(name);
	mutex_unlock(&sites_lock);
	return ret;
}

int ltt_marker_record(struct marker_facts *facts, int change)
{
	struct marker_name *name = container_of(facts, struct marker_name, facts);
	int ret;

	WRITE_ONCE(facts->recorded, facts->recorded + change);
	ret = name_listen(name, change);
	if (ret && change > 0) {
		WRITE_ONCE(facts->recorded, facts->recorded - change);
		name_listen(name, -change);
	}
	return ret;
}
EXPORT_SYMBOL_GPL(ltt_marker_record);

static struct marker_name *name_find(const char *text)
{
	struct marker_name *name;

	list_for_each_entry(name, &names, all)
		if (!strcmp(name->facts.name, text))
			return name;
	return NULL;
}

static struct marker_name *name_new(const char *text, const char *format)
{
	size_t len = strlen(text) + 1;
	struct marker_name *name;

	name = kzalloc(struct_size(name, text, len + strlen(format) + 1), GFP_KERNEL);
	if (!name)
		return NULL;
	memcpy(name->text, text, len);
	strcpy(name->text + len, format);
	name->facts.name = name->text;
	name->facts.format = name->text + len;
	INIT_LIST_HEAD(&name->probes);
	INIT_LIST_HEAD(&name->markers);
	return name;
}

/* It stays. */
static int name_make(const char *text, const char *format, struct marker_name **ret_name)
{
	struct marker_name *name = name_new(text, format);
	int ret;

	if (!name)
		return -ENOMEM;
	ret = marker_format_parse(format, &name->facts.parsed);
	if (!ret && strlen(text) + sizeof("marker:") > LTT_KMOD_NAME_MAX)
		ret = -EINVAL;
	if (!ret && recorder)
		ret = recorder->add(&name->facts);
	if (ret) {
		kfree(name);
		return ret;
	}
	list_add_tail(&name->all, &names);
	*ret_name = name;
	return 0;
}

/* --- probes --------------------------------------------------------------- */

/* It is armed; is there something to be called for? */
static int probe_connect(struct ltt_marker_probe *probe)
{
	struct marker_name *name = name_find(probe->name);

	if (!name || probe->of_name)
		return 0;
	if (probe->format && strcmp(probe->format, name->facts.format)) {
		pr_warn("ltt: marker %s: a probe wants \"%s\", but it is \"%s\"; not armed\n",
			probe->name, probe->format, name->facts.format);
		return -EINVAL;
	}
	probe->of_name = name;
	list_add_tail_rcu(&probe->of_marker, &name->probes);
	if (name_listen(name, 1))
		pr_warn("ltt: marker %s: its probe could not be connected\n", probe->name);
	return 0;
}

static void probe_disconnect(struct ltt_marker_probe *probe)
{
	struct marker_name *name = probe->of_name;

	if (!name)
		return;
	name_listen(name, -1);
	list_del_rcu(&probe->of_marker);
	probe->of_name = NULL;
}

void ltt_marker_probe_register(struct ltt_marker_probe *probe)
{
	mutex_lock(&markers_lock);
	probe->armed = 0;
	probe->of_name = NULL;
	list_add_tail(&probe->all, &probes);
	mutex_unlock(&markers_lock);
}
EXPORT_SYMBOL_GPL(ltt_marker_probe_register);

void ltt_marker_probe_unregister(struct ltt_marker_probe *probe)
{
	mutex_lock(&markers_lock);
	probe_disconnect(probe);
	list_del(&probe->all);
	mutex_unlock(&markers_lock);
}
EXPORT_SYMBOL_GPL(ltt_marker_probe_unregister);

int ltt_marker_probe_arm(struct ltt_marker_probe *probe)
{
	int ret;

	mutex_lock(&markers_lock);
	ret = probe->armed ? 0 : probe_connect(probe);
	if (!ret)
		ret = ++probe->armed;
	mutex_unlock(&markers_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(ltt_marker_probe_arm);

int ltt_marker_probe_disarm(struct ltt_marker_probe *probe)
{
	int ret = -EALREADY;

	mutex_lock(&markers_lock);
	if (probe->armed) {
		ret = --probe->armed;
		if (!ret)
			probe_disconnect(probe);
	}
	mutex_unlock(&markers_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(ltt_marker_probe_disarm);

void ltt_marker_synchronize(void)
{
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(ltt_marker_synchronize);

/* --- markers -------------------------------------------------------------- */

/* Those that waited for the name; one with another format stays disarmed. */
static void connect_waiting(void)
{
	struct ltt_marker_probe *probe;

	list_for_each_entry(probe, &probes, all)
		if (probe->armed && probe_connect(probe))
			probe->armed = 0;
}

/* Return: its name; NULL: it is reported, and never armed. */
static struct marker_name *marker_join(const struct ltt_marker *marker)
{
	const char *text = marker_name_of(marker);
	struct marker_name *name = name_find(text);
	int ret;

	if (!name) {
		ret = name_make(text, marker->format, &name);
		if (ret) {
			pr_warn("ltt: marker %s: \"%s\" (%s:%u) can't be recorded: %s; not armed\n",
				text, marker->format, marker->file, marker->line,
				ret == -EINVAL ? "a conversion that is not known, or a long name" :
						 "no memory");
			return NULL;
		}
		connect_waiting();
	}
	if (!strcmp(name->facts.format, marker->format))
		return name;
	pr_warn("ltt: marker %s: \"%s\" differs from \"%s\", which was there first; not armed\n",
		text, marker->format, name->facts.format);
	return NULL;
}

static void marker_add(struct ltt_marker *marker)
{
	struct marker_name *name = marker_join(marker);
	bool is_first = name && list_empty(&name->markers);

	if (!name) {
		list_add_tail(&marker->alike, &refused);
		return;
	}
	WRITE_ONCE(marker->of_name, name);
	mutex_lock(&sites_lock);
	list_add_tail(&marker->alike, &name->markers);
	if (marker->probe && name->source)
		pr_warn("ltt: marker %s: another one has a probe; that of %s is not connected\n",
			name->facts.name, marker->tracepoint);
	else if (marker->probe)
		name->source = marker;
	if (sites_update(name))
		pr_warn("ltt: marker %s: its probe of %s could not be connected\n",
			name->facts.name, name->source->tracepoint);
	mutex_unlock(&sites_lock);
	if (is_first && recorder)
		recorder->comes(&name->facts);
}

static void marker_remove(struct ltt_marker *marker)
{
	struct marker_name *name = marker->of_name;

	mutex_lock(&sites_lock);
	list_del(&marker->alike);
	marker->alike = (struct list_head){};
	site_switch(marker, false);
	if (name && name->source == marker) {
		name->source = NULL;
		sites_update(name);
	}
	mutex_unlock(&sites_lock);
	WRITE_ONCE(marker->of_name, NULL);
	if (name && list_empty(&name->markers) && recorder)
		recorder->goes(&name->facts);
}

/* An inline function's marker is in the list for each place that has its code. A module that comes
 * has not run yet, and one that goes runs no more. */
static int markers_module_changes(struct notifier_block *nb, unsigned long what, void *data)
{
	const struct module *module = ((struct tp_module *)data)->mod;
	bool some = false;
	unsigned int i;

	mutex_lock(&markers_lock);
	for (i = 0; i < module->num_tracepoints; i++) {
		struct ltt_marker *marker =
			marker_of(tracepoint_ptr_deref(&module->tracepoints_ptrs[i]));
		bool known = marker && marker->alike.next;

		if (marker && !known && what == MODULE_STATE_COMING)
			marker_add(marker);
		else if (known && what == MODULE_STATE_GOING)
			marker_remove(marker);
		some |= known;
	}
	mutex_unlock(&markers_lock);
	if (some && what == MODULE_STATE_GOING)
		ltt_trace_synchronize();
	return 0;
}

static struct notifier_block notifier = { .notifier_call = markers_module_changes };

int instr_markers_init(void)
{
	return register_tracepoint_module_notifier(&notifier);
}

/* Modules that stay run on, past their markers. */
void instr_markers_fini(void)
{
	struct ltt_marker *marker, *after;
	struct marker_name *name, *next;

	unregister_tracepoint_module_notifier(&notifier);
	list_for_each_entry(name, &names, all)
		list_for_each_entry_safe(marker, after, &name->markers, alike)
			marker_remove(marker);
	list_for_each_entry_safe(marker, after, &refused, alike)
		marker_remove(marker);
	ltt_trace_synchronize();
	list_for_each_entry_safe(name, next, &names, all) {
		list_del(&name->all);
		kfree(name);
	}
}

/* --- the recorder ----------------------------------------------------------- */

int ltt_markers_record(const struct marker_recorder *to)
{
	struct marker_name *name;
	int ret = 0;

	mutex_lock(&markers_lock);
	list_for_each_entry(name, &names, all) {
		ret = to->add(&name->facts);
		if (ret)
			break;
		if (!list_empty(&name->markers))
			to->comes(&name->facts);
	}
	if (!ret)
		WRITE_ONCE(recorder, to);
	mutex_unlock(&markers_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(ltt_markers_record);

void ltt_markers_record_end(void)
{
	mutex_lock(&markers_lock);
	WRITE_ONCE(recorder, NULL);
	mutex_unlock(&markers_lock);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(ltt_markers_record_end);

void markers_show_names(struct seq_file *to)
{
	const struct marker_name *name;

	mutex_lock(&markers_lock);
	list_for_each_entry(name, &names, all)
		if (!list_empty(&name->markers))
			seq_printf(to, "marker %s\n", name->facts.name);
	mutex_unlock(&markers_lock);
}

void markers_show(struct seq_file *to)
{
	const struct ltt_marker_probe *probe;

	mutex_lock(&markers_lock);
	list_for_each_entry(probe, &probes, all)
		if (probe->armed)
			seq_printf(to, "marker %s %u %ps%s\n", probe->name, probe->armed,
				   probe->call, probe->of_name ? "" : " (not there yet)");
	mutex_unlock(&markers_lock);
}
