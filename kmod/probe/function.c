// SPDX-License-Identifier: GPL-2.0-only
#include "function.h"

#include <linux/err.h>
#include <linux/ftrace.h>
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "coming.h"
#include "compat.h"
#include "fetch.h"
#include "registry.h"
#include "instr/symbols.h"

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_REGS
#include <linux/trace_recursion.h>

#define FUNCTION_VALUES 2 /* always recorded: ip, parent_ip */
#define UNWATCHED_BITS 10
#define UNWATCHED_TRIES 16 /* from the place that belongs to the address */
#define LEVELS	   5 /* task, softirq, interrupt, NMI; ftrace lets one more through between them */

/**
 * struct site - a function that is watched, by any number of events.
 * @places: empty: to be swept away.
 */
struct site {
	unsigned long ip;
	struct hlist_head places;
	struct hlist_node same_hash;
	struct rcu_head rcu;
};

/**
 * struct unwatched - calls of a function while RCU was not watching, as in the idle loop: all that
 * is freed may be gone there, so they are counted in memory that stays.
 * @ip: 0: unused.
 */
struct unwatched {
	unsigned long ip;
	atomic_t calls;
};

/**
 * struct function_place
 * @hook: its only one.
 * @fetch: NULL: no further values.
 * @scratch: payloads that are being made, one a CPU and level.
 * @missed: calls beneath another one's recording.
 * @symbol: of a module; else empty.
 * @unwatched: the counter of its site, or NULL; @unwatched_before: its value at the attachment.
 */
struct function_place {
	struct event event;
	struct coming coming;
	struct hook *hook;
	unsigned long ip;
	struct fetch *fetch;
	u8 __percpu *scratch;
	atomic_t missed;
	struct unwatched *unwatched;
	int unwatched_before;
	struct hlist_node of_site;
	char symbol[];
};

/* Recording walks by RCU. One ftrace_ops for all functions: if there are several at
 * one function, the kernel tests each of them for that function. */
static DEFINE_MUTEX(function_lock);
static DEFINE_HASHTABLE(sites, 8);
static struct unwatched unwatched[1 << UNWATCHED_BITS]; /* changed with @function_lock held */
static unsigned int nr_sites;
static bool registered;
static DEFINE_PER_CPU(unsigned int, depth);

static struct function_place *kmod_function_place_of(struct event *event)
{
	return container_of(event, struct function_place, event);
}

static struct site *find_site(unsigned long ip)
{
	struct site *site;

	hash_for_each_possible_rcu_notrace(sites, site, same_hash, ip)
		if (site->ip == ip)
			return site;
	return NULL;
}

/* Of the site at @ip, or, if that is 0, an unused one for @near. Return: NULL: none. */
static struct unwatched *unwatched_find(unsigned long ip, unsigned long near)
{
	u32 first = hash_long(near, UNWATCHED_BITS), i;

	for (i = 0; i < UNWATCHED_TRIES; i++) {
		struct unwatched *slot = &unwatched[(first + i) % ARRAY_SIZE(unwatched)];

		if (READ_ONCE(slot->ip) == ip)
			return slot;
	}
	return NULL;
}

static void unwatched_new(unsigned long ip)
{
	struct unwatched *slot = unwatched_find(0, ip);

	if (slot)
		WRITE_ONCE(slot->ip, ip);
}

static void unwatched_free(unsigned long ip)
{
	struct unwatched *slot = unwatched_find(ip, ip);

	if (slot)
		WRITE_ONCE(slot->ip, 0);
}

static void unwatched_count(unsigned long ip)
{
	struct unwatched *slot = unwatched_find(ip, ip);

	if (slot)
		atomic_inc(&slot->calls);
}

/* --- calls ---------------------------------------------------------------- */

static u32 payload_room(const struct function_place *place)
{
	return FUNCTION_VALUES * sizeof(u64) + place->fetch->bytes;
}

static void kmod_function_record(struct function_place *place, const u64 *values,
				 struct pt_regs *regs, unsigned int level)
{
	const struct hook *hook = place->hook;
	u32 len = FUNCTION_VALUES * sizeof(*values);
	u8 *payload;

