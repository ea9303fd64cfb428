/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ltt_marker.h - markers: places in other modules that emit events, with values, to
 * their hooks: channels, which record them as events `marker:NAME`, and probes, which
 * are functions of modules. kmod/examples has one module of each kind.
 *
 *	trace_mark(disk_flush, "device %u bytes %llu name %s", device, bytes, name);
 *
 * in any function of any module, an inline function of a header included, and in any context, NMIs
 * included, is all. ltt_instr.ko finds the markers of a module when that is loaded, before its own
 * code runs, or finds them when it is loaded itself: the module needs this header, and no symbol of
 * ltt_instr.ko. Without a hook a marker costs one instruction that does nothing, and its values
 * are not evaluated; with one they are evaluated with preemption off, and must not sleep. The
 * kernel does not announce modules that are proprietary, or loaded by force: nothing listens to
 * their markers.
 *
 * A format is as printf's, of integers, characters, pointers and strings; the word before
 * each conversion is the name of the value. Several markers may have one name, in one module
 * or in many, and then must have one format: a marker or a probe with another format, or a marker
 * whose format can't be recorded, is reported in the kernel's log, and never armed. The format of
 * the first marker of a name is valid until ltt_instr.ko is unloaded; channels need ltt.ko, probes
 * do not.
 *
 * The functions for probes are called in process context only, and may sleep.
 */
#ifndef LTT_MARKER_H
#define LTT_MARKER_H

#include <linux/compiler.h>
#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/stdarg.h>
#include <linux/tracepoint-defs.h>

#ifndef CONFIG_HAVE_ARCH_PREL32_RELOCATIONS
#error "ltt_marker.h: a list of tracepoints is known of x86-64 and arm64 only"
#endif

/**
 * struct ltt_marker - one place; made by the macros below. The module's loader takes it for a
 * tracepoint, and makes a jump label of its key; the kernel calls nothing there, but the marker
 * itself, with preemption off, so that it does not depend on the kernel's rules for probes.
 * @tp: its name is LTT_MARKER_PREFIX and the marker's.
 * @tracepoint, @probe: of DEFINE_MARKER_TP(), else NULL.
 * @hit: while the marker has a listener. ltt_instr.ko sets it and the members behind it.
 */
struct ltt_marker {
	struct tracepoint tp;
	const char *format;
	const char *file;
	unsigned int line;
	const char *tracepoint;
	void *probe;
	void (*hit)(struct ltt_marker *marker, ...);
	void *of_name;
	struct list_head alike;
};

#define LTT_MARKER_PREFIX "ltt_mark:"

#define LTT_MARKER_SITE(symbol_) \
	static struct ltt_marker symbol_ __used __aligned(32) __section("ltt_sites")
#define LTT_MARKER_INIT(name_, format_, tracepoint_, probe_)					\
	{											\
		.tp = { .name = LTT_MARKER_PREFIX #name_ }, .format = (format_),		\
		.file = __FILE__, .line = __LINE__,						\
		.tracepoint = (tracepoint_), .probe = (probe_),					\
	}

/* An entry of the module's list of tracepoints; they are relative, which no initialiser can be. The
 * code of an inline function has one for each place where it ends up. */
#define LTT_MARKER_ENTRY(symbol_)								\
	".pushsection __tracepoints_ptrs, \"a\"\n\t.balign 4\n\t.long " symbol_			\
	" - .\n\t.popsection"

static inline __printf(1, 2) void ltt_marker_check(const char *format, ...)
{
}

#define LTT_MARKER_PASS(marker_, ...)								\
	do {											\
		if (static_key_false((struct static_key *)&(marker_)->tp.key)) {		\
			void (*ltt__hit)(struct ltt_marker *, ...);				\
												\
			preempt_disable_notrace();						\
			ltt__hit = READ_ONCE((marker_)->hit);					\
			if (ltt__hit)								\
				ltt__hit(marker_, ##__VA_ARGS__);				\
			preempt_enable_notrace();						\
		}										\
	} while (0)

/** The values are checked by the compiler. */
#define trace_mark(name_, format_, ...)							\
	do {											\
		LTT_MARKER_SITE(ltt__site) = LTT_MARKER_INIT(name_, format_, NULL, NULL);	\
		asm volatile(LTT_MARKER_ENTRY("%c0") : : "i"(&ltt__site));			\
		if (0)										\
			ltt_marker_check(format_, ##__VA_ARGS__);				\
		LTT_MARKER_PASS(&ltt__site, ##__VA_ARGS__);					\
	} while (0)

/**
 * DEFINE_MARKER_TP() - at file scope, a marker without a place of its own: @probe_ is called at a
 * tracepoint of the kernel or of a module while the marker has a listener, with GET_MARKER(@name_)
 * as its data, and passes values on by ltt_mark_write(@name_, ...), as often as it likes. It is
 * declared before this, and the tracepoint's header and ltt_probe.h are included: the compiler
 * checks its type. One marker of a name has a probe.
 */
#define DEFINE_MARKER_TP(name_, tracepoint_, probe_, format_)					\
	LTT_MARKER_SITE(ltt_marker_##name_) =							\
		LTT_MARKER_INIT(name_, format_, #tracepoint_, (void *)(probe_));		\
	asm(LTT_MARKER_ENTRY("ltt_marker_" #name_));						\
	static const char ltt_marker_##name_##_format[] __maybe_unused = format_;		\
	static inline void __maybe_unused ltt_marker_##name_##_checked(void)			\
	{											\
		check_trace_callback_type_##tracepoint_(probe_);				\
	}											\
	static struct ltt_marker ltt_marker_##name_
#define GET_MARKER(name_) (&ltt_marker_##name_)
#define ltt_mark_write(name_, ...)								\
	do {											\
		if (0)										\
			ltt_marker_check(ltt_marker_##name_##_format, ##__VA_ARGS__);		\
		LTT_MARKER_PASS(GET_MARKER(name_), ##__VA_ARGS__);				\
	} while (0)

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
