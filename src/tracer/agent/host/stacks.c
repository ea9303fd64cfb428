/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stacks.c - sigaltstack(), which libltt defines in place of libc's: in a handler on a stack with
 * SS_AUTODISARM the kernel does not report that the thread is on an alternate stack.
 */
#include <errno.h>
#include <signal.h>

#include "tracer/base/sys.h"
#include "tracer/ring/fallback.h"
#include "tracer/ring/sys.h"

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)
#endif

__attribute__((visibility("default"))) int AGENT_IN_PLACE_OF(sigaltstack)(const stack_t *stack,
									  stack_t *ret_old)
{
	long res = ring_syscall(SYS_sigaltstack, (long)stack, (long)ret_old, 0, 0);

	if (res < 0) {
		errno = (int)-res;
		return -1;
	}
	if (stack && (unsigned int)stack->ss_flags & SS_AUTODISARM)
		ring_stacks_hidden();
	return 0;
}
