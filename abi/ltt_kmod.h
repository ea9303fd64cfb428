/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ltt_kmod.h - the requests of user space to the kernel module, ltt.ko.
 *
 * The requests are ioctl(2) calls on /dev/ltt, which only root may open, and on the descriptors of
 * channels. All state belongs to descriptors, and is freed when their last copy is closed, also by
 * the end of a process:
 *
 *   /dev/ltt        list events, fields, contexts and channels of other modules;
 *                   LTT_KMOD_CHANNEL makes channels
 *   a channel       its events: LTT_KMOD_ENABLE, LTT_KMOD_(USER_)PROBE, LTT_KMOD_FILTER,
 *                   LTT_KMOD_DISABLE; contexts: LTT_KMOD_CONTEXT; tracked ids: LTT_KMOD_TRACK;
 *                   LTT_KMOD_DUMP; or, if it only counts, its counts: LTT_KMOD_COUNTED(_KEYS);
 *                   or, if its events fire triggers, the memory of these (LTT_KMOD_FIRES).
 *                   Closing it disables its events
 *   data, ctl       the channel's rings, as abi/ltt_ring.h lays them out: `data` can
 *                   be mapped for reading only, `ctl` for reading and writing, by one address
 *                   space at a time, the consumer: others get EBUSY, unless the process of the
 *                   first one is being killed. A child does not inherit this mapping.
 *                   They may outlive the channel: recorded data can still be read
 *
 * Recording is off in new rings: a reader sets LTT_RING_ON in `ctl`. poll() on `data` returns
 * POLLIN when a ring has data in another sub-buffer than the one that contains `consumed`, or any
 * data if its state has LTT_RING_WAKE.
 *
 * Each structure begins with its size in the caller's version. If that is larger than the module's,
 * the additional bytes must be zero (else E2BIG); if it is smaller, the missing members are zero.
 * ioctl() returns 0 or more; or -1 and errno.
 */
#ifndef LTT_ABI_KMOD_H
#define LTT_ABI_KMOD_H

#include <stdint.h>

#ifdef __KERNEL__
#include <linux/ioctl.h>
#else
#include <sys/ioctl.h>
#endif

#include "ltt_counts.h"
#include "ltt_fired.h"

#define LTT_KMOD_DEVICE "/dev/ltt"
#define LTT_KMOD_ABI	1u

#define LTT_KMOD_NAME_MAX 128u /* of an event, the system before it included */
#define LTT_KMOD_TEXT_MAX 96u  /* of a field's name or type */

/** struct ltt_kmod_hello - version and contents of the module. All members but @size are output.
 *  @features: enum ltt_kmod_features.
 *  @clock: enum ltt_clock_kind, which the module has chosen, for itself and other modules. A
 *  channel may have the other one. */
struct ltt_kmod_hello {
	uint32_t size;
	uint32_t abi;
	uint32_t nr_events;
	uint32_t features;
	uint32_t clock;
};

enum ltt_kmod_features {
	LTT_KMOD_SAMPLES = 1, /* filters may sample, and events may be enabled LTT_KMOD_INSTEAD */
	LTT_KMOD_FAMILIES = 2, /* LTT_KMOD_TRACK_FAMILY */
	LTT_KMOD_KEYS = 4, /* events may be counted by keys, and with filters */
	LTT_KMOD_OUTPUTS = 8, /* exits of system calls have outputs, channels LTT_KMOD_DATA */
	LTT_KMOD_CGROUPS = 16, /* LTT_KMOD_TRACK_CGROUP */
	LTT_KMOD_OWN = 32, /* channels LTT_KMOD_LEAVE_OWN */
	LTT_KMOD_FILES = 64, /* user probes may have several files */
	LTT_KMOD_TRIGGERS = 128, /* channels LTT_KMOD_FIRES */
	LTT_KMOD_CAPTURES = 256, /* kinds of captures in struct ltt_kmod_fire */
	LTT_KMOD_CONTEXTS = 512, /* channels may get contexts after their first event */
};

