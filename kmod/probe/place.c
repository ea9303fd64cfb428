// SPDX-License-Identifier: GPL-2.0-only
#include "place.h"

#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "coming.h"
#include "fetch.h"
#include "function.h"
#include "instr/symbols.h"
#include "registers.h"
#include "registry.h"

/* Calls of one function that are under way at once; more are counted as lost. */
#define MAX_UNDER_WAY 256

#define PLACE_VALUES 3 /* the most values that are always recorded */

/**
 * struct kernel_place
 * @hook: its only one.
 * @fetch: NULL: no further values.
 * @scratch: a payload that is being made, one a CPU: handlers of probes never nest on a
 *           CPU, the kernel leaves the inner one out and counts it.
 */
struct kernel_place {
	struct event event;
	struct coming coming;
	struct hook *hook;
	struct fetch *fetch;
	u8 __percpu *scratch;
	struct kretprobe probe; /* the first part is a kprobe, and may be all of it */
	char symbol[];
};

static struct kernel_place *kmod_place_of(struct event *event)
{
	return container_of(event, struct kernel_place, event);
}

/* Kprobes run their handlers with preemption off. */
static void kmod_place_record(const struct kernel_place *place, struct pt_regs *regs,
			      const u64 *values, u32 nr_values)
{
	u32 len = nr_values * sizeof(*values);
	u8 *scratch;

	if (!place->fetch) {
		ring_put(&place->hook->source, values, len);
		return;
	}
	scratch = this_cpu_ptr(place->scratch);
	memcpy(scratch, values, len);
	ring_put(&place->hook->source, scratch,
		 len + fetch_put(place->fetch, regs, scratch + len));
}
NOKPROBE_SYMBOL(kmod_place_record);

static int kmod_place_on_hit(struct kprobe *probe, struct pt_regs *regs)
{
	u64 ip = (unsigned long)probe->addr;

	kmod_place_record(container_of(probe, struct kernel_place, probe.kp), regs, &ip, 1);
	return 0;
}
NOKPROBE_SYMBOL(kmod_place_on_hit);

static int kmod_place_on_call(struct kprobe *probe, struct pt_regs *regs)
{
	const u64 values[] = { (unsigned long)probe->addr, register_caller(regs) };

	kmod_place_record(container_of(probe, struct kernel_place, probe.kp), regs, values,
			  ARRAY_SIZE(values));
	return 0;
}
NOKPROBE_SYMBOL(kmod_place_on_call);

static int kmod_place_on_return(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct kernel_place *place = container_of(get_kretprobe(instance), struct kernel_place,
						  probe);
	const u64 values[PLACE_VALUES] = {
		(unsigned long)place->probe.kp.addr,
		(unsigned long)get_kretprobe_retaddr(instance),
		regs_return_value(regs),
	};

	kmod_place_record(place, regs, values, PLACE_VALUES);
	return 0;
}
NOKPROBE_SYMBOL(kmod_place_on_return);

/* Kernel versions return different errors for an address outside of the kernel. */
static int kmod_place_outcome(const struct kernel_place *place, int ret)
{
	return ret == -ENOENT && !place->probe.kp.symbol_name ? -EINVAL : ret;
}

/* As it was before it was registered, if it was. */
static struct kernel_place *kmod_place_reset(struct hook *hook)
{
	struct kernel_place *place = kmod_place_of(hook->event);
	struct kprobe *probe = &place->probe.kp;

	place->hook = hook;
	if (probe->symbol_name) {
		probe->addr = NULL;
		probe->flags = 0;
	}
	return place;
}

static int kmod_place_attach_entry(struct hook *hook)
{
	struct kernel_place *place = kmod_place_reset(hook);

	return kmod_place_outcome(place, register_kprobe(&place->probe.kp));
}

static int attach_return(struct hook *hook)
{
	struct kernel_place *place = kmod_place_reset(hook);

	return kmod_place_outcome(place, register_kretprobe(&place->probe));
}

/* Hits that the kernel could not hand to us: beneath another probe, or too many calls
 * under way. */
static void kmod_place_detach_entry(struct hook *hook)
{
	struct kernel_place *place = kmod_place_of(hook->event);

	unregister_kprobe(&place->probe.kp);
	ring_set_lose(hook->source.set, place->probe.kp.nmissed);
}

static void detach_return(struct hook *hook)
{
	struct kernel_place *place = kmod_place_of(hook->event);

	unregister_kretprobe(&place->probe);
	ring_set_lose(hook->source.set, place->probe.nmissed + place->probe.kp.nmissed);
}

static void kmod_place_free(struct kernel_place *place)
{
	coming_remove(&place->coming);
	free_percpu(place->scratch);
	kfree(place->event.fields);
	kfree(place->fetch);
	kfree(place);
}

