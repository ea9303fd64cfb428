// SPDX-License-Identifier: GPL-2.0-only
#include "kept.h"

#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#define KEPT_SLOTS (1u << 16)
#define KEPT_SHIFT 10 /* the thread id, of 22 bits, is above the number */

static u32 *kept;

int kept_begin(void)
{
	BUILD_BUG_ON(KEPT_MAX != (1u << KEPT_SHIFT) - 1);
	BUILD_BUG_ON(PID_MAX_LIMIT > 1u << (32 - KEPT_SHIFT));
	if (!kept)
		kept = kvcalloc(KEPT_SLOTS, sizeof(*kept), GFP_KERNEL_ACCOUNT);
	if (!kept)
		return -ENOMEM;
	memset(kept, 0, KEPT_SLOTS * sizeof(*kept));
	return 0;
}

void kept_fini(void)
{
	kvfree(kept);
	kept = NULL;
}

notrace void kept_put(u32 number)
{
	u32 id = current->pid;

	WRITE_ONCE(kept[id % KEPT_SLOTS], id << KEPT_SHIFT | min(number, KEPT_MAX));
}

notrace u32 kept_get(void)
{
	u32 id = current->pid, slot = READ_ONCE(kept[id % KEPT_SLOTS]);

	return slot >> KEPT_SHIFT == id ? slot & KEPT_MAX : 0;
}
