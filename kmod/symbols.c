// SPDX-License-Identifier: GPL-2.0-only
#include "symbols.h"

#include <linux/kprobes.h>

/* A kprobe finds its place by name. Nothing is ever called or probed there: at a
 * variable none can be, and none that can be stays. */
void *symbol_find(const char *name)
{
	struct kprobe probe = { .symbol_name = name };

	if (!register_kprobe(&probe))
		unregister_kprobe(&probe);
	return probe.addr;
}
