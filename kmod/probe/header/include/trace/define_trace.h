/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * define_trace.h - stands before the kernel's file of that name, which every trace
 * header includes at its end. Where the kernel generates its own probes from the header, this
 * generates ours: it reads the header again for each stage, with other definitions of
 * TRACE_EVENT and its family. A source that includes a trace header after #define
 * CREATE_TRACE_POINTS gets, for each event,
 *
 *   1  struct record_CLASS       the payload's fixed part, packed
 *   2  struct parts_CLASS        a struct part for each dynamic array and string
 *   3 fields_CLASS[] the fields as reported to user space
 *   4  place_CLASS()             where the parts lie: the payload's size
 *   5  probe_CLASS()             the probe
 *   6  event_NAME                the descriptor, in the section of the registry
 */
#ifdef CREATE_TRACE_POINTS
#undef CREATE_TRACE_POINTS

#include "probe.h"

#undef TRACE_INCLUDE
#undef __TRACE_INCLUDE
#ifndef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE TRACE_SYSTEM
#endif
#ifndef TRACE_INCLUDE_PATH
#define __TRACE_INCLUDE(system) <trace/events/system.h>
#else
#define __TRACE_INCLUDE(system) __stringify(TRACE_INCLUDE_PATH/system.h)
#endif
#define TRACE_INCLUDE(system) __TRACE_INCLUDE(system)

#define TRACE_HEADER_MULTI_READ

/* --- the family, reduced to class and event ------------------------------- */

#undef TRACE_EVENT
#define TRACE_EVENT(name, proto, args, tstruct, assign, print)				\
	DECLARE_EVENT_CLASS(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct),		\
			    PARAMS(assign), PARAMS(print));				\
	DEFINE_EVENT(name, name, PARAMS(proto), PARAMS(args));
#undef TRACE_EVENT_FN
#define TRACE_EVENT_FN(name, proto, args, tstruct, assign, print, reg, unreg)		\
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign),	\
		    PARAMS(print))
#undef TRACE_EVENT_FN_COND
#define TRACE_EVENT_FN_COND(name, proto, args, cond, tstruct, assign, print, reg, unreg) \
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign),	\
		    PARAMS(print))
#undef TRACE_EVENT_CONDITION
#define TRACE_EVENT_CONDITION(name, proto, args, cond, tstruct, assign, print)		\
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign),	\
		    PARAMS(print))
#undef TRACE_EVENT_SYSCALL
#define TRACE_EVENT_SYSCALL(name, proto, args, tstruct, assign, print, reg, unreg)	\
	TRACE_EVENT(name, PARAMS(proto), PARAMS(args), PARAMS(tstruct), PARAMS(assign),	\
		    PARAMS(print))
#undef DEFINE_EVENT_FN
#define DEFINE_EVENT_FN(template, name, proto, args, reg, unreg)			\
	DEFINE_EVENT(template, name, PARAMS(proto), PARAMS(args))
#undef DEFINE_EVENT_PRINT
#define DEFINE_EVENT_PRINT(template, name, proto, args, print)				\
	DEFINE_EVENT(template, name, PARAMS(proto), PARAMS(args))
#undef DEFINE_EVENT_CONDITION
#define DEFINE_EVENT_CONDITION(template, name, proto, args, cond)			\
	DEFINE_EVENT(template, name, PARAMS(proto), PARAMS(args))
#undef TRACE_EVENT_NOP
#define TRACE_EVENT_NOP(name, proto, args, tstruct, assign, print)
#undef DECLARE_EVENT_CLASS_NOP
#define DECLARE_EVENT_CLASS_NOP(name, proto, args, tstruct, assign, print)
#undef DEFINE_EVENT_NOP
#define DEFINE_EVENT_NOP(template, name, proto, args)
#undef DECLARE_TRACE
#define DECLARE_TRACE(name, proto, args)
#undef DECLARE_TRACE_CONDITION
#define DECLARE_TRACE_CONDITION(name, proto, args, cond)
#undef TRACE_EVENT_FLAGS
#define TRACE_EVENT_FLAGS(name, value)
#undef TRACE_EVENT_PERF_PERM
#define TRACE_EVENT_PERF_PERM(name, expr...)
#undef TRACE_DEFINE_ENUM
#define TRACE_DEFINE_ENUM(a)
#undef TRACE_DEFINE_SIZEOF
#define TRACE_DEFINE_SIZEOF(a)
#undef DEFINE_EVENT
#define DEFINE_EVENT(template, name, proto, args)
#undef TP_STRUCT__entry
#define TP_STRUCT__entry(args...) args
#undef TP_fast_assign
#define TP_fast_assign(args...) args
#undef TP_printk
#define TP_printk(fmt, args...)
#undef TP_CONDITION
#define TP_CONDITION(args...) args

