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
 * LTT_SPAN(PROVIDER, NAME, (ARGS), LEVEL, FIELDS...)
 *	declares the events "PROVIDER:NAME_begin", with these fields, and "PROVIDER:NAME_end", with
 *	none: a pair, whose durations `lttctl latency` shows.
 * ltt_span(PROVIDER, NAME, VALUES...)
 *	records the begin, and the end when the block is left where it stands, by return, break,
 *	goto or an exception of C++, but not by longjmp(). It declares a variable; one of a name
 *	in a line. The end is recorded if the begin had a listener.
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
 * Other tools see an event where ltt_trace() is used: each program and library that uses it has an
 * SDT note (ltt/sdt.h). perf and bpftrace list it, and get its fields, also if nothing is recorded.
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
#include <ltt/sdt.h>
#include <ltt/typed.h>

#define ltt_enabled(provider, name) ltt_site_armed(&ltt_site_##provider##__##name)

/*
 * There are two calls, and VALUES twice in the text, as the address of the function that records
 * must not be taken here: the compiler then passes constants on into it (the length of a string),
 * which saves a third of the time of such an event.
 */
#define ltt_trace(provider, name, ...) \
	do { \
		const uint32_t ltt__armed = \
			__atomic_load_n(&ltt_site_##provider##__##name.armed, __ATOMIC_RELAXED); \
		if (ltt_unlikely(ltt__armed)) { \
			if (ltt_unlikely(ltt__armed & LTT_SITE_TYPED)) \
				((ltt_emit_fn_##provider##__##name *)ltt__typed_call())( \
					&ltt_site_##provider##__##name, ##__VA_ARGS__); \
			else \
				ltt_emit_##provider##__##name(&ltt_site_##provider##__##name, \
							      ##__VA_ARGS__); \
			LTT__RETURNS_HERE(); \
			LTT__SDT_POINT(provider##__##name, #provider, #name); \
		} \
	} while (0)

#define LTT_TRACEPOINT(provider, name, args, level, ...) \
	LTT__TYPED_CLASS(provider##__##name, args, #args) \
	LTT__CLASS(provider##__##name, args, __VA_ARGS__) \
	LTT__EVENT(provider##__##name, provider##__##name, #provider ":" #name, level)

#define LTT_SPAN(provider, name, args, level, ...) \
	LTT_TRACEPOINT(provider, name##_begin, args, level, ##__VA_ARGS__) \
	LTT_TRACEPOINT(provider, name##_end, (), level) \
	static inline __attribute__((__unused__, __no_instrument_function__)) void \
	ltt_span_end_##provider##__##name(const unsigned int *ltt__begun) \
	{ \
		if (ltt_unlikely(*ltt__begun)) \
			ltt_trace(provider, name##_end); \
	}

#define ltt_span(provider, name, ...) \
	__attribute__((__cleanup__(ltt_span_end_##provider##__##name), __unused__)) \
	const unsigned int LTT__SPAN_NAME(ltt_span_##provider##__##name##_, __LINE__) = \
		ltt_enabled(provider, name##_begin); \
	ltt_trace(provider, name##_begin, ##__VA_ARGS__)
#define LTT__SPAN_NAME(name, line) LTT__SPAN_NAME_(name, line)
#define LTT__SPAN_NAME_(name, line) name##line

#define LTT_EVENT_CLASS(provider, name, args, ...) \
	LTT__TYPED_CLASS(provider##__##name, args, #args) \
	LTT__CLASS(provider##__##name, args, __VA_ARGS__)

#define LTT_EVENT(provider, class_name, name, level) \
	LTT__EVENT(provider##__##class_name, provider##__##name, #provider ":" #name, level)

/*
 * The fields. A row makes a tuple: whether the field is recorded (ltt__w) or not (ltt__n), its
 * shape, its name as an identifier, so that no two have the same, and as a text, the arguments
 * of the shape, and the description: the members of struct ltt_field from `enumeration` to
 * `flags`, all of them and in their order.
 *
 * LTT__IS(member, value) initialises one of them. Programs get the value alone: they may have
 * macros named `count` or `flags`, and C++ before 20 has no designated initialisers. The tests
 * define it as a designated initialiser, so that the compiler checks names and order.
 */
#ifndef LTT__IS
#define LTT__IS(member, value) value
#endif
#define LTT__FIELD(shape, ident, text, arguments, ...) \
	(ltt__w, ltt__##shape, ident, text, arguments, __VA_ARGS__)

#define ltt_int(type, name, value) \
	LTT__FIELD(integer, ltt_field_##name, #name, (type, value), \
		   LTT__SCALAR(LTT_KIND_INT, type), LTT__IS(base, 10), \
		   LTT__IS(flags, LTT__SIGNED(type)))
#define ltt_hex(type, name, value) \
	LTT__FIELD(integer, ltt_field_##name, #name, (type, value), \
		   LTT__SCALAR(LTT_KIND_INT, type), LTT__IS(base, 16), \
		   LTT__IS(flags, LTT__SIGNED(type)))
#define ltt_oct(type, name, value) \
	LTT__FIELD(integer, ltt_field_##name, #name, (type, value), \
		   LTT__SCALAR(LTT_KIND_INT, type), LTT__IS(base, 8), \
		   LTT__IS(flags, LTT__SIGNED(type)))
#define ltt_bin(type, name, value) \
	LTT__FIELD(integer, ltt_field_##name, #name, (type, value), \
		   LTT__SCALAR(LTT_KIND_INT, type), LTT__IS(base, 2), \
		   LTT__IS(flags, LTT__SIGNED(type)))
#define ltt_net(type, name, value) \
	LTT__FIELD(integer, ltt_field_##name, #name, (type, value), \
		   LTT__SCALAR(LTT_KIND_INT, type), LTT__IS(base, 10), \
		   LTT__IS(flags, LTT__SIGNED(type) | LTT_FIELD_BIG_ENDIAN))
#define ltt_net_hex(type, name, value) \
	LTT__FIELD(integer, ltt_field_##name, #name, (type, value), \
		   LTT__SCALAR(LTT_KIND_INT, type), LTT__IS(base, 16), \
		   LTT__IS(flags, LTT__SIGNED(type) | LTT_FIELD_BIG_ENDIAN))
#define ltt_ptr(name, value) \
	LTT__FIELD(integer, ltt_field_##name, #name, (uintptr_t, value), \
		   LTT__SCALAR(LTT_KIND_INT, uintptr_t), LTT__IS(base, 16), LTT__IS(flags, 0))
#define ltt_float(type, name, value) \
	LTT__FIELD(float, ltt_field_##name, #name, (type, value), \
		   LTT__SCALAR(LTT_KIND_FLOAT, type), LTT__IS(base, 10), \
		   LTT__IS(flags, LTT_FIELD_SIGNED))
#define ltt_enum(type, provider, enumeration_, name, value) \
	LTT__FIELD(integer, ltt_field_##name, #name, (type, value), \
		   LTT__IS(enumeration, &ltt_enum_##provider##__##enumeration_), \
		   LTT__IS(count, 0), LTT__IS(kind, LTT_KIND_ENUM), \
		   LTT__IS(size_bits, LTT__BITS(type)), LTT__IS(length_bits, 0), \
		   LTT__IS(base, 10), LTT__IS(flags, LTT__SIGNED(type)))
#define ltt_string(name, text) \
	LTT__FIELD(string, ltt_field_##name, #name, (text), \
		   LTT__SCALAR(LTT_KIND_STRING, char), LTT__IS(base, 10), LTT__IS(flags, 0))
#define ltt_array(type, name, pointer, count) \
	LTT__FIELD(array, ltt_field_##name, #name, (type, type, pointer, count), \
		   LTT__ARRAY(type, count), LTT__IS(base, 10), LTT__IS(flags, LTT__ELEMENT(type)))
#define ltt_array_hex(type, name, pointer, count) \
	LTT__FIELD(array, ltt_field_##name, #name, (type, type, pointer, count), \
		   LTT__ARRAY(type, count), LTT__IS(base, 16), LTT__IS(flags, LTT__ELEMENT(type)))
#define ltt_array_text(name, pointer, count) \
	LTT__FIELD(array, ltt_field_##name, #name, (char, void, pointer, count), \
		   LTT__ARRAY(char, count), LTT__IS(base, 10), LTT__IS(flags, LTT_FIELD_TEXT))
#define ltt_sequence(type, name, pointer, length_type, count) \
	LTT__FIELD(sequence, ltt_field_##name, #name, (type, type, pointer, length_type, count), \
		   LTT__SEQUENCE(type, length_type), LTT__IS(base, 10), \
		   LTT__IS(flags, LTT__ELEMENT(type)))
#define ltt_sequence_hex(type, name, pointer, length_type, count) \
	LTT__FIELD(sequence, ltt_field_##name, #name, (type, type, pointer, length_type, count), \
		   LTT__SEQUENCE(type, length_type), LTT__IS(base, 16), \
		   LTT__IS(flags, LTT__ELEMENT(type)))
#define ltt_sequence_text(name, pointer, length_type, count) \
	LTT__FIELD(sequence, ltt_field_##name, #name, (char, void, pointer, length_type, count), \
		   LTT__SEQUENCE(char, length_type), LTT__IS(base, 10), \
		   LTT__IS(flags, LTT_FIELD_TEXT))
#define ltt_nowrite(field) LTT__NOWRITE_ field
#define LTT__NOWRITE_(written, ...) (ltt__n, __VA_ARGS__)

/* The members before `base`, of rows that agree in them. */
#define LTT__SCALAR(kind_, type) \
	LTT__IS(enumeration, 0), LTT__IS(count, 0), LTT__IS(kind, kind_), \
	LTT__IS(size_bits, LTT__BITS(type)), LTT__IS(length_bits, 0)
#define LTT__ARRAY(type, nr) \
	LTT__IS(enumeration, 0), LTT__IS(count, nr), LTT__IS(kind, LTT_KIND_ARRAY), \
	LTT__IS(size_bits, LTT__BITS(type)), LTT__IS(length_bits, 0)
#define LTT__SEQUENCE(type, length_type) \
	LTT__IS(enumeration, 0), LTT__IS(count, 0), LTT__IS(kind, LTT_KIND_SEQUENCE), \
	LTT__IS(size_bits, LTT__BITS(type)), LTT__IS(length_bits, LTT__BITS(length_type))

#define LTT__SIGNED(type) ((type)-1 < (type)1 ? LTT_FIELD_SIGNED : 0)
#define LTT__IS_FLOAT(type) ((type)1.5 != (type)1)
#define LTT__ELEMENT(type) \
	((LTT__IS_FLOAT(type) ? LTT_FIELD_FLOAT_ELEM : 0) | LTT__SIGNED(type))
#define LTT__BITS(type) (uint8_t)(sizeof(type) * 8)

/*
 * The shapes: how a field is recorded. The arguments of a row are the number n of the field and
 * the argument of LTT__FIELD(); its columns are
 *	size: ltt__number (its variable is the payload), ltt__fixed or ltt__varying
 *	variables: ltt__v<n> is the value or its address, ltt__n<n> the number of elements;
 *		the only place where the arguments of the user are evaluated
 *	bytes that are known at compile time
 *	bytes that are not, of ltt__varying; else 0
 *	encoder: stores the field at ltt__at, and moves ltt__at behind it
 *	codes of its one or two arguments in an SDT note (ltt/sdt.h)
 *	arguments: their values
 */
#define LTT__SHAPE_ltt__integer(n, type, value) \
	ltt__number, \
	LTT__ASSERT(sizeof(type) <= 8 && sizeof(LTT__INTEGER(type)), \
		    "ltt: an integer has at most 64 bits"); \
	type ltt__v##n = (type)(value), \
	sizeof(type), 0, \
	ltt__at = ltt__put(ltt__at, &ltt__v##n, sizeof(ltt__v##n)), \
	LTT__SDT_CODE(type) + (LTT__SIGNED(type) ? 8 : 0), \
	(ltt__bits(&ltt__v##n, sizeof(ltt__v##n)))
#define LTT__SHAPE_ltt__float(n, type, value) \
	ltt__number, \
	LTT__ASSERT(sizeof(type) <= 8 && sizeof(__builtin_isnan((type)0)), \
		    "ltt: a floating point number has at most 64 bits"); \
	type ltt__v##n = (type)(value), \
	sizeof(type), 0, \
	ltt__at = ltt__put(ltt__at, &ltt__v##n, sizeof(ltt__v##n)), \
	LTT__SDT_CODE(type), \
	(ltt__bits(&ltt__v##n, sizeof(ltt__v##n)))
#define LTT__SHAPE_ltt__string(n, text) \
	ltt__varying, \
	const char *const ltt__v##n = ltt__text(text); \
	const size_t ltt__n##n = strlen(ltt__v##n), \
	1, ltt__n##n, \
	ltt__at = ltt__put_string(ltt__at, ltt__v##n, ltt__n##n), \
	LTT__SDT_CODE(void *), \
	((uint64_t)(uintptr_t)ltt__v##n)
#define LTT__SHAPE_ltt__array(n, type, as, pointer, count) \
	ltt__fixed, \
	LTT__ASSERT(sizeof(type) <= 8, "ltt: an element has at most 64 bits"); \
	const as *const ltt__v##n = (pointer), \
	sizeof(type) * (count), 0, \
	ltt__at = ltt__put(ltt__at, ltt__v##n, sizeof(type) * (count)), \
	LTT__SDT_CODE(void *), \
	((uint64_t)(uintptr_t)ltt__v##n)
#define LTT__SHAPE_ltt__sequence(n, type, as, pointer, length_type, count) \
	ltt__varying, \
	LTT__ASSERT(sizeof(type) <= 8, "ltt: an element has at most 64 bits"); \
	LTT__ASSERT((length_type)-1 > (length_type)1, "ltt: a length is unsigned"); \
	const as *const ltt__v##n = (pointer); \
	const length_type ltt__n##n = \
		(length_type)ltt__length(ltt__v##n, (int64_t)(count), (length_type)-1), \
	sizeof(length_type), sizeof(type) * (size_t)ltt__n##n, \
	ltt__at = ltt__put(ltt__at, &ltt__n##n, sizeof(ltt__n##n)); \
	ltt__at = ltt__put(ltt__at, ltt__v##n, sizeof(type) * (size_t)ltt__n##n), \
	LTT__SDT_CODE(void *) + 16 * LTT__SDT_CODE(length_type), \
	((uint64_t)(uintptr_t)ltt__v##n, (uint64_t)ltt__n##n)

#ifdef __cplusplus
#define LTT__INTEGER(type) char[LTT__IS_FLOAT(type) ? -1 : 1]
#else
#define LTT__INTEGER(type) ((type)0 & (type)1)
#endif

/* An argument that is not a field (or label) is named in the error; its event is not declared. */
#define LTT__REFUSE(n, id, field) LTT__CAT(LTT__REFUSE_, LTT__TUPLE(field))(field)
#define LTT__REFUSE_0(...) \
	LTT__ASSERT(0, "ltt: no macro of <ltt/tracepoint.h> is named like this: " #__VA_ARGS__);
#define LTT__REFUSE_1(...)

/* Names as members of a structure: the compiler names one that is there twice. */
#define LTT__NAME(n, id, field) LTT__NAME_(LTT__OPEN field)
#define LTT__NAME_(...) LTT__NAME__(__VA_ARGS__)
#define LTT__NAME__(written, shape, ident, ...) char ident;

/* The entry of the field table, if the field is recorded (W) or not (N); `flags` is the last
 * member of a description, so that one more flag can be added behind it. */
#define LTT__ENTRY_W(n, id, field) LTT__ENTRY(LTT__W, LTT__OPEN field)
#define LTT__ENTRY_N(n, id, field) LTT__ENTRY(LTT__N, LTT__OPEN field)
#define LTT__ENTRY(...) LTT__ENTRY_(__VA_ARGS__)
#define LTT__ENTRY_(when, written, shape, ident, text, arguments, ...) \
	when##_##written({ LTT__IS(name, text), __VA_ARGS__ LTT__N_##written(| LTT_FIELD_NOWRITE), \
			   LTT__IS(reserved, 0) },)
#define LTT__W_ltt__w(...) __VA_ARGS__
#define LTT__W_ltt__n(...)
#define LTT__N_ltt__w(...)
#define LTT__N_ltt__n(...) __VA_ARGS__

/* LTT__ROW(OP, n, field): OP(n, written, the columns of the field's shape). */
#define LTT__ROW(op, n, field) LTT__ROW_(op, n, LTT__OPEN field)
#define LTT__ROW_(...) LTT__ROW__(__VA_ARGS__)
#define LTT__ROW__(op, n, written, shape, ident, text, arguments, ...) \
	LTT__CALL(op, n, written, LTT__CALL_(LTT__SHAPE_##shape, n, LTT__OPEN arguments))
#define LTT__CALL(macro, ...) macro(__VA_ARGS__)
#define LTT__CALL_(macro, ...) macro(__VA_ARGS__)

#define LTT__EVAL(n, id, field) LTT__ROW(LTT__VARIABLES, n, field)
#define LTT__VARIABLES(n, written, size, variables, fixed, varying, encoder, ...) variables;

#define LTT__FIXED(n, id, field) LTT__ROW(LTT__FIXED_BYTES, n, field)
#define LTT__FIXED_BYTES(n, written, size, variables, fixed, varying, encoder, ...) + fixed
#define LTT__VARIES(n, id, field) LTT__ROW(LTT__IS_VARYING, n, field)
#define LTT__IS_VARYING(n, written, size, ...) LTT__IF_VARYING_##size(|| 1)
#define LTT__SIZE(n, id, field) LTT__ROW(LTT__ALL_BYTES, n, field)
#define LTT__ALL_BYTES(n, written, size, variables, fixed, varying, encoder, ...) \
	+ fixed LTT__IF_VARYING_##size(+ varying)
#define LTT__IF_VARYING_ltt__number(...)
#define LTT__IF_VARYING_ltt__fixed(...)
#define LTT__IF_VARYING_ltt__varying(...) __VA_ARGS__

/* Serialise. */
#define LTT__WRITE_W(n, id, field) LTT__ROW(LTT__ENCODE_W, n, field)
#define LTT__WRITE_N(n, id, field) LTT__ROW(LTT__ENCODE_N, n, field)
#define LTT__ENCODE_W(n, written, size, variables, fixed, varying, encoder, ...) \
	LTT__W_##written(encoder;)
#define LTT__ENCODE_N(n, written, size, variables, fixed, varying, encoder, ...) \
	LTT__N_##written(encoder;)

/* LTT__ODD: 1 if a field is not a recorded number. LTT__PACK: pack the numbers into one word. */
#define LTT__ODD(n, id, field) LTT__ROW(LTT__IS_ODD, n, field)
#define LTT__IS_ODD(n, written, size, ...) LTT__UNLESS_NUMBER_##size(|| 1) LTT__N_##written(|| 1)
#define LTT__PACK(n, id, field) LTT__ROW(LTT__PACKED, n, field)
#define LTT__PACKED(n, written, size, ...) LTT__IF_NUMBER_##size( \
	ltt__word |= ltt__bits(&ltt__v##n, sizeof(ltt__v##n)) << (ltt__filled * 8 & 63); \
	ltt__filled += sizeof(ltt__v##n);)
#define LTT__IF_NUMBER_ltt__number(...) __VA_ARGS__
#define LTT__IF_NUMBER_ltt__fixed(...)
#define LTT__IF_NUMBER_ltt__varying(...)
#define LTT__UNLESS_NUMBER_ltt__number(...)
#define LTT__UNLESS_NUMBER_ltt__fixed(...) __VA_ARGS__
#define LTT__UNLESS_NUMBER_ltt__varying(...) __VA_ARGS__

/* Arguments of an SDT note. The size of member ltt__s<n> is their number, and its offset the place
 * of the first one. */
#define LTT__SDT_MEMBER(n, id, field) \
	char ltt__s##n[LTT__ROW(LTT__SDT_CODES, n, field) > 15 ? 2 : 1];
#define LTT__SDT_LAYOUT(n, id, field) \
	| LTT__SDT_AT(offsetof(struct ltt_sdt_places_##id, ltt__s##n), \
		      LTT__ROW(LTT__SDT_CODES, n, field))
#define LTT__SDT_CODES( \
		n, written, size, variables, fixed, varying, encoder, codes, arguments) (codes)
#define LTT__SDT_VALUES(n, id, field) LTT__ROW(LTT__SDT_VALUES_OF, n, field)
#define LTT__SDT_VALUES_OF( \
		n, written, size, variables, fixed, varying, encoder, codes, arguments) \
	, LTT__OPEN arguments

#define LTT__ROOM(fixed, varies) \
	((fixed) > LTT__STACK_PAYLOAD ? 0 : (varies) ? LTT__STACK_PAYLOAD : (fixed))

/* (ARGS) with the site in front; () and (void) both mean no arguments. */
#define LTT__WITH_SITE(...) LTT__WITH_SITE_(LTT__NOTHING(__VA_ARGS__, ~), __VA_ARGS__)
#define LTT__WITH_SITE_(...) LTT__WITH_SITE__(__VA_ARGS__)
#define LTT__WITH_SITE__(nothing, ...) LTT__WITH_SITE_##nothing(__VA_ARGS__)
#define LTT__WITH_SITE_1(...) (struct ltt_site *ltt__site)
#define LTT__WITH_SITE_0(...) (struct ltt_site *ltt__site, __VA_ARGS__)
/* The same with a probe's data in front, and with an end of the arguments that are named. */
#define LTT__WITH_DATA(...) LTT__WITH_DATA_(LTT__NOTHING(__VA_ARGS__, ~), __VA_ARGS__)
#define LTT__WITH_DATA_(...) LTT__WITH_DATA__(__VA_ARGS__)
#define LTT__WITH_DATA__(nothing, ...) LTT__WITH_DATA_##nothing(__VA_ARGS__)
#define LTT__WITH_DATA_1(...) (void *ltt__data)
#define LTT__WITH_DATA_0(...) (void *ltt__data, __VA_ARGS__)
#define LTT__WITH_END(...) LTT__WITH_END_(LTT__NOTHING(__VA_ARGS__, ~), __VA_ARGS__)
#define LTT__WITH_END_(...) LTT__WITH_END__(__VA_ARGS__)
#define LTT__WITH_END__(nothing, ...) LTT__WITH_END_##nothing(__VA_ARGS__)
#define LTT__WITH_END_1(...) (void *ltt__data, int ltt__end, ...)
#define LTT__WITH_END_0(...) (void *ltt__data, __VA_ARGS__, int ltt__end, ...)
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
	LTT__SDT_CLASS(id, , 0) \
	LTT__UNUSED static const struct ltt_field ltt_fields_##id[] = { \
		{ 0, 0, 0, 0, 0, 0, 0, 0, 0 } \
	}; \
	_Pragma("GCC diagnostic push") \
	_Pragma("GCC diagnostic ignored \"-Wunused-parameter\"") \
	__attribute__((unused)) LTT__OURS static void ltt_class_##id LTT__WITH_SITE args {} \
	_Pragma("GCC diagnostic pop")
#define LTT__CLASS_1(id, args, ...) \
	struct ltt_names_##id { LTT__EACH(LTT__NAME, id, __VA_ARGS__) char ltt__end; }; \
	LTT__SDT_CLASS(id, LTT__EACH(LTT__SDT_MEMBER, id, __VA_ARGS__), \
		       0 LTT__EACH(LTT__SDT_LAYOUT, id, __VA_ARGS__)) \
	LTT__UNUSED static const struct ltt_field ltt_fields_##id[] = { \
		LTT__EACH(LTT__ENTRY_W, id, __VA_ARGS__) LTT__EACH(LTT__ENTRY_N, id, __VA_ARGS__) \
		{ 0, 0, 0, 0, 0, 0, 0, 0, 0 } \
	}; \
	_Pragma("GCC diagnostic push") \
	_Pragma("GCC diagnostic ignored \"-Wunused-parameter\"") \
	__attribute__((noinline, unused)) LTT__OURS static void ltt_class_##id LTT__WITH_SITE args \
	{ \
		LTT__EACH(LTT__EVAL, id, __VA_ARGS__) \
		const size_t ltt__size = 0 LTT__EACH(LTT__SIZE, id, __VA_ARGS__); \
		LTT__SDT_HIT(ltt__site LTT__EACH(LTT__SDT_VALUES, id, __VA_ARGS__)); \
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
		ltt_emit_at(ltt__site, ltt__begin, (size_t)(ltt__end - ltt__begin), \
			    (size_t)(ltt__at - ltt__end), __builtin_return_address(0)); \
		if (ltt__begin != ltt__stack) \
			ltt_unstage(ltt__begin); \
	} \
	_Pragma("GCC diagnostic pop")

/*
 * For typed probes (ltt/typed.h): the type of a probe, and a function that is called without any
 * argument and returns the address behind those on the stack, which nothing else can find out for
 * all types of C. The text is the declaration's own, before macros (`bool`) are expanded.
 */
#define LTT__TYPED_CLASS(id, args, text) \
	LTT__UNUSED static const char ltt_arguments_##id[] = text; \
	typedef void ltt_probe_class_##id LTT__WITH_DATA args; \
	_Pragma("GCC diagnostic push") \
	_Pragma("GCC diagnostic ignored \"-Wunused-parameter\"") \
	__attribute__((noinline, unused)) LTT__OURS static void *ltt_stack_##id LTT__WITH_END args \
	{ \
		va_list ltt__rest; \
		void *ltt__behind; \
		va_start(ltt__rest, ltt__end); \
		ltt__behind = ltt__stack_behind(&ltt__rest); \
		va_end(ltt__rest); \
		return ltt__behind; \
	} \
	_Pragma("GCC diagnostic pop")
#define LTT__TYPED_EVENT(cls, id, name_) \
	typedef __typeof__(ltt_class_##cls) ltt_emit_fn_##id; \
	typedef ltt_probe_class_##cls ltt_probe_fn_##id; \
	LTT__UNUSED static const struct ltt_typed_kind ltt_typed_##id = { \
		sizeof(struct ltt_typed_kind), sizeof(struct ltt_field), \
		sizeof(ltt_fields_##cls) / sizeof(ltt_fields_##cls[0]) - 1, \
		ltt_fields_##cls, name_, ltt_arguments_##cls, (void (*)(void))ltt_class_##cls, \
		(void (*)(void))ltt_stack_##cls \
	};

#ifdef LTT_TRACEPOINT_EXTERN
#define LTT__EVENT(cls, id, name_, level) \
	LTT__SDT_EVENT(cls, id) \
	LTT__C_BEGIN extern struct ltt_site ltt_site_##id LTT__HIDDEN; LTT__C_END \
	LTT__UNUSED static __typeof__(ltt_class_##cls) *const ltt_emit_##id = ltt_class_##cls; \
	LTT__TYPED_EVENT(cls, id, name_)
#else
#define LTT__EVENT(cls, id, name_, level) \
	LTT__SDT_EVENT(cls, id) \
	static const struct ltt_event ltt_event_##id = { \
		sizeof(struct ltt_event), sizeof(struct ltt_field), \
		sizeof(ltt_fields_##cls) / sizeof(ltt_fields_##cls[0]) - 1, \
		name_, ltt_fields_##cls, 0, __FILE__, "", __LINE__, \
		LTT_EVENT_TRACEPOINT, level, { LTT_EVENT_TELLS_IP, 0 }, \
		ltt_arguments_##cls, 0, LTT__SDT_FUNCTION(id) \
	}; \
	LTT__C_BEGIN \
	LTT__MERGED struct ltt_site ltt_site_##id = { \
		0, sizeof(struct ltt_site), &ltt_event_##id, 0, 0, 0, 0 \
	}; \
	LTT__C_END \
	LTT__LISTED static struct ltt_site *const ltt_listed_##id = &ltt_site_##id; \
	LTT__UNUSED static __typeof__(ltt_class_##cls) *const ltt_emit_##id = ltt_class_##cls; \
	LTT__TYPED_EVENT(cls, id, name_)
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
