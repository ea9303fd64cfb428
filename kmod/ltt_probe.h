/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ltt_probe.h - functions of other modules that are called at tracepoints of the kernel and of
 * modules, with data of their own; no session is needed. kmod/examples/ltt_example_count.c is one.
 *
 *	#include <trace/events/sched.h>
 *	#include "ltt_probe.h"
 *
 *	static void on_fork(void *data, struct task_struct *parent, struct task_struct *child);
 *
 *	LTT_REGISTER_TRACE(sched_process_fork, on_fork, &state);
 *	...
 *	LTT_UNREGISTER_TRACE(sched_process_fork, on_fork, &state);
 *	ltt_trace_synchronize();
 *	(now `state` may be freed)
 *
 * The compiler checks the function's type against the tracepoint's header. The tracepoint is found
 * by its name, as the kernel exports few of them; that of a module that is not loaded yet is
 * connected when it comes, and again whenever it comes back. Registering is counted: a pair of
 * function and data is called once at each hit until it has been unregistered as often.
 *
 * A probe runs where the tracepoint is: in any context, NMIs included, preemption being off. If the
 * module of a function is unloaded without unregistering it, that is reported in the kernel's log,
 * and its memory stays until the function runs nowhere.
 *
 * All functions but the clock's are called in process context, may sleep, and must not be called
 * by a probe.
 */
#ifndef LTT_PROBE_H
#define LTT_PROBE_H

#include <linux/tracepoint.h>
#include <linux/types.h>

/** Return: how often the pair is registered now; -EINVAL: no name; -ENOMEM; -EEXIST: the kernel
 *  calls this pair already, for another than ltt.ko. */
#define LTT_REGISTER_TRACE(tracepoint, probe, data)						\
	(check_trace_callback_type_##tracepoint(probe),					\
	 ltt_trace_register(#tracepoint, (void *)(probe), data))
/** Return: how often it is still registered; -ENOENT: it was not. */
#define LTT_UNREGISTER_TRACE(tracepoint, probe, data)						\
	(check_trace_callback_type_##tracepoint(probe),					\
	 ltt_trace_unregister(#tracepoint, (void *)(probe), data))

/** The same, without the compiler's check. */
int ltt_trace_register(const char *tracepoint, void *probe, void *data);
int ltt_trace_unregister(const char *tracepoint, void *probe, void *data);
/** On return no function that was unregistered before is still running. */
void ltt_trace_synchronize(void);

enum ltt_trace_clock {
	LTT_TRACE_CLOCK_MONOTONIC = 0, /* CLOCK_MONOTONIC, ns */
	LTT_TRACE_CLOCK_CYCLES = 1,    /* get_cycles() */
};

/**
 * ltt_trace_clock() - the time that a record made now would have: the clock of the channel that was
 * created last, CLOCK_MONOTONIC if there was none. In any context, NMIs included.
 */
u64 ltt_trace_clock(void);
enum ltt_trace_clock ltt_trace_clock_kind(void);

#endif
