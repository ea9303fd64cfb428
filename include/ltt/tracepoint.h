/* SPDX-License-Identifier: MIT */
/*
 * ltt/tracepoint.h - tracepoints typed by the compiler, for C (gnu99 and later)
 * and C++ (11 and later), with gcc and clang. Link with -lltt.
 *
 *	#include <ltt/tracepoint.h>
 *
 *	LTT_TRACEPOINT(web, request, (int id, const char *path), LTT_INFO,
 *		       ltt_int(int, id, id),
 *		       ltt_string(path, path))
 *
 *	int main(void)
 *	{
 *		ltt_trace(web, request, 42, "/index.html");
 *	}
 *
 * That is all: no provider file, no generator. A declaration stands at file (or
 * namespace) scope. It may be in a header that many files of a program include:
 * the sites of one name are merged. To keep the descriptions in one file only,
 * define LTT_TRACEPOINT_EXTERN before including this in all the others.
 *
 * LTT_TRACEPOINT(PROVIDER, NAME, (ARGS), LEVEL, FIELDS...)
 *	declares the event "PROVIDER:NAME". ARGS are parameters as of a function,
 *	() where there are none. LEVEL is one of enum ltt_loglevel. At most 64
 *	FIELDS; each is evaluated once, in their order, and only while there is a listener.
 * ltt_trace(PROVIDER, NAME, VALUES...)
 *	records. While there is no listener that is the test of one word; VALUES are
 *	not evaluated. Thread safe, async-signal safe, keeps errno.
 * ltt_enabled(PROVIDER, NAME)
 *	whether there is a listener: for work that only tracing needs.
 * LTT_EVENT_CLASS(PROVIDER, CLASS, (ARGS), FIELDS...)
 * LTT_EVENT(PROVIDER, CLASS, NAME, LEVEL)
 *	several events of one layout share its description and its code.
 *
 * Fields. NAME is an identifier, and no other field of the event has it. TYPE is an integer
 * type (bool and enums included), or as stated:
 *	ltt_int, ltt_hex, ltt_oct, ltt_bin (TYPE, NAME, VALUE)
 *	ltt_net, ltt_net_hex (TYPE, NAME, VALUE)	VALUE is in network byte order
 *	ltt_ptr(NAME, VALUE)				an address
 *	ltt_float(TYPE, NAME, VALUE)			float or double
 *	ltt_string(NAME, TEXT)				NULL is recorded as "(null)"
 *	ltt_array, ltt_array_hex (TYPE, NAME, POINTER, COUNT)
 *	ltt_array_text(NAME, POINTER, COUNT)		COUNT is a constant
 *	ltt_sequence, ltt_sequence_hex (TYPE, NAME, POINTER, LENGTH_TYPE, COUNT)
 *	ltt_sequence_text(NAME, POINTER, LENGTH_TYPE, COUNT)
 *	ltt_enum(TYPE, PROVIDER, ENUMERATION, NAME, VALUE)
 *	ltt_nowrite(FIELD)	for filters and probes: computed, never recorded
 * Elements of arrays and sequences may be of type float and double as well. A NULL
 * array is recorded as zeros, a NULL sequence as empty; a COUNT that LENGTH_TYPE
 * cannot hold is cut.
 *
 * LTT_ENUM(PROVIDER, ENUMERATION, LABELS...), before the tracepoints that use it:
 *	ltt_value("LABEL", N), ltt_range("LABEL", FIRST, LAST), ltt_auto("LABEL")
 *	where ltt_auto takes the number behind the one before it.
 */
#ifndef LTT_TRACEPOINT_H
#define LTT_TRACEPOINT_H

#include <ltt/foreach.h>
#include <ltt/object.h>
#include <ltt/payload.h>

#define ltt_enabled(provider, name) ltt_site_armed(&ltt_site_##provider##__##name)

