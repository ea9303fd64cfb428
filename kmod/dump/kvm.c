// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clocks of virtual machines: each virtual CPU's offset and scaling of the time stamp counter,
 * the numbers of kvm's files tsc-offset, tsc-scaling-ratio and tsc-scaling-ratio-frac-bits in
 * debugfs. Files of debugfs can't be read from within the kernel, so they are read at their origin;
 * those of a machine that itself runs a nested one are always its own.
 */
#include "dump.h"

#if IS_ENABLED(CONFIG_KVM) && defined(CONFIG_X86_64)

#include <linux/kvm_host.h>
#include <linux/mutex.h>
#include <linux/pid.h>

#include "compat.h"
#include "instr/symbols.h"

#define KVM_SYMBOL(name) (IS_MODULE(CONFIG_KVM) ? "kvm:" name : name)

/* The format of the ratio is that of the processor; 1: it doesn't scale. */
static unsigned int ratio_frac_bits(u64 ratio)
{
	if (ratio == 1)
		return 0;
	return boot_cpu_data.x86_vendor == X86_VENDOR_INTEL ||
			       boot_cpu_data.x86_vendor == X86_VENDOR_CENTAUR ||
			       boot_cpu_data.x86_vendor == X86_VENDOR_ZHAOXIN ?
		       48 :
		       32;
}

/* The thread that runs the CPU, if it has run, and its process; else the thread that made the
 * machine, which is the main one in most programs. */
static void dump_vcpu_task(struct dump *dump, struct kvm_vcpu *vcpu)
{
	struct task_struct *task;

	compat_vcpu_lock(vcpu);
	rcu_read_lock();
	task = pid_task(compat_vcpu_pid(vcpu), PIDTYPE_PID);
	DUMP_ADD(dump, s32, task ? task_tgid_nr(task) : vcpu->kvm->userspace_pid);
	DUMP_ADD(dump, s32, task ? task_pid_nr(task) : 0);
	rcu_read_unlock();
	compat_vcpu_unlock(vcpu);
}

static void dump_vcpu(struct dump *dump, struct kvm_vcpu *vcpu)
{
	u64 ratio = READ_ONCE(vcpu->arch.l1_tsc_scaling_ratio);

	dump_vcpu_task(dump, vcpu);
	DUMP_ADD(dump, u32, vcpu->vcpu_id);
	DUMP_ADD(dump, u64, READ_ONCE(vcpu->arch.l1_tsc_offset));
	DUMP_ADD(dump, u64, ratio);
	DUMP_ADD(dump, u32, ratio_frac_bits(ratio));
	DUMP_ADD(dump, u32, READ_ONCE(vcpu->arch.virtual_tsc_khz));
	dump_record(dump, DUMP_KVM_VCPU);
}

/* The lock keeps the machines and their CPUs, so nothing waits for room beneath it. */
static void dump_machines(struct dump *dump, struct mutex *lock, struct list_head *machines)
{
	struct kvm_vcpu *vcpu;
	unsigned long i;
	struct kvm *kvm;

	mutex_lock(lock);
	list_for_each_entry(kvm, machines, vm_list)
		kvm_for_each_vcpu(i, vcpu, kvm)
			dump_vcpu(dump, vcpu);
	mutex_unlock(lock);
}

void dump_kvm(struct dump *dump)
{
	struct list_head *machines;
	struct mutex *lock;

	/* a reference to kvm, which otherwise could be unloaded meanwhile */
	if (!dump_wants(dump, DUMP_KVM_VCPU) || !dump_pause(dump) || !symbol_get(kvm_put_kvm))
		return;
	lock = ltt_symbol_find(KVM_SYMBOL("kvm_lock"));
	machines = ltt_symbol_find(KVM_SYMBOL("vm_list"));
	if (lock && machines)
		dump_machines(dump, lock, machines);
	symbol_put(kvm_put_kvm);
}

#else /* arm64 has an offset of its virtual counter, CNTVOFF, that kvm does not show */

void dump_kvm(struct dump *dump)
{
}

#endif
