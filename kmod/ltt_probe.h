/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ltt_probe.h - functions of other modules that are called at tracepoints of the kernel and of
 * modules, and at any place of the kernel and of programs, with data of their own; no session is
 * needed, and no ltt.ko: ltt_instr.ko has them. kmod/examples/ltt_example_count.c is one.
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

#include <linux/minmax.h>
#include <linux/tracepoint.h>
#include <linux/types.h>

struct pt_regs;

/** Return: how often the pair is registered now; -EINVAL: no name; -ENOMEM; -EEXIST: the kernel
 *  calls this pair already, for another than ltt_instr.ko. */
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
/*
 * LTT_TRACE_NAMES, defined before this header, which is then included before the tracepoint's:
 * register_trace_X(probe, data) and unregister_trace_X(probe, data), which a tracepoint's header
 * declares for modules to which the kernel exports it, are the two above, for all tracepoints.
 * Return: 0, or -errno as above.
 */
#ifdef LTT_TRACE_NAMES
#define LTT_TRACE_NAME(tracepoint) (&#tracepoint[sizeof("&__tracepoint_") - 1])
#define tracepoint_probe_register(tracepoint, probe, data)					\
	min(ltt_trace_register(LTT_TRACE_NAME(tracepoint), probe, data), 0)
#define tracepoint_probe_unregister(tracepoint, probe, data)					\
	min(ltt_trace_unregister(LTT_TRACE_NAME(tracepoint), probe, data), 0)
#endif

/** On return no function that was unregistered before is still running, of places neither. */
void ltt_trace_synchronize(void);

/**
 * struct ltt_hit - a place is passed.
 * @ip: address of the place; of LTT_PLACE_URETPROBE: of the function.
 * @caller: where the function returns to; 0: of LTT_PLACE_KPROBE and LTT_PLACE_UPROBE.
 * @value: that a function returns; 0 elsewhere.
 * @regs: NULL: the kernel saved none.
 */
struct ltt_hit {
	unsigned long ip;
	unsigned long caller;
	u64 value;
	struct pt_regs *regs;
};
typedef void ltt_place_call(void *data, const struct ltt_hit *hit);

enum ltt_place_kind {
	LTT_PLACE_FUNCTION,  /* a call of a kernel function: by ftrace, else by a kprobe */
	LTT_PLACE_RETURN,    /* its return */
	LTT_PLACE_KPROBE,    /* an instruction of the kernel */
	LTT_PLACE_UPROBE,    /* an instruction of all programs that have a file mapped */
	LTT_PLACE_URETPROBE, /* the return of a function there */
};

/**
 * struct ltt_place
 * @name: of the function or symbol; path of the file.
 * @offset: of the instruction from the symbol; in the file.
 */
struct ltt_place {
	enum ltt_place_kind kind;
	const char *name;
	u64 offset;
};

/**
 * The same as ltt_trace_register(), at a place; system calls have the tracepoints sys_enter and
 * sys_exit. At places in programs @call may sleep. Calls that the kernel can't make, beneath
 * another probe or where too many calls of a function are under way, are left out.
 *
 * Return: as ltt_trace_register(); -ENOENT: no such symbol or file; -EINVAL: not a place for that.
 */
int ltt_place_register(const struct ltt_place *place, ltt_place_call *call, void *data);
int ltt_place_unregister(const struct ltt_place *place, ltt_place_call *call, void *data);

enum ltt_trace_clock {
	LTT_TRACE_CLOCK_MONOTONIC = 0, /* CLOCK_MONOTONIC, ns */
	LTT_TRACE_CLOCK_CYCLES = 1,    /* get_cycles() */
};

/**
 * ltt_trace_clock() - the time of the trace clock. ltt_instr.ko chooses it when it is loaded, and
 * it stays: by its parameter clock=cycles or clock=monotonic; else cycles if the CPU keeps its
 * counter steady, else CLOCK_MONOTONIC. The session daemon takes it for its traces; a channel that
 * has the other one has that in its metadata. In any context, NMIs included.
 */
u64 ltt_trace_clock(void);
enum ltt_trace_clock ltt_trace_clock_kind(void);

/** struct ltt_trace_time - a time and the clock that it is of. */
struct ltt_trace_time {
	u64 value;
	enum ltt_trace_clock kind;
};
struct ltt_trace_time ltt_trace_time(void);

#endif