/* --- fields, reduced to five forms ---------------------------------------- */

#undef __field_ext
#define __field_ext(type, item, filter) __field(type, item)
#undef __field_struct_ext
#define __field_struct_ext(type, item, filter) __field_struct(type, item)
#undef __bitmask
#define __bitmask(item, nr_bits) \
	__dynamic_array(unsigned long, item, BITS_TO_LONGS(nr_bits))
#undef __cpumask
#define __cpumask(item) __bitmask(item, nr_cpumask_bits)
#undef __sockaddr
#define __sockaddr(item, len) __dynamic_array(u8, item, len)
#undef __string
#define __string(item, src)								\
	__text(item, src, strlen((src) ? (const char *)(src) : "(null)") + 1)
#undef __string_len
#define __string_len(item, src, len) __text(item, src, (len) + 1)
#undef __vstring
#define __vstring(item, fmt, ap) __text(item, NULL, __trace_event_vstr_len(fmt, ap))
#undef __rel_dynamic_array
#define __rel_dynamic_array(type, item, len) __dynamic_array(type, item, len)
#undef __rel_string
#define __rel_string(item, src) __string(item, src)
#undef __rel_string_len
#define __rel_string_len(item, src, len) __string_len(item, src, len)
#undef __rel_bitmask
#define __rel_bitmask(item, nr_bits) __bitmask(item, nr_bits)
#undef __rel_cpumask
#define __rel_cpumask(item) __cpumask(item)
#undef __rel_sockaddr
#define __rel_sockaddr(item, len) __sockaddr(item, len)

/*
 * LTT_SKIP_CLASS defined as 1 leaves that class and its events out: a placeholder that
 * only then exists shifts the macro's arguments by one.
 */
#ifndef LTT_UNLESS_SKIPPED
#define LTT_SKIPPED_1 0,
#define LTT_SECOND(a, b, ...) b
#define LTT_KEEP_IF(placeholder) LTT_SECOND(placeholder LTT_SKIP, LTT_KEEP, )
#define LTT_KEEP_(value) LTT_KEEP_IF(LTT_SKIPPED_##value)
#define LTT_KEEP(tokens...) tokens
#define LTT_SKIP(tokens...)
#define LTT_CHOICE(value) LTT_KEEP_(value)
#define LTT_UNLESS_SKIPPED(class) LTT_CHOICE(LTT_SKIP_##class)
#endif

/* 1: the fixed part */
#undef __field
#define __field(type, item) type item;
#undef __field_struct
#define __field_struct(type, item) type item;
#undef __array
#define __array(type, item, len) type item[len];
#undef __dynamic_array
#define __dynamic_array(type, item, len)
#undef __text
#define __text(item, src, bytes)
#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)			\
	LTT_UNLESS_SKIPPED(name)(							\
	struct record_##name {								\
		tstruct									\
	} __packed;)
#include TRACE_INCLUDE(TRACE_INCLUDE_FILE)

/* 2: the parts of varying length */
#undef __field
#define __field(type, item)
#undef __field_struct
#define __field_struct(type, item)
#undef __array
#define __array(type, item, len)
#undef __dynamic_array
#define __dynamic_array(type, item, len) struct part item;
#undef __text
#define __text(item, src, bytes) struct part item;
#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)			\
	LTT_UNLESS_SKIPPED(name)(							\
	struct parts_##name {								\
		tstruct									\
	};)
#include TRACE_INCLUDE(TRACE_INCLUDE_FILE)

/* 3: the fields as reported to user space; the types of plain fields have their macros expanded,
 * those of elements have not: so does tracefs */
#undef LTT_FIELD
#define LTT_FIELD(form_, type_, item, elem, count_, signed_)				\
	{ .name = #item, .type = type_, .elem_bytes = (elem), .count = (count_),	\
	  .form = form_, .is_signed = (signed_) },
