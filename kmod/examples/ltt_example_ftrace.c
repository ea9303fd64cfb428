// SPDX-License-Identifier: GPL-2.0-only
/*
 * ltt_example_ftrace - ftrace as a client: as long as the module is loaded, ftrace's records also
 * become events of a provider `ftrace`, with a channel of its own. ftrace is controlled in tracefs
 * as always, and has its own buffers as before.
 *
 *   lttctl create; lttctl enable-event -k 'ftrace:*'; lttctl start
 *   cd /sys/kernel/tracing; echo function >current_tracer; echo 1 >events/sched/enable
 *   echo 'frame 12' >trace_marker
 *
 * ftrace:function is a call that the function tracer records; ftrace:print a text that was written
 * to trace_marker; ftrace:event each other event of ftrace: its id, its name (SYSTEM:NAME; of
 * events that users define `(unknown)`, as their ids are used again), and its record, with the
 * fields at the offsets of the event's `format` file. All of them have the common fields of
 * ftrace's records. The kernel does not export trace_printk(), raw markers, stacks and the graph
 * tracer; and without its last 4 bytes an event of more than 116 bytes that has a filter in
 * tracefs.
 *
 * A record is written at once, before ftrace continues, in any context. It is lost if the event is
 * hit within the recording of others of the same context, and where RCU is not watching (in the
 * idle loop of older kernels). Losses are counted in the channel with the CPU's next record, or
 * when /sys/module/ltt_example_ftrace/parameters/lost is read, which has their sum.
 */
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/trace.h>
#include <linux/trace_events.h>

#include "instr/symbols.h"
#include "ltt_channel.h"
#include "ltt_provider.h"

/* In each record: the fields of struct trace_entry but for the type. */
#define COMMON_FIELDS \
	LTT_FIELD_NUMBER(u8, flags), LTT_FIELD_NUMBER(u8, preempt_count), LTT_FIELD_NUMBER(s32, pid)

struct common {
	u8 flags, preempt_count;
	s32 pid;
} __packed;

static const struct ltt_event_field function_fields[] = {
	LTT_FIELD_NUMBER(void *, ip), LTT_FIELD_NUMBER(void *, parent_ip), COMMON_FIELDS,
};
static const struct ltt_event_field print_fields[] = {
	LTT_FIELD_NUMBER(void *, ip), COMMON_FIELDS, LTT_FIELD_CHARS(text),
};
static const struct ltt_event_field event_fields[] = {
	LTT_FIELD_NUMBER(u16, type), COMMON_FIELDS, LTT_FIELD_TEXT(name), LTT_FIELD_BYTES(record),
};

enum { FUNCTION, PRINT, EVENT, NR_EVENTS };
static struct ltt_event events[NR_EVENTS] = {
	[FUNCTION] = LTT_EVENT(function, function_fields),
	[PRINT] = LTT_EVENT(print, print_fields),
	[EVENT] = LTT_EVENT(event, event_fields),
};
static struct ltt_provider provider = {
	.name = "ftrace", .events = events, .nr_events = NR_EVENTS, .is_for_channels_only = true,
};
static struct ltt_channel channel = {
	.name = "ftrace", .events = "ftrace:*", .subbuf_size = SZ_1M, .num_subbuf = 8,
};

/* --- losses ------------------------------------------------------------------ */

/* A function may be called by the recording of an event, and another one by an interrupt that is
 * about to begin; more is recursion. */
#define NESTED_MAX 3

/**
 * struct client - of one CPU.
 * @nested: records that are being written, by context: task, softirq, interrupt, NMI.
 * @lost: since the module was loaded; @pending: of these, not counted in the channels yet.
 */
struct client {
	u8 nested[4];
	unsigned long lost;
	unsigned int pending[NR_EVENTS];
};
static DEFINE_PER_CPU(struct client, clients);

static void client_count_losses(void *unused)
{
	unsigned int i;

	for (i = 0; i < NR_EVENTS; i++)
		if (unlikely(this_cpu_read(clients.pending[i])))
			ltt_event_lose(&events[i], this_cpu_xchg(clients.pending[i], 0));
}