static void kmod_place_release(struct event *event)
{
	kmod_place_free(kmod_place_of(event));
}

static const struct event_kind entry_kind = {
	.attach = kmod_place_attach_entry,
	.detach = kmod_place_detach_entry,
	.release = kmod_place_release,
};

static const struct event_kind return_kind = {
	.attach = attach_return,
	.detach = detach_return,
	.release = kmod_place_release,
};

static bool kmod_place_is_sound(const struct ltt_kmod_probe *request)
{
	bool has_symbol = request->symbol[0], has_address = request->address;

	return has_symbol != has_address && request->flags <= LTT_KMOD_PROBE_CALL &&
	       request->offset <= U32_MAX &&
	       !(request->flags & LTT_KMOD_PROBE_CALL && request->offset);
}

/* Return: the bytes of a function; 0: not known. The kernel's text of it is NAME+0x0/0xBYTES. */
static u64 kmod_place_bytes(const char *symbol)
{
	void *at = ltt_symbol_find(symbol);
	char text[KSYM_SYMBOL_LEN], *bytes;

	if (!at)
		return 0;
	sprint_symbol(text, (unsigned long)at);
	bytes = strrchr(text, '/');
	return bytes ? simple_strtoull(bytes + 1, NULL, 16) : 0;
}

/* A kprobe behind the end of its function is one in another. */
static int kmod_place_check_offset(struct ltt_kmod_probe *request)
{
	u64 bytes = request->offset ? kmod_place_bytes(request->symbol) : 0;

	if (!bytes || request->offset < bytes)
		return 0;
	request->offset = bytes;
	return -ERANGE;
}

static enum fetch_place fetch_place_of(const struct ltt_kmod_probe *request)
{
	if (request->flags & LTT_KMOD_PROBE_RETURN)
		return FETCH_AT_RETURN;
	return request->offset ? FETCH_ANYWHERE : FETCH_AT_ENTRY;
}

static int prepare_fetch(struct kernel_place *place, const struct ltt_kmod_probe *request)
{
	struct fetch *fetch = fetch_new(request->args, request->nr_args, fetch_place_of(request));

	if (IS_ERR_OR_NULL(fetch))
		return PTR_ERR_OR_ZERO(fetch);
	place->fetch = fetch;
	place->scratch = __alloc_percpu_gfp(PLACE_VALUES * sizeof(u64) + fetch->bytes, sizeof(u64),
					    GFP_KERNEL_ACCOUNT);
	return place->scratch ? 0 : -ENOMEM;
}

static struct event *kmod_place_make(struct ltt_kmod_probe *request)
{
	bool is_return = request->flags & LTT_KMOD_PROBE_RETURN;
	bool is_call = request->flags & LTT_KMOD_PROBE_CALL;
	struct kernel_place *place;
	struct event *event;
	int ret;

	ret = kmod_place_check_offset(request);
	if (ret)
		return ERR_PTR(ret);
	event = is_call ? function_new(request) : NULL;
	if (event)
		return event;
	place = kzalloc(struct_size(place, symbol, sizeof(request->symbol)),
			  GFP_KERNEL_ACCOUNT);
	if (!place)
		return ERR_PTR(-ENOMEM);
	ret = prepare_fetch(place, request);
	if (!ret)
		ret = fetch_describe(place->fetch, is_return ? PLACE_VALUES : is_call ? 2 : 1,
				     &place->event);
	if (ret) {
		kmod_place_free(place);
		return ERR_PTR(ret);
	}
	strscpy(place->symbol, request->symbol, sizeof(request->symbol));
	place->event.kind = is_return ? &return_kind : &entry_kind;
	place->event.name = "probe";
	INIT_LIST_HEAD(&place->event.hooks);
	place->probe.kp.symbol_name = request->symbol[0] ? place->symbol : NULL;
	place->probe.kp.addr = (kprobe_opcode_t *)(unsigned long)request->address;
	place->probe.kp.offset = request->offset;
	place->probe.kp.pre_handler = is_return ? NULL :
				      is_call	? kmod_place_on_call :
						  kmod_place_on_hit;
	place->probe.handler = is_return ? kmod_place_on_return : NULL;
	place->probe.maxactive = MAX_UNDER_WAY;
	coming_add(&place->coming, &place->event, request);
	return &place->event;
}

struct event *place_new(struct ltt_kmod_probe *request)
{
	struct event *event;

	if (!kmod_place_is_sound(request))
		return ERR_PTR(-EINVAL);
	coming_lock();
	coming_resolve(request);
	event = kmod_place_make(request);
	coming_unlock();
	return event;
}