#undef __field
#define __field(type, item) \
	LTT_FIELD(FORM_VALUE, __stringify(type), item, sizeof(type), 0, is_signed_type(type))
#undef __field_struct
#define __field_struct(type, item) \
	LTT_FIELD(FORM_STRUCT, __stringify(type), item, sizeof(type), 0, 0)
#undef __array
#define __array(type, item, len) \
	LTT_FIELD(FORM_ARRAY, #type, item, sizeof(type), len, is_signed_type(type))
#undef __dynamic_array
#define __dynamic_array(type, item, len) \
	LTT_FIELD(FORM_DYNAMIC, #type, item, sizeof(type), 0, is_signed_type(type))
#undef __text
#define __text(item, src, bytes) LTT_FIELD(FORM_STRING, "char", item, 1, 0, is_signed_type(char))
#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)			\
	LTT_UNLESS_SKIPPED(name)(							\
	static const struct field fields_##name[] = { tstruct };)
#include TRACE_INCLUDE(TRACE_INCLUDE_FILE)

/* 4: their places */
#undef __entry
#define __entry entry
#undef __field
#define __field(type, item)
#undef __field_struct
#define __field_struct(type, item)
#undef __array
#define __array(type, item, len)
#undef __dynamic_array
#define __dynamic_array(type, item, len) \
	end_ = part_array(&parts_->item, end_, (len) * sizeof(type), sizeof(type));
#undef __text
#define __text(item, src, bytes) end_ = part_string(&parts_->item, end_, bytes, src);
#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)			\
	LTT_UNLESS_SKIPPED(name)(							\
	static inline notrace u32 place_##name(				\
		struct parts_##name __maybe_unused *parts_, proto)			\
	{										\
		struct record_##name __maybe_unused *entry = NULL;			\
		u32 end_ = sizeof(struct record_##name);				\
											\
		tstruct;								\
		return end_;								\
	})
#include TRACE_INCLUDE(TRACE_INCLUDE_FILE)

/* 5: the probe */
#undef __dynamic_array
#define __dynamic_array(type, item, len)
#undef __text
#define __text(item, src, bytes)
#undef __get_dynamic_array
#define __get_dynamic_array(item) ((void *)entry + parts_.item.at)
#undef __get_dynamic_array_len
#define __get_dynamic_array_len(item) (parts_.item.bytes)
#undef __get_str
#define __get_str(item) ((char *)__get_dynamic_array(item))
#undef __get_bitmask
#define __get_bitmask(item) ((char *)__get_dynamic_array(item))
#undef __get_cpumask
#define __get_cpumask(item) ((char *)__get_dynamic_array(item))
#undef __get_sockaddr
#define __get_sockaddr(item) ((struct sockaddr *)__get_dynamic_array(item))
#undef __get_rel_dynamic_array
#define __get_rel_dynamic_array(item) __get_dynamic_array(item)
#undef __get_rel_dynamic_array_len
#define __get_rel_dynamic_array_len(item) __get_dynamic_array_len(item)
#undef __get_rel_str
#define __get_rel_str(item) __get_str(item)

#undef __assign_str
#undef __assign_rel_str
#ifdef COMPAT_ASSIGN_STR_ALONE
#define __assign_str(dst) part_copy_string(entry, &parts_.dst, parts_.dst.source)
#else
#define __assign_str(dst, src) part_copy_string(entry, &parts_.dst, (const char *)(src))
#endif
#define __assign_rel_str __assign_str
#undef __assign_str_len
#define __assign_str_len(dst, src, len) part_copy(entry, &parts_.dst, src, len)
#undef __assign_rel_str_len
#define __assign_rel_str_len(dst, src, len) part_copy(entry, &parts_.dst, src, len)
#undef __assign_vstr
#define __assign_vstr(dst, fmt, va)							\
	do {										\
		va_list ap_;								\
		va_copy(ap_, *(va));							\
		vsnprintf(__get_str(dst), parts_.dst.bytes, fmt, ap_);			\
		va_end(ap_);								\
	} while (0)
#undef __assign_bitmask
#define __assign_bitmask(dst, src, nr_bits) \
	part_copy(entry, &parts_.dst, src, BITS_TO_LONGS(nr_bits) * sizeof(long))
#undef __assign_cpumask
#define __assign_cpumask(dst, src) __assign_bitmask(dst, src, nr_cpumask_bits)
#undef __assign_sockaddr
#define __assign_sockaddr(dst, src, len) part_copy(entry, &parts_.dst, src, len)
#undef __assign_rel_bitmask
#define __assign_rel_bitmask(dst, src, nr_bits) __assign_bitmask(dst, src, nr_bits)
#undef __assign_rel_cpumask
#define __assign_rel_cpumask(dst, src) __assign_cpumask(dst, src)
#undef __assign_rel_sockaddr
#define __assign_rel_sockaddr(dst, src, len) __assign_sockaddr(dst, src, len)
#undef __perf_count
#define __perf_count(c) (c)
#undef __perf_task
#define __perf_task(t) (t)
#undef __perf_addr
#define __perf_addr(a) (a)

#undef LTT_NR_PARTS
#define LTT_NR_PARTS (sizeof(parts_) / sizeof(struct part))
#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)			\
	LTT_UNLESS_SKIPPED(name)(							\
	static __always_inline void write_##name(void *__data, proto)			\
	{										\
		struct hook *hook_ = __data;						\
		struct parts_##name parts_;						\
		struct record_##name *entry;						\
		struct ring *ring_;							\
		u32 len_;								\
		RING_STACK(stack_, LTT_NR_PARTS ? U16_MAX : sizeof(struct record_##name)); \
											\
		if (LTT_NR_PARTS && ring_skips(&hook_->source))				\
			return;								\
		len_ = place_##name(&parts_, args);					\
		entry = LTT_NR_PARTS ?							\
			ring_begin(&hook_->source, len_, &ring_) :			\
			ring_begin_fixed(&hook_->source, len_, &ring_, &stack_.head);	\
		if (!entry)								\
			return;								\
		parts_begin(entry, (struct part *)&parts_, LTT_NR_PARTS);		\
		{ assign; }								\
		parts_end(entry, (struct part *)&parts_, LTT_NR_PARTS);			\
		ring_end(ring_);							\
	}										\
	static notrace void probe_##name(void *__data, proto)				\
	{										\
		compat_probe_begin();							\
		write_##name(__data, args);						\
		compat_probe_end();							\
	})
#include TRACE_INCLUDE(TRACE_INCLUDE_FILE)

/* 6: the descriptor; a function that is never called checks the prototype */
#undef DECLARE_EVENT_CLASS
#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)
#undef DEFINE_EVENT
#define DEFINE_EVENT(template, name_, proto, args)					\
	LTT_UNLESS_SKIPPED(template)(							\
	static inline void __maybe_unused check_##name_(void)				\
	{										\
		check_trace_callback_type_##name_(probe_##template);			\
	}										\
	static struct event event_##name_ = {						\
		.system = __stringify(TRACE_SYSTEM),					\
		.name = #name_,								\
		.probe = probe_##template,						\
		.fields = fields_##template,						\
		.nr_fields = ARRAY_SIZE(fields_##template),				\
	};										\
	static struct event *listed_##name_ __used __section("ltt_events") = &event_##name_;)
#include TRACE_INCLUDE(TRACE_INCLUDE_FILE)

/* The next header of the same object gets the kernel's definitions again, by linux/tracepoint.h. */
#undef TRACE_HEADER_MULTI_READ
#undef TRACE_INCLUDE_FILE
#undef TRACE_INCLUDE_PATH
#undef DECLARE_TRACE
#undef DECLARE_TRACE_CONDITION
#undef TRACE_EVENT
#undef TRACE_EVENT_FN
#undef TRACE_EVENT_FN_COND
#undef TRACE_EVENT_CONDITION
#undef TRACE_EVENT_SYSCALL
#undef TRACE_EVENT_FLAGS
#undef TRACE_EVENT_PERF_PERM
#undef TRACE_EVENT_NOP
#undef DECLARE_EVENT_CLASS
#undef DECLARE_EVENT_CLASS_NOP
#undef DECLARE_EVENT_NOP
#undef DEFINE_EVENT
#undef DEFINE_EVENT_FN
#undef DEFINE_EVENT_PRINT
#undef DEFINE_EVENT_CONDITION
#undef DEFINE_EVENT_NOP
#endif