enum ltt_kmod_event_flags {
	LTT_KMOD_LIVE = 1,    /* available in the running kernel now */
	LTT_KMOD_SYSCALL = 2, /* entry or exit of a system call */
	LTT_KMOD_BY_PERF = 4, /* a tracepoint that costs several times more than others */
	LTT_KMOD_STATE = 8,   /* recorded by LTT_KMOD_DUMP only */
	LTT_KMOD_SAMPLED = 16, /* so many times in a second: only for channels that name it */
};

/**
 * struct ltt_kmod_event - one event. @index: input, 0 to nr_events - 1; ENOENT after the last one.
 * @name: output. A tracepoint: "system:name", as in tracefs. A marker of a module:
 *        "marker:name"; an event of a provider: "provider:name". A system call:
 *        "syscall_entry_NAME" and "syscall_exit_NAME", where NAME is the kernel's function
 *        without sys_, or "unknown" for numbers without a name; for calls of 32-bit programs with
 *        the prefix "compat_". An exit has `ret`, then the outputs: fields for the memory that
 *        the call filled, whose names begin with that of the argument that points to it.
 */
struct ltt_kmod_event {
	uint32_t size;
	uint32_t index;
	uint32_t nr_fields;
	uint32_t flags;
	char name[LTT_KMOD_NAME_MAX];
};

/**
 * struct ltt_kmod_field - one field of an event, in the order of the payload.
 * @index, @field: input: numbers of the event and the field; ENOENT if there is none.
 * @kind, @size_bits, @length_bits, @base, @flags, @count: as in struct ltt_field of ltt/site.h.
 * @type: as the kernel's source names it.
 * @declared: its position in the kernel's declaration (in payloads, fields of variable length come
 *            last).
 */
struct ltt_kmod_field {
	uint32_t size;
	uint32_t index;
	uint32_t field;
	uint32_t declared;
	uint32_t count;
	uint32_t flags;
	uint8_t kind;
	uint8_t size_bits;
	uint8_t length_bits;
	uint8_t base;
	uint8_t is_signed; /* as in tracefs, also of elements */
	uint8_t reserved[3];
	char name[LTT_KMOD_TEXT_MAX];
	char type[LTT_KMOD_TEXT_MAX];
};

enum ltt_kmod_channel_flags {
	LTT_KMOD_COUNTS = 1, /* its events are counted and not recorded: its rings stay empty */
	LTT_KMOD_DATA = 2, /* outputs have contents of files, messages and the like, too */
	LTT_KMOD_LEAVE_OWN = 4, /* no events of our own daemons */
	LTT_KMOD_FIRES = 8, /* with LTT_KMOD_COUNTS: its events fire triggers */
};

#define LTT_KMOD_TRACE_ID 16u

/**
 * struct ltt_kmod_trace - the trace that a channel belongs to: while there is a channel of it, the
 * module shows the records that are in its buffers as text, in /sys/kernel/debug/ltt/NAME/text.
 * @id: channels with the same id are of one trace; the name, the host and the clock are those of
 *      the first channel.
 * @name: of the folder. `/`, blanks, control bytes and a dot at the beginning are replaced by `_`;
 *        if another trace has the name, `-2` or a higher number is appended. EINVAL: empty.
 * @channel: records of the same time are in the order of these names, then of CPUs.
 * @host: name of the machine, in front of each event; empty: the kernel's.
 * @clock_hz, @clock_base_ns: time of the clock's value v: @clock_base_ns + 10^9 v / @clock_hz ns
 *                            since 1970. @clock_hz 0: as the kernel knows them.
 */
struct ltt_kmod_trace {
	uint32_t size;
	uint32_t reserved;
	uint8_t id[LTT_KMOD_TRACE_ID];
	uint64_t clock_hz;
	int64_t clock_base_ns;
	char name[LTT_KMOD_NAME_MAX];
	char channel[LTT_KMOD_NAME_MAX];
	char host[LTT_KMOD_NAME_MAX];
};