#define ltt_trace(provider, name, ...) \
	do { \
		if (ltt_site_armed(&ltt_site_##provider##__##name)) \
			ltt_emit_##provider##__##name(&ltt_site_##provider##__##name, \
						      ##__VA_ARGS__); \
	} while (0)

#define LTT_TRACEPOINT(provider, name, args, level, ...) \
	LTT__CLASS(provider##__##name, args, __VA_ARGS__) \
	LTT__EVENT(provider##__##name, provider##__##name, #provider ":" #name, level)

#define LTT_EVENT_CLASS(provider, name, args, ...) \
	LTT__CLASS(provider##__##name, args, __VA_ARGS__)

#define LTT_EVENT(provider, class_name, name, level) \
	LTT__EVENT(provider##__##class_name, provider##__##name, #provider ":" #name, level)

/*
 * A field is a tuple: whether it is recorded (ltt__w) or not (ltt__n), its shape
 * (ltt__num, ltt__str, ltt__arr or ltt__seq), its name as an identifier, so that no two
 * have the same, and as a text, and what the shape needs:
 *	ltt__num: type, value, kind, base, flags, enumeration
 *	ltt__str: text
 *	ltt__arr: type, what the pointer points to, pointer, count, base, flags
 *	ltt__seq: the same with the type of the length before the count
 */
#define LTT__NUM(ident, name, type, value, base, flags) \
	(ltt__w, ltt__num, ident, name, type, value, LTT_KIND_INT, base, \
	 LTT__SIGNED(type) | (flags), 0)
#define ltt_int(type, name, value) LTT__NUM(ltt_field_##name, #name, type, value, 10, 0)
#define ltt_hex(type, name, value) LTT__NUM(ltt_field_##name, #name, type, value, 16, 0)
#define ltt_oct(type, name, value) LTT__NUM(ltt_field_##name, #name, type, value, 8, 0)
#define ltt_bin(type, name, value) LTT__NUM(ltt_field_##name, #name, type, value, 2, 0)
#define ltt_net(type, name, value) \
	LTT__NUM(ltt_field_##name, #name, type, value, 10, LTT_FIELD_BIG_ENDIAN)
#define ltt_net_hex(type, name, value) \
	LTT__NUM(ltt_field_##name, #name, type, value, 16, LTT_FIELD_BIG_ENDIAN)
#define ltt_ptr(name, value) LTT__NUM(ltt_field_##name, #name, uintptr_t, value, 16, 0)
#define ltt_float(type, name, value) \
	(ltt__w, ltt__num, ltt_field_##name, #name, type, value, LTT_KIND_FLOAT, 10, \
	 LTT_FIELD_SIGNED, 0)
#define ltt_enum(type, provider, enumeration, name, value) \
	(ltt__w, ltt__num, ltt_field_##name, #name, type, value, LTT_KIND_ENUM, 10, \
	 LTT__SIGNED(type), &ltt_enum_##provider##__##enumeration)
#define ltt_string(name, text) (ltt__w, ltt__str, ltt_field_##name, #name, text)
#define ltt_array(type, name, pointer, count) \
	(ltt__w, ltt__arr, ltt_field_##name, #name, type, type, pointer, count, 10, \
	 LTT__ELEMENT(type))
#define ltt_array_hex(type, name, pointer, count) \
	(ltt__w, ltt__arr, ltt_field_##name, #name, type, type, pointer, count, 16, \
	 LTT__ELEMENT(type))
#define ltt_array_text(name, pointer, count) \
	(ltt__w, ltt__arr, ltt_field_##name, #name, char, void, pointer, count, 10, LTT_FIELD_TEXT)
#define ltt_sequence(type, name, pointer, length_type, count) \
	(ltt__w, ltt__seq, ltt_field_##name, #name, type, type, pointer, length_type, count, 10, \
	 LTT__ELEMENT(type))
#define ltt_sequence_hex(type, name, pointer, length_type, count) \
	(ltt__w, ltt__seq, ltt_field_##name, #name, type, type, pointer, length_type, count, 16, \
	 LTT__ELEMENT(type))
#define ltt_sequence_text(name, pointer, length_type, count) \
	(ltt__w, ltt__seq, ltt_field_##name, #name, char, void, pointer, length_type, count, 10, \
	 LTT_FIELD_TEXT)
#define ltt_nowrite(field) LTT__NOWRITE_ field
#define LTT__NOWRITE_(written, ...) (ltt__n, __VA_ARGS__)

#define LTT__SIGNED(type) ((type)-1 < (type)1 ? LTT_FIELD_SIGNED : 0)
#define LTT__IS_FLOAT(type) ((type)1.5 != (type)1)
#define LTT__ELEMENT(type) \
	((LTT__IS_FLOAT(type) ? LTT_FIELD_FLOAT_ELEM : 0) | LTT__SIGNED(type))
#define LTT__BITS(type) (uint8_t)(sizeof(type) * 8)

/* LTT__DO(OP, n, field): OP_shape(n, name, ...), whether it is recorded or not;
 * LTT__DO_W and LTT__DO_N: only where it is, or is not. */
#define LTT__DO(op, n, field) LTT__DO_(op, n, LTT__OPEN field)
#define LTT__DO_W(op, n, field) LTT__DO_W_(op, n, LTT__OPEN field)
#define LTT__DO_N(op, n, field) LTT__DO_N_(op, n, LTT__OPEN field)
#define LTT__OPEN(...) __VA_ARGS__
#define LTT__DO_(...) LTT__DO__(__VA_ARGS__)
#define LTT__DO_W_(...) LTT__DO_W__(__VA_ARGS__)
#define LTT__DO_N_(...) LTT__DO_N__(__VA_ARGS__)
#define LTT__DO__(op, n, written, shape, ident, ...) op##_##shape(n, __VA_ARGS__)
#define LTT__DO_W__(op, n, written, shape, ident, ...) \
	LTT__W_##written(op##_##shape(n, __VA_ARGS__))
#define LTT__DO_N__(op, n, written, shape, ident, ...) \
	LTT__N_##written(op##_##shape(n, __VA_ARGS__))
#define LTT__W_ltt__w(...) __VA_ARGS__
#define LTT__W_ltt__n(...)
#define LTT__N_ltt__w(...)
#define LTT__N_ltt__n(...) __VA_ARGS__

/* An argument that is not a field (or label) is named in the error; its event is not declared. */
#define LTT__REFUSE(n, id, field) LTT__CAT(LTT__REFUSE_, LTT__TUPLE(field))(field)
#define LTT__REFUSE_0(...) \
	LTT__ASSERT(0, "ltt: no macro of <ltt/tracepoint.h> is named like this: " #__VA_ARGS__);
#define LTT__REFUSE_1(...)

/* Names as members of a structure: the compiler names one that is there twice. */
#define LTT__NAME(n, id, field) LTT__NAME_(LTT__OPEN field)
#define LTT__NAME_(...) LTT__NAME__(__VA_ARGS__)
#define LTT__NAME__(written, shape, ident, ...) char ident;

/* The entry of the field table. */
#define LTT__ENTRY_W(n, id, field) LTT__DO_W(LTT__ENTRY, n, field)
#define LTT__ENTRY_N(n, id, field) LTT__DO_N(LTT__ENTRY_N, n, field)
#define LTT__ENTRY_ltt__num(n, name, type, value, kind, base, flags, enumeration) \
	{ name, enumeration, 0, kind, LTT__BITS(type), 0, base, flags, 0 },
#define LTT__ENTRY_ltt__str(n, name, text) { name, 0, 0, LTT_KIND_STRING, 8, 0, 10, 0, 0 },
#define LTT__ENTRY_ltt__arr(n, name, type, as, pointer, count, base, flags) \
	{ name, 0, count, LTT_KIND_ARRAY, LTT__BITS(type), 0, base, flags, 0 },
#define LTT__ENTRY_ltt__seq(n, name, type, as, pointer, length_type, count, base, flags) \
	{ name, 0, 0, LTT_KIND_SEQUENCE, LTT__BITS(type), LTT__BITS(length_type), base, flags, 0 },
#define LTT__ENTRY_N_ltt__num(n, name, type, value, kind, base, flags, enumeration) \
	LTT__ENTRY_ltt__num(n, name, type, value, kind, base, (flags) | LTT_FIELD_NOWRITE, \
			    enumeration)
#define LTT__ENTRY_N_ltt__str(n, name, text) \
	{ name, 0, 0, LTT_KIND_STRING, 8, 0, 10, LTT_FIELD_NOWRITE, 0 },
#define LTT__ENTRY_N_ltt__arr(n, name, type, as, pointer, count, base, flags) \
	LTT__ENTRY_ltt__arr(n, name, type, as, pointer, count, base, (flags) | LTT_FIELD_NOWRITE)
#define LTT__ENTRY_N_ltt__seq(n, name, type, as, pointer, length_type, count, base, flags) \
	LTT__ENTRY_ltt__seq(n, name, type, as, pointer, length_type, count, base, \
			    (flags) | LTT_FIELD_NOWRITE)

/* Evaluate: ltt__vN is the value or where it lies, ltt__nN how many. */
#define LTT__EVAL(n, id, field) LTT__DO(LTT__EVAL, n, field)
#define LTT__EVAL_ltt__num(n, name, type, value, kind, base, flags, enumeration) \
	LTT__CHECK_##kind(type) \
	type ltt__v##n = (type)(value);
#define LTT__EVAL_ltt__str(n, name, text) \
	const char *const ltt__v##n = ltt__text(text); \
	const size_t ltt__n##n = strlen(ltt__v##n);
#define LTT__EVAL_ltt__arr(n, name, type, as, pointer, count, base, flags) \
	LTT__ASSERT(sizeof(type) <= 8, "ltt: an element has at most 64 bits"); \
	const as *const ltt__v##n = (pointer);
#define LTT__EVAL_ltt__seq(n, name, type, as, pointer, length_type, count, base, flags) \
	LTT__ASSERT(sizeof(type) <= 8, "ltt: an element has at most 64 bits"); \
	LTT__ASSERT((length_type)-1 > (length_type)1, "ltt: a length is unsigned"); \
	const as *const ltt__v##n = (pointer); \
	const length_type ltt__n##n = \
		(length_type)ltt__length(ltt__v##n, (int64_t)(count), (length_type)-1);

/* ltt_float() is for float and double, the others are for all other types. */
#define LTT__CHECK_LTT_KIND_INT(type) \
	LTT__ASSERT(sizeof(type) <= 8 && sizeof(LTT__INTEGER(type)), \
		    "ltt: an integer has at most 64 bits");
#define LTT__CHECK_LTT_KIND_ENUM LTT__CHECK_LTT_KIND_INT
#define LTT__CHECK_LTT_KIND_FLOAT(type) \
	LTT__ASSERT(sizeof(type) <= 8 && sizeof(__builtin_isnan((type)0)), \
		    "ltt: a floating point number has at most 64 bits");
#ifdef __cplusplus
#define LTT__INTEGER(type) char[LTT__IS_FLOAT(type) ? -1 : 1]
#else
#define LTT__INTEGER(type) ((type)0 & (type)1)
#endif

/* Bytes that are known at compile time; whether there are others; all of them. */
#define LTT__FIXED(n, id, field) LTT__DO(LTT__FIXED, n, field)
#define LTT__FIXED_ltt__num(n, name, type, ...) + sizeof(type)
#define LTT__FIXED_ltt__str(n, name, text) + 1
#define LTT__FIXED_ltt__arr(n, name, type, as, pointer, count, ...) + sizeof(type) * (count)
#define LTT__FIXED_ltt__seq(n, name, type, as, pointer, length_type, ...) + sizeof(length_type)
#define LTT__VARIES(n, id, field) LTT__DO(LTT__VARIES, n, field)
#define LTT__VARIES_ltt__num(...)
#define LTT__VARIES_ltt__str(...) || 1
#define LTT__VARIES_ltt__arr(...)
#define LTT__VARIES_ltt__seq(...) || 1
#define LTT__SIZE(n, id, field) LTT__DO(LTT__SIZE, n, field)
#define LTT__SIZE_ltt__num LTT__FIXED_ltt__num
#define LTT__SIZE_ltt__str(n, name, text) + ltt__n##n + 1
#define LTT__SIZE_ltt__arr LTT__FIXED_ltt__arr
#define LTT__SIZE_ltt__seq(n, name, type, as, pointer, length_type, ...) \
	+ sizeof(length_type) + sizeof(type) * (size_t)ltt__n##n

/* Serialise. */
#define LTT__WRITE_W(n, id, field) LTT__DO_W(LTT__WRITE, n, field)
#define LTT__WRITE_N(n, id, field) LTT__DO_N(LTT__WRITE, n, field)
#define LTT__WRITE_ltt__num(n, ...) ltt__at = ltt__put(ltt__at, &ltt__v##n, sizeof(ltt__v##n));
#define LTT__WRITE_ltt__str(n, ...) ltt__at = ltt__put_string(ltt__at, ltt__v##n, ltt__n##n);
#define LTT__WRITE_ltt__arr(n, name, type, as, pointer, count, ...) \
	ltt__at = ltt__put(ltt__at, ltt__v##n, sizeof(type) * (count));
#define LTT__WRITE_ltt__seq(n, name, type, ...) \
	ltt__at = ltt__put(ltt__at, &ltt__n##n, sizeof(ltt__n##n)); \
	ltt__at = ltt__put(ltt__at, ltt__v##n, sizeof(type) * (size_t)ltt__n##n);

/* Whether a layout is recorded numbers only; and those as one word. */
#define LTT__ODD(n, id, field) LTT__DO(LTT__ODD, n, field) LTT__DO_N(LTT__ODD_N, n, field)
#define LTT__ODD_ltt__num(...)
#define LTT__ODD_ltt__str(...) || 1
#define LTT__ODD_ltt__arr(...) || 1
#define LTT__ODD_ltt__seq(...) || 1
#define LTT__ODD_N_ltt__num(...) || 1
#define LTT__ODD_N_ltt__str(...)
#define LTT__ODD_N_ltt__arr(...)
#define LTT__ODD_N_ltt__seq(...)
#define LTT__PACK(n, id, field) LTT__DO(LTT__PACK, n, field)
#define LTT__PACK_ltt__num(n, ...) \
	ltt__word |= ltt__bits(&ltt__v##n, sizeof(ltt__v##n)) << (ltt__filled * 8 & 63); \
	ltt__filled += sizeof(ltt__v##n);
#define LTT__PACK_ltt__str(...)
#define LTT__PACK_ltt__arr(...)
#define LTT__PACK_ltt__seq(...)

#define LTT__ROOM(fixed, varies) \
	((fixed) > LTT__STACK_PAYLOAD ? 0 : (varies) ? LTT__STACK_PAYLOAD : (fixed))

/* (ARGS) with the site in front; () and (void) both mean no arguments. */
#define LTT__WITH_SITE(...) LTT__WITH_SITE_(LTT__NOTHING(__VA_ARGS__, ~), __VA_ARGS__)
#define LTT__WITH_SITE_(...) LTT__WITH_SITE__(__VA_ARGS__)
#define LTT__WITH_SITE__(nothing, ...) LTT__WITH_SITE_##nothing(__VA_ARGS__)
#define LTT__WITH_SITE_1(...) (struct ltt_site *ltt__site)
#define LTT__WITH_SITE_0(...) (struct ltt_site *ltt__site, __VA_ARGS__)
#define LTT__NOTHING(first, ...) LTT__SECOND(LTT__NOTHING_##first (~), 0, 0)
#define LTT__NOTHING_(tail) ~, 1
#define LTT__NOTHING_void(tail) ~, 1

/*
 * Code and field table of a layout. A few numbers that fit one word travel in a
 * register; anything else is serialised in memory first. The code is a function
 * of its own: inlined it would burden the traced function with a buffer and, in
 * hardened builds, with a stack guard that is paid while tracing is off.
 */
#define LTT__CLASS(id, args, ...) \
	LTT__CAT(LTT__CLASS_, LTT__FORM(__VA_ARGS__))(id, args, __VA_ARGS__)
#define LTT__CLASS_0(id, args, ...) \
	LTT__EACH(LTT__REFUSE, id, __VA_ARGS__) \
	LTT__CLASS_NONE(id, args)
#define LTT__CLASS_2(id, args, ...) \
	LTT__ASSERT(0, "ltt: an event has at most 64 fields"); \
	LTT__CLASS_NONE(id, args)
#define LTT__CLASS_NONE(id, args) \
	LTT__UNUSED static const struct ltt_field ltt_fields_##id[] = { \
		{ 0, 0, 0, 0, 0, 0, 0, 0, 0 } \
	}; \
	_Pragma("GCC diagnostic push") \
	_Pragma("GCC diagnostic ignored \"-Wunused-parameter\"") \
	__attribute__((unused)) static void ltt_class_##id LTT__WITH_SITE args {} \
	_Pragma("GCC diagnostic pop")
#define LTT__CLASS_1(id, args, ...) \
	struct ltt_names_##id { LTT__EACH(LTT__NAME, id, __VA_ARGS__) char ltt__end; }; \
	LTT__UNUSED static const struct ltt_field ltt_fields_##id[] = { \
		LTT__EACH(LTT__ENTRY_W, id, __VA_ARGS__) LTT__EACH(LTT__ENTRY_N, id, __VA_ARGS__) \
		{ 0, 0, 0, 0, 0, 0, 0, 0, 0 } \
	}; \
	_Pragma("GCC diagnostic push") \
	_Pragma("GCC diagnostic ignored \"-Wunused-parameter\"") \
	__attribute__((noinline, unused)) static void ltt_class_##id LTT__WITH_SITE args \
	{ \
		LTT__EACH(LTT__EVAL, id, __VA_ARGS__) \
		const size_t ltt__size = 0 LTT__EACH(LTT__SIZE, id, __VA_ARGS__); \
		if (!(0 LTT__EACH(LTT__ODD, id, __VA_ARGS__)) && ltt__size - 1 < 8) { \
			uint64_t ltt__word = 0; \
			size_t ltt__filled = 0; \
			LTT__EACH(LTT__PACK, id, __VA_ARGS__) \
			ltt_emit_word(ltt__site, ltt__word, ltt__filled); \
			return; \
		} \
		unsigned char ltt__stack[LTT__ROOM(0 LTT__EACH(LTT__FIXED, id, __VA_ARGS__), \
						   0 LTT__EACH(LTT__VARIES, id, __VA_ARGS__)) \
					 + LTT_PAYLOAD_SLACK]; \
		unsigned char *ltt__begin = ltt__stack, *ltt__at, *ltt__end; \
		__asm__("" : "=m"(ltt__stack)); /* the slack: any content */ \
		if (ltt__size > sizeof(ltt__stack) - LTT_PAYLOAD_SLACK) { \
			ltt__begin = (unsigned char *)ltt_stage(ltt__site, ltt__size); \
			if (!ltt__begin) \
				return; \
		} \
		ltt__at = ltt__begin; \
		LTT__EACH(LTT__WRITE_W, id, __VA_ARGS__) \
		ltt__end = ltt__at; \
		LTT__EACH(LTT__WRITE_N, id, __VA_ARGS__) \
		ltt_emit(ltt__site, ltt__begin, (size_t)(ltt__end - ltt__begin), \
			 (size_t)(ltt__at - ltt__end)); \
		if (ltt__begin != ltt__stack) \
			ltt_unstage(ltt__begin); \
	} \
	_Pragma("GCC diagnostic pop")

#ifdef LTT_TRACEPOINT_EXTERN
#define LTT__EVENT(cls, id, name_, level) \
	LTT__C_BEGIN extern struct ltt_site ltt_site_##id LTT__HIDDEN; LTT__C_END \
	LTT__UNUSED static __typeof__(ltt_class_##cls) *const ltt_emit_##id = ltt_class_##cls;
#else
#define LTT__EVENT(cls, id, name_, level) \
	static const struct ltt_event ltt_event_##id = { \
		sizeof(struct ltt_event), sizeof(struct ltt_field), \
		sizeof(ltt_fields_##cls) / sizeof(ltt_fields_##cls[0]) - 1, \
		name_, ltt_fields_##cls, 0, __FILE__, "", __LINE__, \
		LTT_EVENT_TRACEPOINT, level, { 0, 0 } \
	}; \
	LTT__C_BEGIN \
	LTT__MERGED struct ltt_site ltt_site_##id = { \
		0, sizeof(struct ltt_site), &ltt_event_##id, 0, 0, 0 \
	}; \
	LTT__C_END \
	LTT__LISTED static struct ltt_site *const ltt_listed_##id = &ltt_site_##id; \
	LTT__UNUSED static __typeof__(ltt_class_##cls) *const ltt_emit_##id = ltt_class_##cls;
#endif

/* A label is a tuple: shape, label, first, last. */
#define ltt_value(label, number) (ltt__value, label, number, 0)
#define ltt_range(label, first, last) (ltt__range, label, first, last)
#define ltt_auto(label) (ltt__auto, label, 0, 0)

#define LTT_ENUM(provider, name, ...) LTT__ENUM(provider##__##name, #name, __VA_ARGS__)

/* C's own enumeration assigns the numbers for ltt_auto. */
#define LTT__ENUM(id, name_, ...) \
	LTT__CAT(LTT__ENUM_, LTT__FORM(__VA_ARGS__))(id, name_, __VA_ARGS__)
#define LTT__ENUM_0(id, name_, ...) \
	LTT__EACH(LTT__REFUSE, id, __VA_ARGS__) \
	LTT__ENUM_NONE(id, name_)
#define LTT__ENUM_2(id, name_, ...) \
	LTT__ASSERT(0, "ltt: an enumeration has at most 64 labels"); \
	LTT__ENUM_NONE(id, name_)
#define LTT__ENUM_NONE(id, name_) \
	LTT__UNUSED static const struct ltt_enum ltt_enum_##id = { name_, 0, 0, 0 };
#define LTT__ENUM_1(id, name_, ...) \
	enum { LTT__EACH(LTT__COUNTER, id, __VA_ARGS__) }; \
	static const struct ltt_enum_entry ltt_labels_##id[] = { \
		LTT__EACH(LTT__LABEL, id, __VA_ARGS__) \
	}; \
	LTT__UNUSED static const struct ltt_enum ltt_enum_##id = { \
		name_, ltt_labels_##id, sizeof(ltt_labels_##id) / sizeof(ltt_labels_##id[0]), 0 \
	};
#define LTT__COUNTER(n, id, tuple) LTT__COUNTER_(n, id, LTT__OPEN tuple)
#define LTT__COUNTER_(...) LTT__COUNTER__(__VA_ARGS__)
#define LTT__COUNTER__(n, id, shape, label, first, last) \
	LTT__COUNTER_##shape(ltt__first_##id##_##n, ltt__last_##id##_##n, first, last)
#define LTT__COUNTER_ltt__value(begin, end, first, last) begin = (first), end = begin,
#define LTT__COUNTER_ltt__range(begin, end, first, last) begin = (first), end = (last),
#define LTT__COUNTER_ltt__auto(begin, end, first, last) begin, end = begin,
#define LTT__LABEL(n, id, tuple) LTT__LABEL_(n, id, LTT__OPEN tuple)
#define LTT__LABEL_(...) LTT__LABEL__(__VA_ARGS__)
#define LTT__LABEL__(n, id, shape, label, first, last) \
	{ label, (int64_t)ltt__first_##id##_##n, (int64_t)ltt__last_##id##_##n },

#endif
