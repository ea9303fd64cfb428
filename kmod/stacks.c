// SPDX-License-Identifier: GPL-2.0-only
#include "stacks.h"

#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "registers.h"

u32 notrace stacks_kernel(unsigned long *ret)
{
	u32 nr = stack_trace_save(ret, STACKS_MAX, 0), own = 0;

	while (own < nr && within_module_core(ret[own], THIS_MODULE))
		own++;
	memmove(ret, ret + own, (nr - own) * sizeof(*ret));
	return nr - own;
}

/** struct frame - the words that a frame pointer points to. */
struct frame {
	unsigned long next;
	unsigned long caller;
};

/* Return: false where nothing can be read. */
static bool notrace read_frame(unsigned long at, bool narrow, struct frame *ret)
{
	u32 words[2];

	if (!narrow)
		return !copy_from_user_nofault(ret, (const void __user *)at, sizeof(*ret));
	if (copy_from_user_nofault(words, (const void __user *)at, sizeof(words)))
		return false;
	*ret = (struct frame){ words[0], words[1] };
	return true;
}

/* The kernel's own walker is not exported. Frames only lead up the stack: an address that does not
 * is something else, or a loop. */
u32 notrace stacks_user(unsigned long *ret)
{
	struct pt_regs *regs = task_pt_regs(current);
	struct frame frame;
	bool narrow;
	u32 nr = 0;

	if (!current->mm || (current->flags & PF_KTHREAD) || !user_mode(regs))
		return 0;
	narrow = registers_are_32bit(regs);
	ret[nr++] = instruction_pointer(regs);
	frame.next = frame_pointer(regs);
	while (nr < STACKS_MAX) {
		unsigned long at = frame.next;

		if (!at || !read_frame(at, narrow, &frame) || !frame.caller)
			break;
		ret[nr++] = frame.caller;
		if (frame.next <= at)
			break;
	}
	return nr;
}