/**
 * struct ltt_kmod_channel - a new channel; ioctl() returns its descriptor.
 * @flags: LTT_KMOD_COUNTS, LTT_KMOD_DATA, LTT_KMOD_LEAVE_OWN: of processes of root that are called
 *	ltt-sessiond, ltt-consumerd, ltt-keeperd or ltt-relayd, and all that come of them. Recorded
 *	are events that are about another thread, too, which sched_switch switches to or that is
 *	woken; and interrupts. LTT_KMOD_FIRES: the channel's descriptor can be mapped, shared, for
 *	reading and writing: a struct ltt_fired. poll() on it returns POLLIN while its `sleeping` is
 *	0: the reader sets it to 1 and then reads, and the next firing sets it to 0.
 * @mode, @num_subbuf, @clock, @subbuf_size: as in struct ltt_ring_desc.
 * @data_fd, @ctl_fd, @data_bytes, @ctl_bytes, @nr_rings: output. Both descriptors are to
 *	be mapped; @data_fd can also be spliced from, at the mapping's offsets.
 * @trace: address of a struct ltt_kmod_trace; 0: the records are not shown as text. A kernel
 *	without debugfs ignores it. EINVAL for a channel that counts.
 */
struct ltt_kmod_channel {
	uint32_t size;
	uint32_t mode;
	uint32_t num_subbuf;
	uint32_t clock;
	uint64_t subbuf_size;
	uint64_t data_bytes;
	uint64_t ctl_bytes;
	int32_t data_fd;
	int32_t ctl_fd;
	uint32_t nr_rings;
	uint32_t flags;
	uint64_t trace;
};

enum ltt_kmod_fire_role {
	LTT_KMOD_FIRE_EVENT = 0, /* each event is a firing, with a record */
	LTT_KMOD_FIRE_COUNT = 1, /* events are counted only */
	LTT_KMOD_FIRE_BEGIN = 2, /* of a pair */
	LTT_KMOD_FIRE_END = 3,	 /* of a pair: a firing, with a record, if it took too long */
};

enum ltt_kmod_capture_kind {
	LTT_KMOD_CAPTURE_FIELD = 0,
	LTT_KMOD_CAPTURE_ELEMENT = 1, /* of an array or a sequence */
	LTT_KMOD_CAPTURE_CONTEXT = 2,
};

/**
 * struct ltt_kmod_fire - the trigger of an event, in a channel LTT_KMOD_FIRES; several events may
 * have the same.
 * @slot, @generation: as in struct ltt_fired. @role: enum ltt_kmod_fire_role.
 * @nr_captures, @captures: numbers of the fields that a record has, as in struct ltt_kmod_field;
 *	one that there is not, or that is neither an integer nor a text, has no value.
 * @has_key, @key: of a pair: 1, and number of the field whose value begin and end have in common
 *	(EINVAL: it is neither an integer nor a text); or 0: begin and end are of one task.
 * @threshold_ns: of an end: it fires after more time; records have the time in ns.
 * @kinds, @elements: of each capture: enum ltt_kmod_capture_kind, and number of the element, from
 *	0, of the field. The number of a context is its index of LTT_KMOD_CONTEXT_FIELD (EINVAL:
 *	there is no such context, or it is a stack).
 */
struct ltt_kmod_fire {
	uint32_t size;
	uint32_t slot;
	uint32_t generation;
	uint32_t role;
	uint32_t nr_captures;
	uint32_t captures[LTT_FIRED_VALUES];
	uint32_t has_key;
	uint32_t key;
	uint32_t reserved;
	uint64_t threshold_ns;
	uint8_t kinds[LTT_FIRED_VALUES];
	uint32_t elements[LTT_FIRED_VALUES];
};

