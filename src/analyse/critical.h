/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * critical.h - the critical path of a time in a thread, by the kernel's events of this time. While
 * the thread was blocked, the path is that of the thread that woke it, back to where another one
 * had woken that, and so on. So each nanosecond is that of one thread, which ran, waited for a CPU,
 * or slept until an interrupt. Owned by one reader.
 */
#ifndef ANALYSE_CRITICAL_H
#define ANALYSE_CRITICAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;

#define CRITICAL_STATES_MOST (1u << 20) /* changes of threads that are kept */
#define CRITICAL_PARTS_MOST 256u
#define CRITICAL_AFTER_NS 10000000
#define CRITICAL_NAME_BYTES 20u

/** Events of interrupts, for view_select.names: wakeups between them are theirs. */
#define CRITICAL_INTERRUPTS                                                                \
	"irq_handler_entry,irq_handler_exit,softirq_entry,softirq_exit,irq_softirq_entry," \
	"irq_softirq_exit,hrtimer_expire_entry,hrtimer_expire_exit,"                       \
	"timer_hrtimer_expire_*,local_timer_entry,local_timer_exit,"                       \
	"x86_irq_vectors_local_timer_*"

struct critical;

/** struct critical_thread - @name: empty: unknown. @pid: if @has_pid. */
struct critical_thread {
	char name[CRITICAL_NAME_BYTES];
	uint64_t tid, pid;
	bool has_pid;
};

/** CRITICAL_ASLEEP: an interrupt ended it. CRITICAL_UNKNOWN: blocked; no event shows the end. */
enum critical_kind {
	CRITICAL_RUNNING,
	CRITICAL_RUNNABLE,
	CRITICAL_ASLEEP,
	CRITICAL_UNKNOWN,
	CRITICAL_NR_KINDS
};

/**
 * struct critical_part - a cause, and its share of the time. Valid as long as the critical path.
 * @call: the system call in which @thread was; NULL: none, or unknown.
 * @other: CRITICAL_RUNNABLE: the thread that had the CPU most of this time; NULL: unknown.
 * @waited_in: the system call in which the thread of the path waited for @thread meanwhile; "": in
 * none that is known; NULL: @thread is that thread itself.
 */
struct critical_part {
	enum critical_kind kind;
	const struct critical_thread *thread, *other;
	const char *call, *waited_in;
	uint64_t ns;
};

/** struct critical_path - @parts: the longest first. @ns: their sum. @left_out_ns: of causes beyond
 *  CRITICAL_PARTS_MOST. @is_cut: there were too many changes: the later ones are missing. */
struct critical_path {
	struct critical_part parts[CRITICAL_PARTS_MOST];
	uint32_t nr_parts;
	uint64_t ns, left_out_ns;
	bool is_cut;
};

/** For paths in the time from @from_ns to @to_ns. All events of this time are passed, and those of
 *  CRITICAL_AFTER_NS behind it, by which a thread that woke another one is known to have ended. */
struct critical *critical_new(int64_t from_ns, int64_t to_ns);
void critical_free(struct critical *critical);
/** The event is the next one in time, of any thread. */
void critical_take(struct critical *critical, const struct event *event);
/** After the last event: the path of this thread. */
void critical_find(const struct critical *critical, uint64_t tid, struct critical_path *ret);

/** "running", "runnable", "asleep", "unknown". */
const char *critical_kind_name(enum critical_kind kind);

#endif