/* Return: true: record, and client_end() follows; false: no channel does, or it is lost. */
static bool client_begin(unsigned int event, bool is_complete)
{
	u8 *nested = this_cpu_ptr(clients.nested) + interrupt_context_level();

	if (!ltt_event_is_on(&events[event]))
		return false;
	if (unlikely(!rcu_is_watching() || *nested == NESTED_MAX || !is_complete)) {
		this_cpu_inc(clients.lost);
		this_cpu_inc(clients.pending[event]);
		return false;
	}
	++*nested;
	barrier();
	client_count_losses(NULL);
	return true;
}

static void client_end(void)
{
	barrier();
	--*(this_cpu_ptr(clients.nested) + interrupt_context_level());
}

static int get_lost(char *text, const struct kernel_param *param)
{
	unsigned long lost = 0;
	int cpu;

	on_each_cpu(client_count_losses, NULL, 1);
	for_each_possible_cpu(cpu)
		lost += READ_ONCE(per_cpu(clients.lost, cpu));
	return sysfs_emit(text, "%lu\n", lost);
}

static const struct kernel_param_ops lost_ops = { .get = get_lost };
module_param_cb(lost, &lost_ops, NULL, 0444);

/* --- names of events ------------------------------------------------------------ */

/** struct client_name - name of an event of ftrace, of its kernel module or (NULL) the kernel. */
struct client_name {
	struct hlist_node same_hash;
	struct rcu_head rcu;
	const struct module *module;
	u16 type;
	char text[];
};

static DEFINE_HASHTABLE(names, 10);
/* Not exported; NULL: all names are unknown. The list's lock is that of the table, too. */
static struct list_head *calls;
static struct mutex *calls_lock;

static struct client_name *client_find_name(u16 type)
{
	struct client_name *name;

	hash_for_each_possible_rcu_notrace(names, name, same_hash, type)
		if (name->type == type)
			return name;
	return NULL;
}

static void client_remove_name(struct client_name *name)
{
	hash_del_rcu(&name->same_hash);
	kfree_rcu(name, rcu);
}

/* Without memory the name is unknown. */
static void client_add_name(struct trace_event_call *call)
{
	const char *system = call->class->system, *event = trace_event_name(call);
	size_t bytes = strlen(system) + strlen(event) + 2;
	struct client_name *old = client_find_name(call->event.type), *name;

	if (old)
		client_remove_name(old);
	name = kmalloc(struct_size(name, text, bytes), GFP_KERNEL);
	if (!name)
		return;
	name->module = call->module;
	name->type = call->event.type;
	snprintf(name->text, bytes, "%s:%s", system, event);
	hash_add_rcu(names, &name->same_hash, name->type);
}

/* @module: NULL: of the kernel and all modules. */
static void client_add_names(const struct module *module)
{
	struct trace_event_call *call;

	mutex_lock(calls_lock);
	list_for_each_entry(call, calls, list)
		if (!(call->flags & TRACE_EVENT_FL_DYNAMIC) && (!module || call->module == module))
			client_add_name(call);
	mutex_unlock(calls_lock);
}

/* @module: NULL: of the kernel and all modules. */
static void client_remove_names(const struct module *module)
{
	struct client_name *name;
	struct hlist_node *next;
	int bucket;

	mutex_lock(calls_lock);
	hash_for_each_safe(names, bucket, next, name, same_hash)
		if (!module || name->module == module)
			client_remove_name(name);
	mutex_unlock(calls_lock);
}

/* After ftrace, which has a higher priority. */
static int client_on_module(struct notifier_block *block, unsigned long state, void *module)
{
	if (state == MODULE_STATE_COMING)
		client_add_names(module);
	if (state == MODULE_STATE_GOING)
		client_remove_names(module);
	return NOTIFY_OK;
}

static struct notifier_block modules = { .notifier_call = client_on_module };

static int names_init(void)
{
	int ret;

	calls = ltt_symbol_find("ftrace_events");
	calls_lock = ltt_symbol_find("event_mutex");
	if (!calls || !calls_lock) {
		calls_lock = NULL;
		return 0;
	}
	ret = register_module_notifier(&modules);
	if (!ret)
		client_add_names(NULL);
	return ret;
}