/**
 * struct ltt_kmod_enable - record an event into this channel. @id: the id in its records; EEXIST
 * if the channel has the id or, unless it counts, the event already; EBUSY if it had the id before
 * it had its latest contexts.
 * @name: as listed; ENOENT if this module has no probe for it. An event that is not LTT_KMOD_LIVE
 *        is recorded as soon as the module that defines it is loaded.
 * @flags: of LTT_KMOD_DISABLE: LTT_KMOD_NOWAIT, LTT_KMOD_OF_SLOT; of LTT_KMOD_ENABLE:
 *         LTT_KMOD_HISTOGRAM, LTT_KMOD_INSTEAD.
 * @field: with LTT_KMOD_HISTOGRAM the number of the field, as in struct ltt_kmod_field; EINVAL if
 *         it is not an integer. Otherwise 0.
 * @filter: LTT_KMOD_ENABLE: address of a struct ltt_kmod_filter, whose @id is not used; 0: none.
 * @nr_by, @by: in a channel that counts: numbers of the fields of a key, so that there is a count
 *          for each value of it; EINVAL: one is neither an integer nor a text. Otherwise 0.
 * @fire: in a channel LTT_KMOD_FIRES: address of a struct ltt_kmod_fire. Otherwise 0.
 * LTT_KMOD_DISABLE reads @id and @flags only; the last record is complete on return, except with
 * LTT_KMOD_NOWAIT.
 */
struct ltt_kmod_enable {
	uint32_t size;
	uint32_t id;
	char name[LTT_KMOD_NAME_MAX];
	uint32_t flags;
	uint32_t field;
	uint64_t filter;
	uint32_t nr_by;
	uint32_t by[LTT_COUNTS_BY_MAX];
	uint32_t reserved;
	uint64_t fire;
};

enum ltt_kmod_enable_flags {
	LTT_KMOD_HISTOGRAM = 2, /* in a channel that counts: keep a histogram of a field's values */
	LTT_KMOD_INSTEAD = 4, /* if the channel records the event with another id, that one ends */
	LTT_KMOD_NOWAIT = 1, /* do not wait: a record of the event may still be in progress */
	LTT_KMOD_OF_SLOT = 8, /* @id is the slot of a trigger: all of its events */
};

/**
 * struct ltt_kmod_description - name and fields of an event at a place, for its text (struct
 * ltt_kmod_trace).
 * @name: of the event.
 * @nr_fields, @fields: address of that many struct ltt_kmod_field, of which each begins @size bytes
 *	behind the one before: all values of the payload, in its order. Their @name, @base (10 or
 *	16) and, in @flags, LTT_FIELD_SIGNED are used. EINVAL: another number of fields; @kind or
 *	@size_bits of one of them is not that of the payload.
 */
struct ltt_kmod_description {
	uint32_t size;
	uint32_t nr_fields;
	uint64_t fields;
	char name[LTT_KMOD_NAME_MAX];
};

enum ltt_kmod_probe_flags {
	LTT_KMOD_PROBE_RETURN = 1, /* returns of the function (a kretprobe) */
	LTT_KMOD_PROBE_CALL = 2,   /* calls of a function, with the caller: by ftrace if the
				      kernel was built with support for it, else by a kprobe */
	LTT_KMOD_PROBE_WAITS = 4,  /* in an answer: see @symbol */
};

#define LTT_KMOD_ARGS_MAX  16u
#define LTT_KMOD_STEPS_MAX 8u
#define LTT_KMOD_STACK_MAX 1024u
#define LTT_KMOD_TEXTS_MAX 4096u /* bytes of all texts of a probe */

