/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * clone.h - vfork() and clone(), which libltt defines in place of libc's.
 *
 * A child that shares its parent's memory and thread pointer has the parent's rseq area,
 * which the kernel has registered for the parent: a sequence in the child could not detect that it
 * is not restarted, and that its CPU number is wrong. So the area is transferred before the child
 * runs (ring_rseq_lend()) or, if both run at once, sequences are not used any more. A child that
 * the program creates without libc is not handled.
 */
#ifndef TRACER_AGENT_HOST_CLONE_H
#define TRACER_AGENT_HOST_CLONE_H

/** libltt's vfork(), whichever one its name refers to. Not to be called from C. */
void agent_vfork(void) __attribute__((visibility("hidden")));
/** libc's clone(), for a task that records nothing. */
int __clone(int (*fn)(void *arg), void *stack, int flags, void *arg, ...);

#endif
