// SPDX-License-Identifier: GPL-2.0-only
#include "hits.h"

#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/namei.h>
#include <linux/path.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/trace_recursion.h>
#include <linux/uprobes.h>

#include "compat.h"
#include "registers.h"
#include "symbols.h"

/* Calls of one function that are under way at once; more are left out. */
#define MAX_UNDER_WAY 256

/**
 * struct hits
 * @ip: of a function that ftrace watches; 0: another way.
 * @probe: of the kernel; the first part is a kprobe, and may be all of it.
 * @path, @uprobe: of a program; @path keeps the inode, @uprobe is the handle to unregister with.
 */
struct hits {
	enum ltt_place_kind kind;
	ltt_place_call *call;
	void *data;
	unsigned long ip;
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_REGS
	struct ftrace_ops ops;
#endif
	struct kretprobe probe;
	struct path path;
	u64 offset;
	struct uprobe_consumer consumer;
	void *uprobe;
	char symbol[];
};

static void hits_call(const struct hits *hits, unsigned long ip, unsigned long caller, u64 value,
		      struct pt_regs *regs)
{
	const struct ltt_hit hit = { .ip = ip, .caller = caller, .value = value, .regs = regs };

	hits->call(hits->data, &hit);
}
NOKPROBE_SYMBOL(hits_call);

/* --- functions, by ftrace -------------------------------------------------- */

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_REGS
/* Where RCU is not watching, as in the idle loop, it could be freed concurrently. */
static void hits_on_function(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			     struct ftrace_regs *fregs)
{
	int bit = rcu_is_watching() ? ftrace_test_recursion_trylock(ip, parent_ip) : -1;

	if (bit < 0)
		return;
	hits_call(container_of(ops, struct hits, ops), ip, parent_ip, 0, ftrace_get_regs(fregs));
	ftrace_test_recursion_unlock(bit);
}

/* kernel.ftrace_enabled = 0 can't disable it. Return: -ENOENT: not by ftrace. */
static int hits_begin_function(struct hits *hits)
{
	int ret;

	hits->ip = ltt_function_location(hits->symbol, 0);
	if (!hits->ip)
		return -ENOENT;
	hits->ops.func = hits_on_function;
	hits->ops.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_PERMANENT;
	ret = ftrace_set_filter_ip(&hits->ops, hits->ip, 0, 0);
	if (!ret)
		ret = register_ftrace_function(&hits->ops);
	if (ret)
		ftrace_free_filter(&hits->ops);
	return ret;
}

static void hits_end_function(struct hits *hits)
{
	unregister_ftrace_function(&hits->ops);
	ftrace_free_filter(&hits->ops);
}
#else
static int hits_begin_function(struct hits *hits)
{
	return -ENOENT;
}

static void hits_end_function(struct hits *hits)
{
}
#endif

/* --- the kernel ------------------------------------------------------------- */

static int hits_on_kprobe(struct kprobe *probe, struct pt_regs *regs)
{
	const struct hits *hits = container_of(probe, struct hits, probe.kp);
	bool is_call = hits->kind == LTT_PLACE_FUNCTION;

	hits_call(hits, (unsigned long)probe->addr, is_call ? register_caller(regs) : 0, 0, regs);
	return 0;
}
NOKPROBE_SYMBOL(hits_on_kprobe);

static int hits_on_kretprobe(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	const struct hits *hits = container_of(get_kretprobe(instance), struct hits, probe);

	hits_call(hits, (unsigned long)hits->probe.kp.addr,
		  (unsigned long)get_kretprobe_retaddr(instance), regs_return_value(regs), regs);
	return 0;
}
NOKPROBE_SYMBOL(hits_on_kretprobe);