/** Steps to a value: the first one loads it, each further one transforms it. */
enum ltt_kmod_step_op {
	LTT_KMOD_STEP_NUMBER = 0,    /* @offset */
	LTT_KMOD_STEP_REGISTER = 1,  /* register @nr, as numbered by DWARF on this architecture */
	LTT_KMOD_STEP_ARGUMENT = 2,  /* argument @nr of the function, from 0; at its entry only */
	LTT_KMOD_STEP_STACK = 3,     /* word @nr of the stack, from its top */
	LTT_KMOD_STEP_RETURNED = 4,  /* return value; with LTT_KMOD_PROBE_RETURN only */
	LTT_KMOD_STEP_COMM = 5,	     /* address of the name of the current task */
	LTT_KMOD_STEP_ADD = 16,	     /* @offset */
	LTT_KMOD_STEP_READ = 17,     /* @nr (1, 2, 4, 8) bytes of memory at value + @offset */
	LTT_KMOD_STEP_READ_USER = 18, /* the same in the memory of the current task */
	LTT_KMOD_STEP_ADD_REGISTER = 19, /* register @nr, as above, times @offset */
	LTT_KMOD_STEP_EXTEND = 20, /* extend from @nr bytes (1, 2, 4); @offset 1: with their sign */
};

struct ltt_kmod_step {
	uint32_t op;
	uint32_t nr;
	int64_t offset;
};

enum ltt_kmod_arg_kind {
	LTT_KMOD_ARG_NUMBER = 0, /* @bytes (1, 2, 4, 8) of the value */
	LTT_KMOD_ARG_TEXT = 1,	 /* at the value as an address: up to @bytes with its NUL */
	LTT_KMOD_ARG_TEXT_USER = 2,
};

/** struct ltt_kmod_arg - a value to record at a place. A value that cannot be read is 0, or the
 *  text "(fault)" as far as there is room. */
struct ltt_kmod_arg {
	uint32_t kind;
	uint16_t bytes;
	uint16_t nr_steps;
	struct ltt_kmod_step steps[LTT_KMOD_STEPS_MAX];
};

/**
 * struct ltt_kmod_probe - record hits of a place in the kernel (a kprobe).
 * @id: as in struct ltt_kmod_enable.
 * @flags: one of LTT_KMOD_PROBE_*, or 0; with LTT_KMOD_PROBE_CALL @offset must be 0.
 * @symbol, @offset: function, and bytes after its start. MODULE:FUNCTION is one of a module: while
 *	that is not loaded, or has no such function, the event waits; the answer's @flags have
 *	LTT_KMOD_PROBE_WAITS then. The answer of a function that is a module's has that form, and
 *	the event is recorded again when the module comes back. Or @symbol is empty:
 * @address: address of the place.
 * @nr_args, @args: address of that many struct ltt_kmod_arg.
 * @filter, @fire: as in struct ltt_kmod_enable.
 * @description: address of a struct ltt_kmod_description; 0: the event is called `probe` or
 *               `function`, its arguments `arg1` and so on.
 * Payload: u64 `ip`; of a call u64 `ip`, u64 `parent_ip`; at the return of a function u64 `ip`,
 * u64 `parent_ip`, u64 `ret`; then all arguments that are numbers, then those that are texts, in
 * their order.
 * ENOENT: no such function; EINVAL: no probe can be at this place; EILSEQ: not the
 * beginning of an instruction; ERANGE: @offset is behind the function's end, and is now its
 * number of bytes; EBUSY: LTT_KMOD_PROBE_CALL while kernel.ftrace_enabled is 0.
 */
struct ltt_kmod_probe {
	uint32_t size;
	uint32_t id;
	uint32_t flags;
	uint32_t nr_args;
	uint64_t address;
	uint64_t offset;
	char symbol[LTT_KMOD_NAME_MAX];
	uint64_t args;
	uint64_t filter;
	uint64_t description;
	uint64_t fire;
};

#define LTT_KMOD_PLACES_MAX 256u /* of a user probe in a file */
#define LTT_KMOD_FILES_MAX  16u  /* of a user probe; the oldest goes for a new one */