static void names_fini(void)
{
	if (!calls_lock)
		return;
	unregister_module_notifier(&modules);
	client_remove_names(NULL);
}

/* --- records -------------------------------------------------------------------- */

/* As kernel/trace/trace_entries.h has them. */
struct function_entry {
	struct trace_entry common;
	unsigned long ip, parent_ip;
};

struct print_entry {
	struct trace_entry common;
	unsigned long ip;
	char text[];
};

static struct common common_of(const struct trace_entry *entry)
{
	return (struct common){ entry->flags, entry->preempt_count, entry->pid };
}

static void client_on_function(struct trace_export *export, const void *data, unsigned int size)
{
	const struct function_entry *entry = data;

	if (client_begin(FUNCTION, size >= sizeof(*entry))) {
		const struct {
			u64 ip, parent_ip;
			struct common common;
		} __packed numbers = { entry->ip, entry->parent_ip, common_of(&entry->common) };

		ltt_event_record(&events[FUNCTION], &numbers, NULL);
		client_end();
	}
}

/* ftrace ends each text with a newline, which is left out. */
static void client_on_print(struct trace_export *export, const void *data, unsigned int size)
{
	const struct print_entry *entry = data;

	if (client_begin(PRINT, size >= sizeof(*entry))) {
		const struct {
			u64 ip;
			struct common common;
		} __packed numbers = { entry->ip, common_of(&entry->common) };
		struct ltt_event_bytes text = {
			entry->text, strnlen(entry->text, size - sizeof(*entry)),
		};

		text.len -= text.len && entry->text[text.len - 1] == '\n';
		ltt_event_record_bytes(&events[PRINT], &numbers, NULL, &text);
		client_end();
	}
}

static void client_on_event(struct trace_export *export, const void *data, unsigned int size)
{
	const struct trace_entry *entry = data;

	if (client_begin(EVENT, size >= sizeof(*entry))) {
		const struct {
			u16 type;
			struct common common;
		} __packed numbers = { entry->type, common_of(entry) };
		const struct client_name *name = client_find_name(entry->type);
		const char *texts[] = { name ? name->text : "(unknown)" };
		const struct ltt_event_bytes record = { data, size };

		ltt_event_record_bytes(&events[EVENT], &numbers, texts, &record);
		client_end();
	}
}

static struct trace_export exports[] = {
	{ .write = client_on_function, .flags = TRACE_EXPORT_FUNCTION },
	{ .write = client_on_print, .flags = TRACE_EXPORT_MARKER },
	{ .write = client_on_event, .flags = TRACE_EXPORT_EVENT },
};

/* A function that runs with preemption off may still be called where RCU is not watching. */
static void exports_fini(unsigned int nr)
{
	while (nr--)
		unregister_ftrace_export(&exports[nr]);
	synchronize_rcu();
#ifdef CONFIG_TASKS_RUDE_RCU
	synchronize_rcu_tasks_rude();
#endif
}

static int exports_init(void)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(exports); i++) {
		ret = register_ftrace_export(&exports[i]);
		if (ret) {
			exports_fini(i);
			return ret;
		}
	}
	return 0;
}

/* --- module --------------------------------------------------------------------- */

static int client_init(void)
{
	int ret = ltt_provider_register(&provider);

	if (ret)
		return ret;
	ret = ltt_channel_register(&channel);
	if (!ret) {
		ret = exports_init();
		if (ret)
			ltt_channel_unregister(&channel);
	}
	if (ret)
		ltt_provider_unregister(&provider);
	return ret;
}

static int __init example_init(void)
{
	int ret = names_init();

	if (ret)
		return ret;
	ret = client_init();
	if (ret)
		names_fini();
	return ret;
}

static void __exit example_exit(void)
{
	exports_fini(ARRAY_SIZE(exports));
	on_each_cpu(client_count_losses, NULL, 1);
	ltt_provider_unregister(&provider);
	ltt_channel_unregister(&channel);
	names_fini();
}

module_init(example_init);
module_exit(example_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("ftrace's records as events");
