/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ltt_trace.h - traces inside of the kernel: a module creates a trace, chooses its events, and
 * reads its records by a function of its own. No daemon is needed, and no record reaches a file or
 * a process. Several traces may run at once, beside those of sessions; kmod/examples has an
 * example.
 *
 *	static const struct ltt_trace_options options = {
 *		.name = "switches", .subbuf_size = SZ_64K, .num_subbuf = 8,
 *	};
 *	int trace = ltt_trace_create(&options);
 *
 *	ltt_trace_enable(trace, "sched:sched_switch");
 *	ltt_trace_start(trace);
 *	...
 *	ltt_trace_read(trace, show, NULL);			again and again
 *	...
 *	ltt_trace_destroy(trace);				before the module is unloaded
 *
 * All functions are for process context and may sleep. They are not for a probe or another function
 * that is called by an event, nor for a notifier of modules. Several tasks may call them at once.
 *
 * A trace is named by a number that is not used again for a long time, so a trace that was
 * destroyed is -EBADF to all functions. It belongs to the module that created it: if that is
 * unloaded without destroying it, ltt.ko destroys it and writes a warning to the kernel's log.
 *
 * While the trace exists, the file text in /sys/kernel/debug/ltt/NAME has the records that its
 * buffers still have, as lines of text; `-2` or a higher number is appended to the name if a
 * session has it.
 *
 * Events that vanish with their module while a trace runs are recorded again when the module
 * is loaded again; their records can be read in any case.
 */
#ifndef LTT_TRACE_H
#define LTT_TRACE_H

#include <linux/module.h>
#include <linux/types.h>

enum ltt_trace_mode {
	LTT_TRACE_DISCARD,   /* while the buffers are full, events are lost */
	LTT_TRACE_OVERWRITE, /* the oldest records are overwritten */
};

enum { LTT_TRACE_NAME_MAX = 64 /* with its NUL */ };

/**
 * struct ltt_trace_options - used by ltt_trace_create() only.
 * @name: a word: letters, digits and underscores.
 * @subbuf_size: bytes of a sub-buffer, at least 4096; @num_subbuf: number of them on each CPU, at
 *               most 65536. Powers of two. A record has at most an eighth of a CPU's buffer, and 64
 *               KiB.
 */
struct ltt_trace_options {
	const char *name;
	u64 subbuf_size;
	u32 num_subbuf;
	enum ltt_trace_mode mode;
};

/**
 * struct ltt_trace_record - a record, during a call of the function that gets it.
 * @time: of the trace clock: comparable with ltt_trace_time() of ltt_probe.h, which has its kind.
 * @system: of a tracepoint, as the directory in tracefs; "marker", or a provider's name; or NULL.
 * @name: the event's. Both stay until ltt.ko is unloaded.
 * @id: the event's number: the same in all traces, until ltt.ko is unloaded.
 * @cpu: that recorded it.
 * @payload: @bytes bytes: fields of fixed size, then strings and arrays of varying length, each as
 *           declared, without gaps.
 * @event: for ltt_trace_field().
 */
struct ltt_trace_record {
	u64 time;
	const char *system;
	const char *name;
	u32 id;
	u32 cpu;
	const void *payload;
	u32 bytes;
	const void *event;
};

enum ltt_trace_kind {
	LTT_TRACE_NUMBER, /* an integer or a pointer */
	LTT_TRACE_TEXT,   /* ends with a NUL */
	LTT_TRACE_BYTES,  /* a structure or an array; an array of characters may lack the NUL */
};

/**
 * struct ltt_trace_value - the value of a field.
 * @number: of a LTT_TRACE_NUMBER: extended to 64 bits, with its sign if it has one.
 * @data, @bytes: of any field: in the record's payload, not aligned; without the count that comes
 *                before an array of varying length.
 * @elem_bytes: size of an element of an array.
 */
struct ltt_trace_value {
	enum ltt_trace_kind kind;
	u64 number;
	const void *data;
	u32 bytes;
	u32 elem_bytes;
};