/** struct ltt_kmod_user_place - one more place of a user probe. Its arguments must have the number,
 *  @kind and @bytes of those of the first place. */
struct ltt_kmod_user_place {
	uint64_t offset;
	uint64_t semaphore;
	uint64_t args;
};

/**
 * struct ltt_kmod_user_probe - record hits of places in a file that programs run, by
 * any of them (uprobes).
 * @id, @flags, @nr_args, @args: as in struct ltt_kmod_probe, without LTT_KMOD_PROBE_CALL; arguments
 * of the function are allowed at any place.
 * @fd: the file, open for reading; it stays open while the probe is there.
 * @offset: of the instruction in the file.
 * @semaphore: offset in the file of a 16-bit counter that is above 0 in each program while there
 * is a listener (of USDT); or 0. The same for all probes at a place (EINVAL).
 * @nr_more, @more: address of that many struct ltt_kmod_user_place.
 * @filter, @fire: as in struct ltt_kmod_enable.
 * @description: as in struct ltt_kmod_probe; 0: the event is called `user_probe`.
 * Payload: as of struct ltt_kmod_probe, the same for all places.
 * If @id is that of a user probe, the file and its places are added to those of this one, whose
 * filter and description stay. Files that have been removed and that no program runs go then.
 * EEXIST: the file is there already; EINVAL: the flag or the arguments differ.
 * EBADF, EINVAL: no regular file; EINVAL, EIO, ENOTSUPP (524): no probe can be there. A place
 * that is not the beginning of an instruction cannot be detected, and breaks the programs.
 */
struct ltt_kmod_user_probe {
	uint32_t size;
	uint32_t id;
	uint32_t flags;
	uint32_t nr_args;
	uint64_t args;
	uint64_t offset;
	uint64_t semaphore;
	int32_t fd;
	uint32_t nr_more;
	uint64_t more;
	uint64_t filter;
	uint64_t description;
	uint64_t fire;
};

#define LTT_KMOD_FILTER_BYTES_MAX    32768u /* bytes of all programs of an event */
#define LTT_KMOD_FILTER_CONTEXTS_MAX 32u

/**
 * struct ltt_kmod_filter - record event @id of this channel only if one of the programs accepts it.
 * LTT_KMOD_FILTER replaces the filter that the event has: each event is decided by the one or by
 * the other. ENOENT: the channel has no such event. Events that are rejected are not counted as
 * lost.
 * @bytes, @programs: programs as in ltt_filter.h, without floating point, each padded to 8 bytes;
 *                    their payload is that of the record, without contexts. One that samples has a
 *                    sampler for each CPU; its words are those of the channel's rings. EINVAL: one
 *                    is not valid, or samples in a channel that counts. 0: the event has no filter
 *                    any more.
 * @contexts: names of the contexts that the programs use, in the order of their numbers,
 *            comma-separated; as LTT_KMOD_CONTEXT_FIELD lists them, without stacks. They need not
 *            be contexts of the channel. ENOENT: one does not exist.
 */
struct ltt_kmod_filter {
	uint32_t size;
	uint32_t id;
	uint64_t programs;
	uint32_t bytes;
	uint32_t reserved;
	char contexts[512];
};

#define LTT_KMOD_CONTEXTS_MAX 64u /* of a channel */

enum ltt_kmod_context_flags {
	LTT_KMOD_CONTEXT_PERF = 1, /* a counter of perf: 64 bits, the count of the CPU */
};

/**
 * struct ltt_kmod_context - record @name with every event of this channel, before the
 * event's own payload, in the order in which contexts were added. Events that are enabled already
 * go on without it: they are to be enabled by another id, LTT_KMOD_INSTEAD.
 * @flags: LTT_KMOD_CONTEXT_*.
 * @perf_type, @perf_config: of a counter, as perf_event_open(2) has them; @name is for the log.
 * ENOENT: LTT_KMOD_CONTEXT_FIELD on the device lists them (input: @index, from 0; @field is
 * unused), or, as ENODEV, EOPNOTSUPP and EINVAL too, the machine has no such counter; EEXIST;
 * ENOSPC: there are too many; EBUSY: the channel of a module without LTT_KMOD_CONTEXTS has had an
 * event already.
 */
