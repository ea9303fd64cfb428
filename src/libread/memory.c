/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stddef.h>

#include "base/mem.h"

/* Of the innermost guarded call of the thread. */
static _Thread_local jmp_buf *rescue;

/* All that allocates is guarded. */
static void memory_leave(void)
{
	longjmp(*rescue, 1);
}

int memory_guard(int (*fn)(void *priv), void *priv)
{
	jmp_buf *const outer = rescue;
	jmp_buf here;
	int ret;

	if (setjmp(here)) {
		rescue = outer;
		return -ENOMEM;
	}
	mem_on_exhausted(memory_leave);
	rescue = &here;
	ret = fn(priv);
	rescue = outer;
	return ret;
}
