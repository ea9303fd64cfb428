// SPDX-License-Identifier: GPL-2.0-only
#include "dump.h"

#include <linux/delay.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "layout.h"
#include "ltt_kmod.h"
#include "registry.h"

/* How long a reader may take to make room, before events are dropped. */
#define TIMEOUT_MS 1000

/* --- the events: names as readers of LTTng's kernel traces expect them --- */

static const struct field process_state[] = {
	INT(tid), INT(pid), INT(ppid), ARRAY_OF(name, "char", TASK_COMM_LEN), INT(type), INT(mode),
	INT(submode), INT(status), UINT(cpu), ADDRESS(file_table_address),
};
static const struct field process_ns[] = { INT(tid), UINT(ns_inum) };
static const struct field process_pid_ns[] = {
	INT(tid), INT(vtid), INT(vpid), INT(vppid), UINT(ns_level), UINT(ns_inum),
};
static const struct field process_user_ns[] = {
	INT(tid), UINT(vuid), UINT(vgid), UINT(ns_level), UINT(ns_inum),
};
static const struct field process_cgroup[] = { INT(tid), U64(cgroup_id), TEXT(path) };
static const struct field file_descriptor[] = {
	ADDRESS(file_table_address), INT(fd), UINT(flags), UINT(fmode), TEXT(filename),
};
static const struct field vm_map[] = {
	INT(pid), ADDRESS(start), ADDRESS(end), U64(flags), U64(inode), U64(pgoff), TEXT(filename),
};
static const struct field interrupt[] = { UINT(irq), INT(tid), TEXT(name), TEXT(action) };
static const struct field network_interface[] = {
	ARRAY_OF(address_ipv4, "u8", 4), UINT(ns_inum), INT(ifindex), TEXT(name),
};
static const struct field block_device[] = { UINT(dev), TEXT(diskname) };
static const struct field module_fields[] = { ADDRESS(base), U64(bytes), TEXT(name) };
/* (arm64 has a variable cpu_topology) */
static const struct field cpu_placement[] = {
	UINT(cpu_id), UINT(family), UINT(model), INT(physical_id), INT(core_id), UINT(cores),
	UINT(online), TEXT(architecture), TEXT(vendor), TEXT(model_name),
};
static const struct field kvm_vcpu[] = {
	INT(pid), INT(tid), UINT(vcpu), S64(tsc_offset), U64(tsc_scaling_ratio),
	UINT(tsc_scaling_ratio_frac_bits), UINT(tsc_khz),
};

#define EVENT(which, name_, fields_)							\
	[which] = { .name = "lttng_statedump_" name_, .fields = (fields_),			\
		    .nr_fields = ARRAY_SIZE(fields_) }
#define PLAIN(which, name_) [which] = { .name = "lttng_statedump_" name_ }

static struct event events[NR_DUMP_EVENTS] = {
	PLAIN(DUMP_START, "start"),
	PLAIN(DUMP_END, "end"),
	EVENT(DUMP_PROCESS_STATE, "process_state", process_state),
	EVENT(DUMP_PROCESS_CGROUP_NS, "process_cgroup_ns", process_ns),
	EVENT(DUMP_PROCESS_IPC_NS, "process_ipc_ns", process_ns),
	EVENT(DUMP_PROCESS_MNT_NS, "process_mnt_ns", process_ns),
	EVENT(DUMP_PROCESS_NET_NS, "process_net_ns", process_ns),
	EVENT(DUMP_PROCESS_TIME_NS, "process_time_ns", process_ns),
	EVENT(DUMP_PROCESS_UTS_NS, "process_uts_ns", process_ns),
	EVENT(DUMP_PROCESS_PID_NS, "process_pid_ns", process_pid_ns),
	EVENT(DUMP_PROCESS_USER_NS, "process_user_ns", process_user_ns),
	EVENT(DUMP_PROCESS_CGROUP, "process_cgroup", process_cgroup),
	EVENT(DUMP_FILE_DESCRIPTOR, "file_descriptor", file_descriptor),
	EVENT(DUMP_VM_MAP, "vm_map", vm_map),
	EVENT(DUMP_INTERRUPT, "interrupt", interrupt),
	EVENT(DUMP_NETWORK_INTERFACE, "network_interface", network_interface),
	EVENT(DUMP_BLOCK_DEVICE, "block_device", block_device),
	EVENT(DUMP_MODULE, "module", module_fields),
	EVENT(DUMP_CPU_TOPOLOGY, "cpu_topology", cpu_placement),
	EVENT(DUMP_KVM_VCPU, "kvm_vcpu", kvm_vcpu),
};

