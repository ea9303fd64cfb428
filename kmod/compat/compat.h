/* SPDX-License-Identifier: GPL-2.0-only */
/* compat.h - the only place that tests the kernel's version. */
#ifndef KMOD_COMPAT_H
#define KMOD_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0) || LINUX_VERSION_CODE >= KERNEL_VERSION(7, 4, 0)
#error "ltt: this module is for kernels 6.1 to 7.3; `make kmod-flavours` shows those it was built for"
#endif

#include <linux/compat.h>
#include <linux/irqnr.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/uprobes.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void compat_vm_flags_mod(struct vm_area_struct *vma, unsigned long set,
				       unsigned long clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#else
#define compat_vm_flags_mod(vma, set, clear) vm_flags_mod(vma, set, clear)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
#define compat_module_base(module)  ((unsigned long)(module)->core_layout.base)
#define compat_module_bytes(module) ((module)->core_layout.size)
#else
#define compat_module_base(module)  ((unsigned long)(module)->mem[MOD_TEXT].base)
#define compat_module_bytes(module) ((module)->mem[MOD_TEXT].size)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define compat_nr_irqs() ((unsigned int)nr_irqs)
#else
#define compat_nr_irqs() irq_get_nr_irqs()
#endif

/* The thread of a virtual CPU is kept by RCU, later by a lock. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define compat_vcpu_pid(vcpu)	 rcu_dereference((vcpu)->pid)
#define compat_vcpu_lock(vcpu)	 rcu_read_lock()
#define compat_vcpu_unlock(vcpu) rcu_read_unlock()
#else
#define compat_vcpu_pid(vcpu)	 ((vcpu)->pid)
#define compat_vcpu_lock(vcpu)	 read_lock(&(vcpu)->pid_lock)
#define compat_vcpu_unlock(vcpu) read_unlock(&(vcpu)->pid_lock)
#endif

/* Handlers of uprobes have one parameter more, data for the return of the same call. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
#define COMPAT_UPROBE_DATA
#else
#define COMPAT_UPROBE_DATA , __u64 *unused
#endif

/* Return: the handle to unregister with, or ERR_PTR. */
static inline void *compat_uprobe_register(struct inode *inode, u64 offset, u64 semaphore,
					   struct uprobe_consumer *consumer)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
	int ret = uprobe_register_refctr(inode, offset, semaphore, consumer);

	return ret ? ERR_PTR(ret) : inode;
#else
	return uprobe_register(inode, offset, semaphore, consumer);
#endif
}

static inline void compat_uprobe_unregister(void *probe, u64 offset,
					    struct uprobe_consumer *consumer)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
	uprobe_unregister(probe, offset, consumer);
#else
	uprobe_unregister_nosync(probe, consumer);
#endif
}

/* On return no handler that was unregistered runs any more. */
static inline void compat_uprobe_sync(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	uprobe_unregister_sync();
#endif
}

/* A system call that a 32-bit program makes; x32 programs make native ones. */
#ifdef CONFIG_X86
#define compat_is_compat_syscall() in_ia32_syscall()
#else
#define compat_is_compat_syscall() in_compat_syscall()
#endif

/* __assign_str() lost its second argument: the source is that of __string(). */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define COMPAT_ASSIGN_STR_ALONE 1
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define compat_unbound_wq system_dfl_wq
#else
#define compat_unbound_wq system_unbound_wq
#endif

/* Probes of system calls run with preemption on since 6.13. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define compat_syscall_begin() preempt_disable_notrace()
#define compat_syscall_end()   preempt_enable_notrace()
#else
#define compat_syscall_begin() do { } while (0)
#define compat_syscall_end()   do { } while (0)
#endif

/* Probes of tracepoints run with preemption on since 7.0 (SRCU-fast), and the kernel's own turn it
 * off; the function that waits for them no longer waits for other code with preemption off. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define compat_probe_begin() preempt_disable_notrace()
#define compat_probe_end()   preempt_enable_notrace()
#define compat_probes_synchronize()							\
	do {										\
		tracepoint_synchronize_unregister();					\
		synchronize_rcu();							\
	} while (0)
#else
#define compat_probe_begin()	    do { } while (0)
#define compat_probe_end()	    do { } while (0)
#define compat_probes_synchronize() tracepoint_synchronize_unregister()
#endif

#endif