	if (!place->fetch) {
		ring_put(&hook->source, values, len);
		return;
	}
	if (!regs || level >= LEVELS) {
		atomic_inc(&place->missed);
		return;
	}
	payload = (u8 *)this_cpu_ptr(place->scratch) + level * payload_room(place);
	memcpy(payload, values, len);
	ring_put(&hook->source, payload,
		 len + fetch_put(place->fetch, regs, payload + len));
}

static void each_place(unsigned long ip, unsigned long parent_ip, struct pt_regs *regs)
{
	const u64 values[FUNCTION_VALUES] = { ip, parent_ip };
	unsigned int level = this_cpu_inc_return(depth) - 1;
	const struct site *site = find_site(ip);
	struct function_place *place;

	if (site)
		hlist_for_each_entry_rcu_notrace(place, &site->places, of_site)
			kmod_function_record(place, values, regs, level);
	this_cpu_dec(depth);
}

static void miss(unsigned long ip)
{
	const struct site *site = find_site(ip);
	struct function_place *place;

	if (site)
		hlist_for_each_entry_rcu_notrace(place, &site->places, of_site)
			atomic_inc(&place->missed);
}

/* Where RCU is not watching, as in the idle loop, the ring set could be freed concurrently. */
static void kmod_function_on_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
				  struct ftrace_regs *fregs)
{
	int bit;

	if (!rcu_is_watching()) {
		unwatched_count(ip);
		return;
	}
	bit = ftrace_test_recursion_trylock(ip, parent_ip);
	if (bit < 0) {
		miss(ip);
		return;
	}
	each_place(ip, parent_ip, ftrace_get_regs(fregs));
	ftrace_test_recursion_unlock(bit);
}

/* kernel.ftrace_enabled = 0 can't disable it while events are recorded. */
static struct ftrace_ops ops = {
	.func = kmod_function_on_call,
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_PERMANENT,
};

/* --- sites ---------------------------------------------------------------- */

/* An empty filter would mean all functions, so the last one goes after the registration. */
static void site_free(struct site *site)
{
	if (registered && nr_sites == 1) {
		unregister_ftrace_function(&ops);
		registered = false;
	}
	ftrace_set_filter_ip(&ops, site->ip, 1, 0);
	unwatched_free(site->ip);
	hash_del_rcu(&site->same_hash);
	nr_sites--;
	kfree_rcu(site, rcu);
}

/* It waits for all tasks to leave the kernel's trampolines, so it runs asynchronously. */
static void sweep(struct work_struct *work)
{
	struct hlist_node *next;
	struct site *site;
	int i;

	mutex_lock(&function_lock);
	hash_for_each_safe(sites, i, next, site, same_hash)
		if (hlist_empty(&site->places))
			site_free(site);
	mutex_unlock(&function_lock);
}
static DECLARE_WORK(sweeper, sweep);

/* Return: or ERR_PTR. */
static struct site *site_new(unsigned long ip)
{
	struct site *site = kzalloc(sizeof(*site), GFP_KERNEL);
	int ret = site ? ftrace_set_filter_ip(&ops, ip, 0, 0) : -ENOMEM;

	if (ret) {
		kfree(site);
		return ERR_PTR(ret);
	}
	site->ip = ip;
	unwatched_new(ip);
	hash_add_rcu(sites, &site->same_hash, ip);
	nr_sites++;
	if (registered)
		return site;
	ret = register_ftrace_function(&ops);
	registered = !ret;
	if (!ret)
		return site;
	site_free(site);
	return ERR_PTR(ret);
}

static int kmod_function_attach(struct hook *hook)
{
	struct function_place *place = kmod_function_place_of(hook->event);
	struct site *site;

	place->hook = hook;
	if (place->symbol[0]) /* it may have come to another address */
		place->ip = ltt_function_location(place->symbol, 0);
	if (!place->ip)
		return -ENOENT;
	mutex_lock(&function_lock);
	site = find_site(place->ip);
	if (!site)
		site = site_new(place->ip);
	if (!IS_ERR(site)) {
		place->unwatched = unwatched_find(place->ip, place->ip);
		if (place->unwatched)
			place->unwatched_before = atomic_read(&place->unwatched->calls);
		hlist_add_head_rcu(&place->of_site, &site->places);
	}
	mutex_unlock(&function_lock);
	return PTR_ERR_OR_ZERO(site);
}

