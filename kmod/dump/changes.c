// SPDX-License-Identifier: GPL-2.0-only
#include "changes.h"

#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/netdevice.h>
#include <linux/rculist.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#include "layout.h"
#include "registers.h"
#include "registry.h"

/* Requests and releases of interrupts that are under way at once; more are counted as lost. */
#define MAX_UNDER_WAY 64
#define TEXT_MAX      100 /* of a name or symbol, its NUL included */

enum change {
	HANDLER_CONNECT,
	HANDLER_DISCONNECT,
	INTERFACE_UP,
	INTERFACE_DOWN,
	INTERFACE_RENAME,
	NR_CHANGES,
};

static const struct field handler_fields[] = {
	UINT(irq), UINT(flags), ADDRESS(address), TEXT(name), TEXT(handler),
};
static const struct field interface_fields[] = { UINT(ns_inum), INT(ifindex), TEXT(name) };

#define CHANGE(which, system_, name_, fields_)						\
	[which] = { .system = system_, .name = name_, .fields = (fields_),			\
		    .nr_fields = ARRAY_SIZE(fields_) }

static struct event change_events[NR_CHANGES] = {
	CHANGE(HANDLER_CONNECT, "irq", "irq_handler_connect", handler_fields),
	CHANGE(HANDLER_DISCONNECT, "irq", "irq_handler_disconnect", handler_fields),
	CHANGE(INTERFACE_UP, "net", "net_interface_up", interface_fields),
	CHANGE(INTERFACE_DOWN, "net", "net_interface_down", interface_fields),
	CHANGE(INTERFACE_RENAME, "net", "net_interface_rename", interface_fields),
};

/** struct payload - of one record; its texts come last. */
struct payload {
	u32 len;
	u8 bytes[24 + 2 * TEXT_MAX];
};

static void payload_add(struct payload *payload, const void *value, u32 bytes)
{
	memcpy(payload->bytes + payload->len, value, bytes);
	payload->len += bytes;
}

#define PAYLOAD_ADD(payload, type, value) payload_add(payload, &(type){ (value) }, sizeof(type))

static void payload_add_text(struct payload *payload, const char *text)
{
	payload_add(payload, text, strnlen(text, TEXT_MAX - 1));
	PAYLOAD_ADD(payload, u8, 0);
}

static void changes_record(enum change which, const struct payload *payload)
{
	const struct hook *hook;

	rcu_read_lock();
	preempt_disable_notrace();
	list_for_each_entry_rcu(hook, &change_events[which].hooks, of_event)
		ring_put(&hook->source, payload->bytes, payload->len);
	preempt_enable_notrace();
	rcu_read_unlock();
}

/* --- interrupt handlers: the return of the functions that all drivers use ----- */

/** struct handler - of a call under way. @thread: the function of its thread, or 0. */
struct handler {
	u32 irq;
	u32 flags;
	unsigned long address, thread;
	const char *name;
};

static int changes_on_request(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct handler *handler = (struct handler *)instance->data;

	handler->irq = register_argument(regs, 0);
	handler->address = register_argument(regs, 1);
	handler->thread = register_argument(regs, 2);
	handler->flags = register_argument(regs, 3);
	handler->name = (const char *)register_argument(regs, 4);
	return 0;
}
NOKPROBE_SYMBOL(changes_on_request);

static void changes_find(struct irq_desc *desc, const void *owner, struct handler *handler)
{
	const struct irqaction *action;
	unsigned long flags;

	raw_spin_lock_irqsave(&desc->lock, flags);
	for (action = desc->action; action && action->dev_id != owner; action = action->next)
		;
	if (action) {
		handler->flags = action->flags;
		handler->address = (unsigned long)action->handler;
		handler->thread = (unsigned long)action->thread_fn;
		handler->name = action->name;
	}
	raw_spin_unlock_irqrestore(&desc->lock, flags);
}

/* The call frees the data of the record. */
static int changes_on_free(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct handler *handler = (struct handler *)instance->data;
	struct irq_data *data;

	handler->irq = register_argument(regs, 0);
	handler->address = 0;
	rcu_read_lock();
	data = irq_get_irq_data(handler->irq);
	if (data)
		changes_find(irq_data_to_desc(data), (void *)register_argument(regs, 1), handler);
	rcu_read_unlock();
	return !handler->address;
}
NOKPROBE_SYMBOL(changes_on_free);

/* Where a driver leaves the handler to the kernel, and where the kernel puts a handler into a
 * thread, the function that the driver gave is that of the thread. */
