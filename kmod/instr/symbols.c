// SPDX-License-Identifier: GPL-2.0-only
#include "symbols.h"

#include <linux/export.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>

/* register_kprobe() resolves the name. A kprobe on a variable is rejected after that, and one on a
 * function is disabled, and removed at once; so nothing is probed. Of a function the address is for
 * reading or probing only: where the CPU tracks indirect branches (CONFIG_X86_KERNEL_IBT) it is
 * behind the function's ENDBR, which the kernel may have overwritten, so a call ends in #CP. */
void *ltt_symbol_find(const char *name)
{
	struct kprobe probe = { .symbol_name = name, .flags = KPROBE_FLAG_DISABLED };

	if (!register_kprobe(&probe))
		unregister_kprobe(&probe);
	return probe.addr;
}
EXPORT_SYMBOL_GPL(ltt_symbol_find);

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_REGS
/* On x86 ftrace is called at the place of a kprobe at the function, behind an ENDBR; ftrace rejects
 * other places for a filter. */
unsigned long ltt_function_location(const char *name, unsigned long at)
{
	struct kprobe probe = { .symbol_name = name, .addr = (void *)at,
				.flags = KPROBE_FLAG_DISABLED };
	struct ftrace_ops ops = {};
	int ret;

	if (!register_kprobe(&probe))
		unregister_kprobe(&probe);
	if (!probe.addr)
		return 0;
	ret = ftrace_set_filter_ip(&ops, (unsigned long)probe.addr, 0, 0);
	ftrace_free_filter(&ops);
	return ret ? 0 : (unsigned long)probe.addr;
}
EXPORT_SYMBOL_GPL(ltt_function_location);
#endif