/** struct ltt_trace_losses - @discarded: events that found no space, or were larger than a record
 *  may be. @overwritten: records that were overwritten before they were read. */
struct ltt_trace_losses {
	u64 discarded;
	u64 overwritten;
};

/**
 * ltt_trace_each - gets a record. It may sleep, and use the trace, but not read, peek into or
 * destroy it. Events that it causes itself are recorded, if the trace runs, and are of the next
 * ltt_trace_read().
 * Return: 0; above 0: the record is read, and is the last one of this call; below 0, -errno: the
 * record is not read, and the call fails with this error.
 */
typedef int ltt_trace_each(void *data, const struct ltt_trace_record *record);

/**
 * ltt_trace_create() - create a trace, without events, that does not run.
 * Return: the trace, above 0; -EINVAL: the name is not a word, or a size or the mode is invalid;
 * -EEXIST: there is a trace of this name; -ENOMEM: the buffers need more memory than there is, or
 * more than half of it; -ENOSPC: there are too many traces.
 */
#define ltt_trace_create(options) ltt_trace_create_for(THIS_MODULE, options)
int ltt_trace_create_for(struct module *owner, const struct ltt_trace_options *options);

/**
 * ltt_trace_enable() - record events from now on.
 * @pattern: a name as /sys/kernel/debug/ltt/available has it, "sched_switch",
 *           "syscall_entry_openat", or with its subsystem, "sched:sched_switch",
 *           "marker:example_step"; or a pattern of names with *, ? and [], "sched:*". An event of a module that is not loaded is recorded as soon as it is.
 *           Events of the state dump are not known here.
 * Return: the number of events that were not enabled yet, maybe 0; -EBADF: no such trace; -ENOENT:
 * no such event; -ENOMEM, or the error of the events if none can be enabled: then nothing has
 * changed. The others of a pattern are left out.
 */
int ltt_trace_enable(int trace, const char *pattern);

/**
 * ltt_trace_disable() - record events no more; the last record is complete on return.
 * Return: the number of events that were enabled, maybe 0; -EBADF; -ENOENT: no such event.
 */
int ltt_trace_disable(int trace, const char *pattern);

/** Record the events that are enabled. Return: 0; -EBADF. */
int ltt_trace_start(int trace);
/** Record nothing. The last record is complete on return. Return: 0; -EBADF. */
int ltt_trace_stop(int trace);

/**
 * ltt_trace_destroy() - destroy a trace, with its unread records. A task that reads it is waited
 * for: it gets no further record.
 * Return: 0; -EBADF; -EDEADLK: called by the function that gets records of this trace.
 */
int ltt_trace_destroy(int trace);

/**
 * ltt_trace_read() - call @each for all records that the trace has by now, of all CPUs in the order
 * of their time, while others are recorded. Their space is free afterwards, and the next call goes
 * on behind the last one; the order is kept from call to call. Records that were overwritten are
 * left out and counted. A trace has one reader at a time. Each call interrupts each CPU once, so
 * that the order is exact.
 * @data: for @each.
 * Return: the number of records; -EBADF; -EBUSY: another task, or the function that gets records of
 * this trace, reads it or looks into it; -ENOMEM: a record is larger than the memory there is, and
 * is still the next one; the error of @each. Records before an error are read.
 */
long ltt_trace_read(int trace, ltt_trace_each *each, void *data);

/** As ltt_trace_read(), but the records stay unread. */
long ltt_trace_peek(int trace, ltt_trace_each *each, void *data);

/** The losses since the trace was created, as far as it was read. Return: 0; -EBADF. */
int ltt_trace_losses(int trace, struct ltt_trace_losses *ret);

/** The value of a field of a record. Any context. Return: 0; -ENOENT: the event has no such field.
 */
int ltt_trace_field(const struct ltt_trace_record *record, const char *name,
		    struct ltt_trace_value *ret);

#endif