static int hits_begin_kernel(struct hits *hits)
{
	int ret = hits->kind == LTT_PLACE_FUNCTION ? hits_begin_function(hits) : -ENOENT;

	if (ret != -ENOENT)
		return ret;
	hits->ip = 0;
	hits->probe.kp.symbol_name = hits->symbol;
	hits->probe.kp.offset = hits->offset;
	hits->probe.maxactive = MAX_UNDER_WAY;
	if (hits->kind == LTT_PLACE_RETURN) {
		hits->probe.handler = hits_on_kretprobe;
		return register_kretprobe(&hits->probe);
	}
	hits->probe.kp.pre_handler = hits_on_kprobe;
	return register_kprobe(&hits->probe.kp);
}

/* --- programs ---------------------------------------------------------------- */

static int hits_on_uprobe(struct uprobe_consumer *consumer, struct pt_regs *regs COMPAT_UPROBE_DATA)
{
	hits_call(container_of(consumer, struct hits, consumer), instruction_pointer(regs), 0, 0,
		  regs);
	return 0;
}

static int hits_on_uretprobe(struct uprobe_consumer *consumer, unsigned long function,
			     struct pt_regs *regs COMPAT_UPROBE_DATA)
{
	hits_call(container_of(consumer, struct hits, consumer), function,
		  instruction_pointer(regs), regs_return_value(regs), regs);
	return 0;
}

/* Not opened: to open a FIFO waits for its writer, and to open a device may load a module. */
static int hits_begin_program(struct hits *hits)
{
	void *uprobe;
	int ret = kern_path(hits->symbol, LOOKUP_FOLLOW, &hits->path);

	if (ret)
		return ret;
	if (hits->kind == LTT_PLACE_URETPROBE)
		hits->consumer.ret_handler = hits_on_uretprobe;
	else
		hits->consumer.handler = hits_on_uprobe;
	uprobe = !d_is_reg(hits->path.dentry) ?
			 ERR_PTR(-EINVAL) :
			 compat_uprobe_register(d_real_inode(hits->path.dentry), hits->offset, 0,
						&hits->consumer);
	if (IS_ERR(uprobe)) {
		path_put(&hits->path);
		return PTR_ERR(uprobe);
	}
	hits->uprobe = uprobe;
	return 0;
}

/* --- all ------------------------------------------------------------------------ */

static bool hits_are_sound(const struct ltt_place *place)
{
	bool in_program = place->kind >= LTT_PLACE_UPROBE;

	if (in_program)
		return place->offset <= S64_MAX;
	return place->offset <= (place->kind == LTT_PLACE_FUNCTION ? 0 : U32_MAX) &&
	       strlen(place->name) < KSYM_NAME_LEN;
}

struct hits *hits_new(const struct ltt_place *place, ltt_place_call *call, void *data)
{
	size_t len = strlen(place->name) + 1;
	struct hits *hits;
	int ret;

	if (!hits_are_sound(place))
		return ERR_PTR(-EINVAL);
	hits = kzalloc(struct_size(hits, symbol, len), GFP_KERNEL);
	if (!hits)
		return ERR_PTR(-ENOMEM);
	memcpy(hits->symbol, place->name, len);
	hits->kind = place->kind;
	hits->offset = place->offset;
	hits->call = call;
	hits->data = data;
	ret = place->kind >= LTT_PLACE_UPROBE ? hits_begin_program(hits) : hits_begin_kernel(hits);
	if (!ret)
		return hits;
	kfree(hits);
	return ERR_PTR(ret);
}

struct hits *hits_free(struct hits *hits)
{
	if (hits->uprobe) {
		compat_uprobe_unregister(hits->uprobe, hits->offset, &hits->consumer);
		compat_uprobe_sync();
		path_put(&hits->path);
	} else if (hits->ip) {
		hits_end_function(hits);
	} else if (hits->kind == LTT_PLACE_RETURN) {
		unregister_kretprobe(&hits->probe);
	} else {
		unregister_kprobe(&hits->probe.kp);
	}
	compat_probes_synchronize();
	kfree(hits);
	return NULL;
}

bool hits_are_of(const struct hits *hits, const struct module *module)
{
	return hits->ip && within_module(hits->ip, module);
}