static void changes_record_handler(enum change which, const struct handler *handler)
{
	unsigned long address = handler->address ?: handler->thread;
	struct payload payload = {};
	char symbol[TEXT_MAX];

	snprintf(symbol, sizeof(symbol), "%ps", (void *)address);
	if (!strcmp(symbol, "irq_default_primary_handler")) {
		address = handler->thread;
		snprintf(symbol, sizeof(symbol), "%ps", (void *)address);
	}
	PAYLOAD_ADD(&payload, u32, handler->irq);
	PAYLOAD_ADD(&payload, u32, handler->flags);
	PAYLOAD_ADD(&payload, u64, address);
	payload_add_text(&payload, handler->name ?: "");
	payload_add_text(&payload, symbol);
	changes_record(which, &payload);
}

static int changes_on_requested(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	if (!(int)regs_return_value(regs))
		changes_record_handler(HANDLER_CONNECT, (struct handler *)instance->data);
	return 0;
}
NOKPROBE_SYMBOL(changes_on_requested);

static int changes_on_freed(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	changes_record_handler(HANDLER_DISCONNECT, (struct handler *)instance->data);
	return 0;
}
NOKPROBE_SYMBOL(changes_on_freed);

/** struct place - a function of the kernel, while channels record its event. */
static struct place {
	const char *function;
	kretprobe_handler_t on_entry, on_return;
	struct kretprobe probe;
	u32 users;
} places[] = {
	[HANDLER_CONNECT] = { "request_threaded_irq", changes_on_request, changes_on_requested },
	[HANDLER_DISCONNECT] = { "free_irq", changes_on_free, changes_on_freed },
};

static struct place *changes_place(const struct hook *hook)
{
	return &places[hook->event - change_events];
}

static unsigned long changes_missed(const struct place *place)
{
	return place->probe.nmissed + place->probe.kp.nmissed;
}

/* The kernel keeps marks of its own in a probe that was registered. */
static int changes_attach(struct hook *hook)
{
	struct place *place = changes_place(hook);
	int ret = 0;

	if (!place->users) {
		place->probe = (struct kretprobe){
			.kp.symbol_name = place->function, .entry_handler = place->on_entry,
			.handler = place->on_return, .data_size = sizeof(struct handler),
			.maxactive = MAX_UNDER_WAY,
		};
		ret = register_kretprobe(&place->probe);
	}
	if (ret)
		return ret;
	place->users++;
	hook->own = (void *)changes_missed(place);
	return 0;
}

static void changes_detach(struct hook *hook)
{
	struct place *place = changes_place(hook);

	if (!--place->users)
		unregister_kretprobe(&place->probe);
	ring_set_lose(hook->source.set, changes_missed(place) - (unsigned long)hook->own);
}

static const struct event_kind handler_kind = { .attach = changes_attach,
						.detach = changes_detach };

/* --- network interfaces ------------------------------------------------------- */

static int changes_of_interface(struct notifier_block *nb, unsigned long what, void *info)
{
	const struct net_device *device = netdev_notifier_info_to_dev(info);
	struct payload payload = {};
	enum change which;

	switch (what) {
	case NETDEV_UP:
		which = INTERFACE_UP;
		break;
	case NETDEV_DOWN:
		which = INTERFACE_DOWN;
		break;
	case NETDEV_CHANGENAME:
		which = INTERFACE_RENAME;
		break;
	default:
		return NOTIFY_DONE;
	}
	PAYLOAD_ADD(&payload, u32, dev_net(device)->ns.inum);
	PAYLOAD_ADD(&payload, s32, device->ifindex);
	payload_add_text(&payload, device->name);
	changes_record(which, &payload);
	return NOTIFY_DONE;
}

static struct notifier_block notifier = { .notifier_call = changes_of_interface };

static int changes_attach_interface(struct hook *hook)
{
	return 0;
}

static void changes_detach_interface(struct hook *hook)
{
}

static const struct event_kind interface_kind = { .attach = changes_attach_interface,
						  .detach = changes_detach_interface };

/* --- all ------------------------------------------------------------------------ */

/* The notifier is called for all interfaces that are up when it is registered and unregistered,
 * when no event is enabled. */
int changes_init(void)
{
	int ret = 0, i;

	for (i = 0; i < NR_CHANGES && !ret; i++)
		ret = registry_add(&change_events[i], i <= HANDLER_DISCONNECT ? &handler_kind :
									 &interface_kind);
	if (!ret)
		ret = register_netdevice_notifier(&notifier);
	for (i = 0; i < NR_CHANGES && !ret; i++)
		registry_comes(&change_events[i]);
	return ret;
}

void changes_fini(void)
{
	unregister_netdevice_notifier(&notifier);
}
