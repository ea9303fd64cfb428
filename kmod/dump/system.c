// SPDX-License-Identifier: GPL-2.0-only
#include "dump.h"

#include <linux/device.h>
#include <linux/inetdevice.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <net/net_namespace.h>

#include "compat.h"
#include "machine.h"
#include "instr/symbols.h"

/* --- interrupts ----------------------------------------------------------- */

static void dump_action(struct dump *dump, unsigned int irq, const char *name,
			const struct irqaction *action)
{
	DUMP_ADD(dump, u32, irq);
	DUMP_ADD(dump, s32, action->thread ? task_pid_nr(action->thread) : 0);
	dump_add_text(dump, name);
	dump_add_text(dump, action->name ? action->name : "");
	dump_record(dump, DUMP_INTERRUPT);
}

/* Beneath RCU, which frees descriptors; its lock keeps the actions. */
static void dump_interrupt(struct dump *dump, unsigned int irq, struct irq_data *data)
{
	struct irq_desc *desc = irq_data_to_desc(data);
	const struct irq_chip *chip = irq_data_get_irq_chip(data);
	const struct irqaction *action;
	unsigned long flags;

	raw_spin_lock_irqsave(&desc->lock, flags);
	for (action = desc->action; action; action = action->next)
		dump_action(dump, irq, chip && chip->name ? chip->name : "", action);
	raw_spin_unlock_irqrestore(&desc->lock, flags);
}

void dump_interrupts(struct dump *dump)
{
	unsigned int irq;

	if (!dump_wants(dump, DUMP_INTERRUPT))
		return;
	for (irq = 0; irq < compat_nr_irqs() && dump_pause(dump); irq++) {
		struct irq_data *data;

		rcu_read_lock();
		data = irq_get_irq_data(irq);
		if (data)
			dump_interrupt(dump, irq, data);
		rcu_read_unlock();
	}
}

/* --- network interfaces: each address, or 0.0.0.0 where there is none ------ */

static void dump_address(struct dump *dump, const struct net_device *device, __be32 address)
{
	dump_add(dump, &address, sizeof(address));
	DUMP_ADD(dump, u32, dev_net(device)->ns.inum);
	DUMP_ADD(dump, s32, device->ifindex);
	dump_add_text(dump, device->name);
	dump_record(dump, DUMP_NETWORK_INTERFACE);
}

static void dump_interface(struct dump *dump, const struct net_device *device)
{
	const struct in_device *in = __in_dev_get_rcu(device);
	const struct in_ifaddr *address = NULL;

	if (in)
		in_dev_for_each_ifa_rcu(address, in)
			dump_address(dump, device, address->ifa_address);
	if (!in || !rcu_access_pointer(in->ifa_list))
		dump_address(dump, device, 0);
}

void dump_network(struct dump *dump)
{
	struct net_device *device;
	struct net *net;

	if (!dump_wants(dump, DUMP_NETWORK_INTERFACE))
		return;
	rcu_read_lock();
	for_each_net_rcu(net) for_each_netdev_rcu(net, device) dump_interface(dump, device);
	rcu_read_unlock();
}

/* --- block devices, partitions too ---------------------------------------- */

void dump_block_devices(struct dump *dump)
{
	struct class *blocks = dump_wants(dump, DUMP_BLOCK_DEVICE) ? ltt_symbol_find("block_class") :
								      NULL;
	struct class_dev_iter iterator;
	struct device *device;

	if (!blocks)
		return;
	class_dev_iter_init(&iterator, blocks, NULL, NULL);
	while ((device = class_dev_iter_next(&iterator))) {
		DUMP_ADD(dump, u32, device->devt);
		dump_add_text(dump, dev_name(device));
		dump_record(dump, DUMP_BLOCK_DEVICE);
	}
	class_dev_iter_exit(&iterator);
}

/* --- modules -------------------------------------------------------------- */

void dump_modules(struct dump *dump)
{
	struct list_head *modules = dump_wants(dump, DUMP_MODULE) ? ltt_symbol_find("modules") : NULL;
	struct module *module;

	if (!modules)
		return;
	rcu_read_lock();
	preempt_disable();
	list_for_each_entry_rcu(module, modules, list) {
		if (module->state == MODULE_STATE_UNFORMED)
			continue;
		DUMP_ADD(dump, u64, compat_module_base(module));
		DUMP_ADD(dump, u64, compat_module_bytes(module));
		dump_add_text(dump, module->name);
		dump_record(dump, DUMP_MODULE);
	}
	preempt_enable();
	rcu_read_unlock();
}

/* --- CPUs ----------------------------------------------------------------- */

void dump_cpus(struct dump *dump)
{
	unsigned int cpu;

	if (!dump_wants(dump, DUMP_CPU_TOPOLOGY))
		return;
	for_each_present_cpu(cpu) {
		struct machine_cpu machine;

		machine_cpu(cpu, &machine);
		DUMP_ADD(dump, u32, cpu);
		DUMP_ADD(dump, u32, machine.family);
		DUMP_ADD(dump, u32, machine.model);
		DUMP_ADD(dump, s32, machine.physical_id);
		DUMP_ADD(dump, s32, machine.core_id);
		DUMP_ADD(dump, u32, machine.cores);
		DUMP_ADD(dump, u32, cpu_online(cpu));
		dump_add_text(dump, MACHINE_NAME);
		dump_add_text(dump, machine.vendor);
		dump_add_text(dump, machine.name);
		dump_record(dump, DUMP_CPU_TOPOLOGY);
	}
}