struct ltt_kmod_context {
	uint32_t size;
	uint32_t flags;
	char name[LTT_KMOD_TEXT_MAX];
	uint32_t perf_type;
	uint32_t reserved;
	uint64_t perf_config;
};

enum ltt_kmod_track_kind {
	LTT_KMOD_TRACK_PID = 0,
	LTT_KMOD_TRACK_TID = 1,
	LTT_KMOD_TRACK_VPID = 2, /* in the namespace of the task */
	LTT_KMOD_TRACK_VTID = 3,
	LTT_KMOD_TRACK_UID = 4,
	LTT_KMOD_TRACK_GID = 5,
	LTT_KMOD_TRACK_VUID = 6,
	LTT_KMOD_TRACK_VGID = 7,
	LTT_KMOD_TRACK_FAMILY = 8, /* a process, and all that come of it: LTT_KMOD_FAMILIES */
	LTT_KMOD_TRACK_CGROUP = 9, /* of version 2, by its inode; those below it, too */
	LTT_KMOD_TRACK_KINDS = 10,
};

enum ltt_kmod_track_op {
	LTT_KMOD_TRACK_ALL = 0,	   /* initially: the kind is not tracked */
	LTT_KMOD_TRACK_NONE = 1,   /* record no task, until ids are added */
	LTT_KMOD_TRACK_ADD = 2,	   /* EEXIST */
	LTT_KMOD_TRACK_REMOVE = 3, /* ENOENT */
};

/**
 * struct ltt_kmod_track - limit this channel to events of tasks with tracked ids: a task must have
 * one of the tracked ids of each kind that is tracked. The first id that is added excludes all
 * others of its kind. Excluded events are not counted as lost. Tracked ids may change at any time.
 *
 * Of a LTT_KMOD_TRACK_FAMILY, ids are those of processes in the first namespace; ESRCH: there is
 * none. Its threads and those descendants that it has are added, too, also if they execute other
 * programs, and all that these make later; so they are removed. Events about one of them (the
 * thread that sched_switch switches to, or that is woken) are theirs, too, though others make them.
 */
struct ltt_kmod_track {
	uint32_t size;
	uint32_t kind;
	uint32_t op;
	uint32_t id;
};

enum ltt_kmod_dump_flags {
	LTT_KMOD_DUMP_WAIT = 1,	  /* return when the dump is complete */
	LTT_KMOD_DUMP_UNREAD = 2, /* no reader makes room in the channel: do not wait for one */
};

/**
 * struct ltt_kmod_dump - record the state of the system into this channel: those events
 * with LTT_KMOD_STATE that it has enabled, `lttng_statedump_start` first and
 * `lttng_statedump_end` last, regardless of trackers. The dump runs asynchronously,
 * waits for readers (for a limited time), and ends early when the channel is closed. A request
 * during a dump starts another one after it.
 */
struct ltt_kmod_dump {
	uint32_t size;
	uint32_t flags;
};

#define LTT_KMOD_BUCKETS 65u

/**
 * struct ltt_kmod_counted - the count of event @id in a counting channel since the event was
 * enabled, on all CPUs together; ENOENT. It may be read at any time.
 * @count: hits, of all keys. With a histogram, each hit is also counted in one of the following:
 * @buckets: number 0: value 0; number k: values from 2^(k-1) to 2^k - 1.
 * @negative: values below 0.
 * @missed: hits whose value could not be read, as too many events interrupted each other.
 * @sum: of all values, modulo 2^64.
 */
struct ltt_kmod_counted {
	uint32_t size;
	uint32_t id;
	uint64_t count;
	uint64_t sum;
	uint64_t negative;
	uint64_t missed;
	uint64_t buckets[LTT_KMOD_BUCKETS];
};