static void kmod_function_detach(struct hook *hook)
{
	struct function_place *place = kmod_function_place_of(hook->event);

	u32 lost = 0;

	mutex_lock(&function_lock);
	hlist_del_init_rcu(&place->of_site);
	if (place->unwatched)
		lost = atomic_read(&place->unwatched->calls) - place->unwatched_before;
	mutex_unlock(&function_lock);
	queue_work(compat_unbound_wq, &sweeper);
	ring_set_lose(hook->source.set, lost + atomic_xchg(&place->missed, 0));
}

/* Another module could have another function there. */
static int kmod_function_module_changes(struct notifier_block *nb, unsigned long what, void *data)
{
	struct hlist_node *next;
	struct site *site;
	int i;

	if (what != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	mutex_lock(&function_lock);
	hash_for_each_safe(sites, i, next, site, same_hash) {
		if (!within_module(site->ip, data))
			continue;
		while (site->places.first)
			hlist_del_init_rcu(site->places.first);
		site_free(site);
	}
	mutex_unlock(&function_lock);
	return NOTIFY_DONE;
}

static struct notifier_block function_notifier = { .notifier_call = kmod_function_module_changes };

/* --- events --------------------------------------------------------------- */

static void kmod_function_place_free(struct function_place *place)
{
	coming_remove(&place->coming);
	free_percpu(place->scratch);
	kfree(place->event.fields);
	kfree(place->fetch);
	kfree(place);
}

static void kmod_function_release(struct event *event)
{
	kmod_function_place_free(kmod_function_place_of(event));
}

static const struct event_kind function_kind = { .attach = kmod_function_attach,
						 .detach = kmod_function_detach,
						 .release = kmod_function_release };

/* Return: 0: ftrace does not see its calls. */
static unsigned long location_of(const struct ltt_kmod_probe *request)
{
	return ltt_function_location(request->symbol[0] ? request->symbol : NULL,
				     request->address);
}

static int kmod_function_prepare(struct function_place *place, const struct ltt_kmod_probe *request)
{
	struct fetch *fetch = fetch_new(request->args, request->nr_args, FETCH_AT_ENTRY);

	if (IS_ERR_OR_NULL(fetch))
		return PTR_ERR_OR_ZERO(fetch);
	place->fetch = fetch;
	place->scratch = __alloc_percpu_gfp(LEVELS * payload_room(place), sizeof(u64),
					    GFP_KERNEL_ACCOUNT);
	return place->scratch ? 0 : -ENOMEM;
}

struct event *function_new(const struct ltt_kmod_probe *request)
{
	unsigned long ip = location_of(request);
	struct function_place *place;
	int ret;

	if (!ip)
		return NULL;
	place = kzalloc(struct_size(place, symbol, sizeof(request->symbol)), GFP_KERNEL_ACCOUNT);
	if (!place)
		return ERR_PTR(-ENOMEM);
	place->event.kind = &function_kind;
	place->event.name = "function";
	place->ip = ip;
	if (strchr(request->symbol, ':'))
		strscpy(place->symbol, request->symbol, sizeof(request->symbol));
	INIT_LIST_HEAD(&place->event.hooks);
	ret = kmod_function_prepare(place, request);
	if (!ret)
		ret = fetch_describe(place->fetch, FUNCTION_VALUES, &place->event);
	if (ret) {
		kmod_function_place_free(place);
		return ERR_PTR(ret);
	}
	coming_add(&place->coming, &place->event, request);
	return &place->event;
}

int function_init(void)
{
	return register_module_notifier(&function_notifier);
}

void function_fini(void)
{
	unregister_module_notifier(&function_notifier);
	flush_work(&sweeper);
}

#else

int function_init(void)
{
	return 0;
}

void function_fini(void)
{
}

struct event *function_new(const struct ltt_kmod_probe *request)
{
	return NULL;
}
#endif
