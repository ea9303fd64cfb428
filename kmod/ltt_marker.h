/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ltt_marker.h - markers: places in other modules that emit events, with values, to
 * their hooks: channels, which record them as events `marker:NAME`, and probes, which
 * are functions of modules. kmod/examples has one module of each kind. Without a
 * hook a marker costs two loads and a branch.
 *
 *	LTT_MARKER(disk_flush, "device %u bytes %llu name %s");
 *	static struct ltt_marker *const markers[] = { &ltt_marker_disk_flush };
 *
 *	ltt_markers_register(markers, 1);			when the module is loaded
 *	trace_mark(disk_flush, device, bytes, name);		in any context, NMIs included
 *	ltt_markers_unregister(markers, 1);			before it is unloaded
 *
 * A format is as printf's, of integers, characters, pointers and strings; the word before
 * each conversion is the name of the value. Several markers may have one name, in one module
 * or in many, and then must have one format: a marker or a probe with another format is
 * reported in the kernel's log, and never armed. The format of the first marker of a name
 * is valid until ltt_instr.ko is unloaded; channels need ltt.ko, probes do not.
 *
 * All functions but trace_mark() are called in process context only, and may sleep.
 */
#ifndef LTT_MARKER_H
#define LTT_MARKER_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/list.h>
#include <linux/printk.h>
#include <linux/stdarg.h>

/** struct ltt_marker - one place, or several of one module with the same name and format. Made by
 *  LTT_MARKER(); @name and @format are constant, and @tracepoint and @probe, which are NULL unless
 *  DEFINE_MARKER_TP() made it; ltt_instr.ko sets the other members. */
struct ltt_marker {
	const char *name;
	const char *format;
	const atomic_t *listeners;
	atomic_t no_listeners;
	void *of_name;
	const char *tracepoint;
	void *probe;
};

#define LTT_MARKER(name_, format_)								\
	static struct ltt_marker ltt_marker_##name_ = {					\
		.name = #name_, .format = (format_),						\
		.listeners = &ltt_marker_##name_.no_listeners,					\
	};											\
	static const char ltt_marker_##name_##_format[] __maybe_unused = format_

/**
 * DEFINE_MARKER_TP() - a marker without a place of its own: @probe_ is called at a tracepoint of
 * the kernel or of a module while the marker has a listener, with GET_MARKER(@name_) as its data,
 * and passes values on by trace_mark(@name_, ...), as often as it likes. It is declared before
 * this, and the tracepoint's header is included, against which the compiler checks its type. One
 * marker of a name has a probe.
 */
#define DEFINE_MARKER_TP(name_, tracepoint_, probe_, format_)					\
	static struct ltt_marker ltt_marker_##name_ = {					\
		.name = #name_, .format = (format_),						\
		.listeners = &ltt_marker_##name_.no_listeners,					\
		.tracepoint = #tracepoint_, .probe = (void *)(probe_),				\
	};											\
	static const char ltt_marker_##name_##_format[] __maybe_unused = format_;		\
	static inline void __maybe_unused ltt_marker_##name_##_checked(void)			\
	{											\
		check_trace_callback_type_##tracepoint_(probe_);				\
	}											\
	static struct ltt_marker ltt_marker_##name_
#define GET_MARKER(name_) (&ltt_marker_##name_)

static inline __printf(1, 2) void ltt_marker_check(const char *format, ...)
{
}

/** The values are only evaluated while there is a listener, and checked by the compiler. */
#define trace_mark(name_, ...)									\
	do {											\
		if (0)										\
			ltt_marker_check(ltt_marker_##name_##_format, ##__VA_ARGS__);		\
		if (unlikely(atomic_read(READ_ONCE(ltt_marker_##name_.listeners))))		\
			ltt_marker_hit(&ltt_marker_##name_, ##__VA_ARGS__);			\
	} while (0)

void ltt_marker_hit(struct ltt_marker *marker, ...);

/**
 * ltt_markers_register() - register markers, so that hooks can be attached to them.
 * Return: 0; -EINVAL: a format that can't be recorded; -ENOMEM. Then none is registered.
 * A format that differs from that of another marker of the name is not a failure: it is
 * reported, and that marker stays silent.
 */
int ltt_markers_register(struct ltt_marker *const *markers, unsigned int nr);
/** Unregister markers, and wait until no probe is called for them. The caller ensures that no
 *  trace_mark() of them runs. */
void ltt_markers_unregister(struct ltt_marker *const *markers, unsigned int nr);

/**
 * struct ltt_marker_probe - a function that is called at each marker of a name.
 * @name, @format: the marker; @format NULL: any format.
 * @call: with @private, the marker's format and the values; preemption is off. It may take
 *        values by va_arg() from the list as if it were its own.
 * ltt_instr.ko sets the other members.
 */
struct ltt_marker_probe {
	const char *name;
	const char *format;
	void (*call)(void *private, const char *format, va_list *values);
	void *private;

	unsigned int armed;
	void *of_name;
	struct list_head all;
	struct list_head of_marker;
};

/** Register a probe, which is not armed yet. Markers of the name may be loaded and unloaded
 *  later. */
void ltt_marker_probe_register(struct ltt_marker_probe *probe);
/** Disarm and unregister a probe. @private may be freed after ltt_marker_synchronize(). */
void ltt_marker_probe_unregister(struct ltt_marker_probe *probe);
/** Return: how often it is armed now; -EINVAL: the markers of that name have another format. */
int ltt_marker_probe_arm(struct ltt_marker_probe *probe);
/** Return: how often it is still armed; -EALREADY: it was not. */
int ltt_marker_probe_disarm(struct ltt_marker_probe *probe);
/** On return no probe that was disarmed before is still running. */
void ltt_marker_synchronize(void);

#endif