static int kmod_dump_attach(struct hook *hook)
{
	return 0;
}

static void kmod_dump_detach(struct hook *hook)
{
}

static const struct event_kind kind = { .attach = kmod_dump_attach,
					.detach = kmod_dump_detach,
					.flags = LTT_KMOD_STATE };

int dump_init(void)
{
	int ret = 0, i;

	for (i = 0; i < NR_DUMP_EVENTS && !ret; i++) {
		ret = registry_add(&events[i], &kind);
		if (!ret)
			registry_comes(&events[i]);
	}
	return ret;
}

/* --- a payload ------------------------------------------------------------ */

/* Beneath RCU. */
static const struct hook *kmod_dump_hook_of(const struct dump *dump, enum dump_event which)
{
	const struct hook *hook;

	list_for_each_entry_rcu(hook, &events[which].hooks, of_event)
		if (hook->source.set == dump->set)
			return hook;
	return NULL;
}

bool dump_wants(const struct dump *dump, enum dump_event which)
{
	bool wants;

	rcu_read_lock();
	wants = kmod_dump_hook_of(dump, which);
	rcu_read_unlock();
	return wants;
}

void dump_add(struct dump *dump, const void *value, u32 bytes)
{
	bytes = min_t(u32, bytes, sizeof(dump->payload) - dump->len);
	memcpy(dump->payload + dump->len, value, bytes);
	dump->len += bytes;
}

/* Always ends with a NUL: the fixed parts and texts before it are far shorter. */
void dump_add_text(struct dump *dump, const char *text)
{
	u32 len = strnlen(text, sizeof(dump->payload) - dump->len - 1);

	dump_add(dump, text, len);
	dump_add(dump, "", 1);
}

void dump_record(struct dump *dump, enum dump_event which)
{
	const struct hook *hook;

	rcu_read_lock();
	preempt_disable_notrace();
	hook = kmod_dump_hook_of(dump, which);
	if (hook)
		ring_put_untracked(&hook->source, dump->payload, dump->len);
	preempt_enable_notrace();
	rcu_read_unlock();
	dump->len = 0;
}

bool dump_pause(struct dump *dump)
{
	int ms;

	cond_resched();
	for (ms = 0; ms < TIMEOUT_MS && !READ_ONCE(*dump->is_over); ms++) {
		if (dump->is_unread || !ring_set_is_crowded(dump->set))
			break;
		usleep_range(1000, 1500);
	}
	return !READ_ONCE(*dump->is_over);
}

int dump_all(struct ring_set *set, const bool *is_over, bool is_unread)
{
	struct dump *dump = kvzalloc(sizeof(*dump), GFP_KERNEL);
	int ret;

	if (!dump)
		return -ENOMEM;
	dump->set = set;
	dump->is_over = is_over;
	dump->is_unread = is_unread;
	dump_record(dump, DUMP_START);
	dump_cpus(dump);
	dump_kvm(dump);
	dump_modules(dump);
	dump_interrupts(dump);
	dump_network(dump);
	dump_block_devices(dump);
	ret = dump_tasks(dump);
	if (!READ_ONCE(*is_over))
		dump_record(dump, DUMP_END);
	kvfree(dump);
	return ret;
}
