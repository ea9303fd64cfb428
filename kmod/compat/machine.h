/* SPDX-License-Identifier: GPL-2.0-only */
/* machine.h - properties of the CPU. */
#ifndef KMOD_MACHINE_H
#define KMOD_MACHINE_H

#include <linux/string.h>
#include <linux/topology.h>
#include <linux/version.h>

struct machine_cpu {
	u32 family, model, cores;
	int physical_id, core_id;
	const char *vendor, *name;
};

#ifdef CONFIG_X86
#include <asm/cpufeature.h>
#include <asm/processor.h>
#include <asm/tsc.h>

#define MACHINE_NAME "x86"

static inline void machine_cpu(unsigned int cpu, struct machine_cpu *ret)
{
	const struct cpuinfo_x86 *info = &cpu_data(cpu);

	*ret = (struct machine_cpu){
		.family = info->x86,
		.model = info->x86_model,
		.cores = info->booted_cores,
		.vendor = info->x86_vendor_id[0] ? info->x86_vendor_id : "unknown",
		.name = info->x86_model_id[0] ? info->x86_model_id : "unknown",
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
		.physical_id = info->topo.pkg_id,
		.core_id = info->topo.core_id,
#else
		.physical_id = info->phys_proc_id,
		.core_id = info->cpu_core_id,
#endif
	};
}

/* Whether it runs at one rate, in idle states too, and the kernel has not found it unstable. */
static inline bool machine_counter_is_steady(void)
{
	return boot_cpu_has(X86_FEATURE_CONSTANT_TSC) && boot_cpu_has(X86_FEATURE_NONSTOP_TSC) &&
	       !check_tsc_unstable();
}
#else
#include <generated/compile.h>

#define MACHINE_NAME UTS_MACHINE

static inline void machine_cpu(unsigned int cpu, struct machine_cpu *ret)
{
	*ret = (struct machine_cpu){
		.physical_id = topology_physical_package_id(cpu),
		.core_id = topology_core_id(cpu),
		.vendor = "", .name = "",
	};
}

static inline bool machine_counter_is_steady(void)
{
	return true;
}
#endif

#endif