/** struct ltt_kmod_key - @key: as in struct ltt_counts_slot. @sum: of the values, of a histogram;
 *  its buckets are in the keys. */
struct ltt_kmod_key {
	uint64_t key[LTT_COUNTS_KEY_WORDS];
	uint64_t count;
	uint64_t sum;
};

/**
 * struct ltt_kmod_keys - the counts of event @id, which is counted by keys, on all CPUs together;
 * ENOENT; EINVAL: it has no keys. A key may be there twice.
 * @nr_keys: input: room at @keys, for LTT_COUNTS_KERNEL_SLOTS; output: keys.
 * @overflow, @missed: as in struct ltt_counts_rest.
 */
struct ltt_kmod_keys {
	uint32_t size;
	uint32_t id;
	uint64_t overflow;
	uint64_t missed;
	uint32_t nr_keys;
	uint32_t reserved;
	uint64_t keys;
};

/**
 * struct ltt_kmod_preset - description of a channel, which another module has registered for its
 * events: for rules that name no channel, the session daemon creates a channel with these
 * attributes.
 * @index: input, from 0; ENOENT after the last one. Indices change when modules are loaded or
 *	removed.
 * @num_subbuf, @subbuf_size: 0: the default.
 * @events: a glob of names as they are listed.
 */
struct ltt_kmod_preset {
	uint32_t size;
	uint32_t index;
	uint32_t num_subbuf;
	uint32_t reserved;
	uint64_t subbuf_size;
	char name[LTT_KMOD_NAME_MAX];
	char events[LTT_KMOD_NAME_MAX];
};

#define LTT_KMOD_IOC	 0xf2
#define LTT_KMOD_HELLO	 _IOWR(LTT_KMOD_IOC, 1, struct ltt_kmod_hello)
#define LTT_KMOD_EVENT	 _IOWR(LTT_KMOD_IOC, 2, struct ltt_kmod_event)
#define LTT_KMOD_FIELD	 _IOWR(LTT_KMOD_IOC, 3, struct ltt_kmod_field)
#define LTT_KMOD_CHANNEL _IOWR(LTT_KMOD_IOC, 4, struct ltt_kmod_channel)
#define LTT_KMOD_ENABLE	 _IOW(LTT_KMOD_IOC, 5, struct ltt_kmod_enable)
#define LTT_KMOD_DISABLE _IOW(LTT_KMOD_IOC, 6, struct ltt_kmod_enable)
#define LTT_KMOD_PROBE	 _IOW(LTT_KMOD_IOC, 7, struct ltt_kmod_probe)
#define LTT_KMOD_CONTEXT _IOW(LTT_KMOD_IOC, 8, struct ltt_kmod_context)
#define LTT_KMOD_CONTEXT_FIELD _IOWR(LTT_KMOD_IOC, 9, struct ltt_kmod_field)
#define LTT_KMOD_TRACK	 _IOW(LTT_KMOD_IOC, 10, struct ltt_kmod_track)
#define LTT_KMOD_DUMP	 _IOW(LTT_KMOD_IOC, 11, struct ltt_kmod_dump)
#define LTT_KMOD_USER_PROBE _IOW(LTT_KMOD_IOC, 12, struct ltt_kmod_user_probe)
#define LTT_KMOD_COUNTED _IOWR(LTT_KMOD_IOC, 13, struct ltt_kmod_counted)
#define LTT_KMOD_PRESET	 _IOWR(LTT_KMOD_IOC, 14, struct ltt_kmod_preset)
#define LTT_KMOD_FILTER	 _IOW(LTT_KMOD_IOC, 15, struct ltt_kmod_filter)
#define LTT_KMOD_COUNTED_KEYS _IOWR(LTT_KMOD_IOC, 16, struct ltt_kmod_keys)

#endif
