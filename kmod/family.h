/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * family.h - processes and all that come of them: a bit for each id that a thread can have. A new
 * thread gets the bit of the process that makes it, before it runs, so ids that are used again need
 * nothing else. Owned by a tracker, changed by one task at a time; read in any context.
 */
#ifndef KMOD_FAMILY_H
#define KMOD_FAMILY_H

#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/threads.h>

#include "event.h"

struct family {
	struct list_head all;
	unsigned long has[BITS_TO_LONGS(PID_MAX_LIMIT)];
};

/** Without a process. Return: or ERR_PTR(). */
struct family *family_new(void);
/** No task reads it any more. Process context. @family: can be NULL. */
void family_free(struct family *family);
/** Add a process with all its threads and those descendants that it has, or remove them. Return: 0;
 *  -ESRCH: there is none; -EEXIST, -ENOENT. */
int family_add(struct family *family, u32 pid);
int family_remove(struct family *family, u32 pid);
void family_clear(struct family *family);

/** The family of our own daemons: those of root, with all that come of them; from the first call
 *  on, also those that are started later. NULL before. Return: 0 or -ENOMEM. Process context. */
int family_own_ensure(void);
void family_own_fini(void);
extern struct family *family_own;

/** Threads of the kernel that work for a process are its own, too: they have no bit. */
static inline bool family_has_current(const struct family *family)
{
	return test_bit(current->tgid, family->has);
}

static inline bool family_has(const struct family *family, u32 tid)
{
	return tid < PID_MAX_LIMIT && test_bit(tid, family->has);
}

/** Whether one of our own daemons is the current task, and this is no interrupt, which has nothing
 *  to do with it. After family_own_ensure(). */
static __always_inline bool family_is_own(void)
{
	return unlikely(family_has_current(family_own)) && in_task();
}

#define FAMILY_NO_SUBJECT U16_MAX
/** Position in its payload of the thread that an event is about, where that is not the current one:
 *  the next one of sched_switch, and that which is woken. FAMILY_NO_SUBJECT: none. */
u16 family_subject(const struct event *event);

#endif
