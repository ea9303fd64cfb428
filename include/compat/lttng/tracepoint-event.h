/* SPDX-License-Identifier: MIT */
/*
 * lttng/tracepoint-event.h - included at the end of each header of tracepoints. In the one file
 * that defines LTTNG_UST_TRACEPOINT_CREATE_PROBES it reads the header three times more: for
 * enumerations, for the code of each layout, and for the descriptors (ltt/point.h).
 */
#include <lttng/tracepoint.h>

#if LTTNG_UST_COMPAT_API(0) && defined(TRACEPOINT_CREATE_PROBES) && \
	!defined(LTTNG_UST_TRACEPOINT_CREATE_PROBES)
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#endif

#ifdef LTTNG_UST_TRACEPOINT_CREATE_PROBES
#undef LTTNG_UST_TRACEPOINT_CREATE_PROBES
#undef TRACEPOINT_CREATE_PROBES
#if LTTNG_UST_COMPAT_API(0)
#if defined(TRACEPOINT_INCLUDE) && !defined(LTTNG_UST_TRACEPOINT_INCLUDE)
#define LTTNG_UST_TRACEPOINT_INCLUDE TRACEPOINT_INCLUDE
#endif
#define TRACEPOINT_HEADER_MULTI_READ
#endif
#define LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ

#ifndef LTT_LTTNG_TRACEPOINT_EVENT_H
#define LTT_LTTNG_TRACEPOINT_EVENT_H

/* Each field and each value has a comma before it. */
#define LTTNG_UST_TP_FIELDS(...) __VA_ARGS__
#define LTTNG_UST_TP_ENUM_VALUES(...) __VA_ARGS__
#define lttng_ust_field_enum_value(label, value) , ltt_value(label, value)
#define lttng_ust_field_enum_range(label, first, last) , ltt_range(label, first, last)
#define lttng_ust_field_enum_auto(label) , ltt_auto(label)

/* Numbers that are the addresses in pointers, too; an element is an integer, as it is there. */
#ifdef __cplusplus
#define LTT__LTTNG_SIGNED(type) (std::is_signed<type>::value ? LTT_FIELD_SIGNED : 0)
#else
#define LTT__LTTNG_SIGNED(type) LTT__SIGNED(LTT__LTTNG_NUMBER(type))
#define LTT__LTTNG_NUMBER(type) \
	__typeof__(__builtin_choose_expr(__builtin_classify_type((type)0) == \
						 __builtin_classify_type((void *)0), \
					 (uintptr_t)0, (type)0))
#endif
#define LTT__SHAPE_ltt__lttng(n, type, value) \
	ltt__number, \
	LTT__ASSERT(sizeof(type) <= 8, "ltt: an integer has at most 64 bits"); \
	type ltt__v##n = (type)(value), \
	sizeof(type), 0, \
	ltt__at = ltt__put(ltt__at, &ltt__v##n, sizeof(ltt__v##n)), \
	LTT__SDT_CODE(type) + (LTT__LTTNG_SIGNED(type) ? 8 : 0), \
	(ltt__bits(&ltt__v##n, sizeof(ltt__v##n)))
#define LTT__LTTNG_INTEGER(type, ident, text, value, base_, order) \
	LTT__FIELD(lttng, ident, text, (type, value), LTT__SCALAR(LTT_KIND_INT, type), \
		   LTT__IS(base, base_), LTT__IS(flags, LTT__LTTNG_SIGNED(type) | (order)))
#define LTT__LTTNG_ENUM(type, ident, text, enumeration_, value) \
	LTT__FIELD(lttng, ident, text, (type, value), \
		   LTT__IS(enumeration, &ltt_enum_##enumeration_), LTT__IS(count, 0), \
		   LTT__IS(kind, LTT_KIND_ENUM), LTT__IS(size_bits, LTT__BITS(type)), \
		   LTT__IS(length_bits, 0), LTT__IS(base, 10), \
		   LTT__IS(flags, LTT__LTTNG_SIGNED(type)))
#define LTT__LTTNG_ARRAY(type, ident, text, src, length, base_, flags_) \
	LTT__FIELD(array, ident, text, (type, void, (const void *)(src), length), \
		   LTT__ARRAY(type, length), LTT__IS(base, base_), \
		   LTT__IS(flags, LTT__LTTNG_SIGNED(type) | (flags_)))
#define LTT__LTTNG_SEQUENCE(type, ident, text, src, length_type, length, base_, flags_) \
	LTT__FIELD(sequence, ident, text, \
		   (type, void, (const void *)(src), length_type, length), \
		   LTT__SEQUENCE(type, length_type), LTT__IS(base, base_), \
		   LTT__IS(flags, LTT__LTTNG_SIGNED(type) | (flags_)))
#define LTT__LTTNG_FLOAT(type, ident, text, src) \
	LTT__FIELD(float, ident, text, (type, src), LTT__SCALAR(LTT_KIND_FLOAT, type), \
		   LTT__IS(base, 10), LTT__IS(flags, LTT_FIELD_SIGNED))
#define LTT__LTTNG_STRING(ident, text, src) \
	LTT__FIELD(string, ident, text, ((const char *)(src)), \
		   LTT__SCALAR(LTT_KIND_STRING, char), LTT__IS(base, 10), LTT__IS(flags, 0))

/* The name of a field may be a macro of the program: it is used here, in one step. */
#define lttng_ust_field_integer(type, item, src) \
	, LTT__LTTNG_INTEGER(type, ltt_field_##item, #item, src, 10, 0)
#define lttng_ust_field_integer_nowrite(type, item, src) \
	, ltt_nowrite(LTT__LTTNG_INTEGER(type, ltt_field_##item, #item, src, 10, 0))
#define lttng_ust_field_integer_hex(type, item, src) \
	, LTT__LTTNG_INTEGER(type, ltt_field_##item, #item, src, 16, 0)
#define lttng_ust_field_integer_network(type, item, src) \
	, LTT__LTTNG_INTEGER(type, ltt_field_##item, #item, src, 10, LTT_FIELD_BIG_ENDIAN)
#define lttng_ust_field_integer_network_hex(type, item, src) \
	, LTT__LTTNG_INTEGER(type, ltt_field_##item, #item, src, 16, LTT_FIELD_BIG_ENDIAN)
#define lttng_ust_field_float(type, item, src) \
	, LTT__LTTNG_FLOAT(type, ltt_field_##item, #item, src)
#define lttng_ust_field_float_nowrite(type, item, src) \
	, ltt_nowrite(LTT__LTTNG_FLOAT(type, ltt_field_##item, #item, src))
#define lttng_ust_field_string(item, src) \
	, LTT__LTTNG_STRING(ltt_field_##item, #item, src)
#define lttng_ust_field_string_nowrite(item, src) \
	, ltt_nowrite(LTT__LTTNG_STRING(ltt_field_##item, #item, src))
#define lttng_ust_field_enum(provider, name, type, item, src) \
	, LTT__LTTNG_ENUM(type, ltt_field_##item, #item, lttng__##provider##__##name, src)
#define lttng_ust_field_enum_nowrite(provider, name, type, item, src) \
	, ltt_nowrite(LTT__LTTNG_ENUM(type, ltt_field_##item, #item, \
		lttng__##provider##__##name, src))
#define lttng_ust_field_array(type, item, src, length) \
	, LTT__LTTNG_ARRAY(type, ltt_field_##item, #item, src, length, 10, 0)
#define lttng_ust_field_array_nowrite(type, item, src, length) \
	, ltt_nowrite(LTT__LTTNG_ARRAY(type, ltt_field_##item, #item, src, length, 10, 0))
#define lttng_ust_field_array_hex(type, item, src, length) \
	, LTT__LTTNG_ARRAY(type, ltt_field_##item, #item, src, length, 16, 0)
#define lttng_ust_field_array_nowrite_hex(type, item, src, length) \
	, ltt_nowrite(LTT__LTTNG_ARRAY(type, ltt_field_##item, #item, src, length, 16, 0))
#define lttng_ust_field_array_network(type, item, src, length) \
	, LTT__LTTNG_ARRAY(type, ltt_field_##item, #item, src, length, 10, LTT_FIELD_BIG_ENDIAN)
#define lttng_ust_field_array_network_nowrite(type, item, src, length) \
	, ltt_nowrite(LTT__LTTNG_ARRAY(type, ltt_field_##item, #item, src, length, 10, \
		LTT_FIELD_BIG_ENDIAN))
#define lttng_ust_field_array_network_hex(type, item, src, length) \
	, LTT__LTTNG_ARRAY(type, ltt_field_##item, #item, src, length, 16, LTT_FIELD_BIG_ENDIAN)
#define lttng_ust_field_array_network_nowrite_hex(type, item, src, length) \
	, ltt_nowrite(LTT__LTTNG_ARRAY(type, ltt_field_##item, #item, src, length, 16, \
		LTT_FIELD_BIG_ENDIAN))
#define lttng_ust_field_array_text(type, item, src, length) \
	, LTT__LTTNG_ARRAY(type, ltt_field_##item, #item, src, length, 10, LTT_FIELD_TEXT)
#define lttng_ust_field_array_text_nowrite(type, item, src, length) \
	, ltt_nowrite(LTT__LTTNG_ARRAY(type, ltt_field_##item, #item, src, length, 10, \
		LTT_FIELD_TEXT))
#define lttng_ust_field_sequence(type, item, src, length_type, length) \
	, LTT__LTTNG_SEQUENCE(type, ltt_field_##item, #item, src, length_type, length, 10, 0)
#define lttng_ust_field_sequence_nowrite(type, item, src, length_type, length) \
	, ltt_nowrite(LTT__LTTNG_SEQUENCE(type, ltt_field_##item, #item, src, length_type, \
		length, 10, 0))
#define lttng_ust_field_sequence_hex(type, item, src, length_type, length) \
	, LTT__LTTNG_SEQUENCE(type, ltt_field_##item, #item, src, length_type, length, 16, 0)
#define lttng_ust_field_sequence_nowrite_hex(type, item, src, length_type, length) \
	, ltt_nowrite(LTT__LTTNG_SEQUENCE(type, ltt_field_##item, #item, src, length_type, \
		length, 16, 0))
#define lttng_ust_field_sequence_network(type, item, src, length_type, length) \
	, LTT__LTTNG_SEQUENCE(type, ltt_field_##item, #item, src, length_type, length, 10, \
		LTT_FIELD_BIG_ENDIAN)
#define lttng_ust_field_sequence_network_nowrite(type, item, src, length_type, length) \
	, ltt_nowrite(LTT__LTTNG_SEQUENCE(type, ltt_field_##item, #item, src, length_type, \
		length, 10, LTT_FIELD_BIG_ENDIAN))
#define lttng_ust_field_sequence_network_hex(type, item, src, length_type, length) \
	, LTT__LTTNG_SEQUENCE(type, ltt_field_##item, #item, src, length_type, length, 16, \
		LTT_FIELD_BIG_ENDIAN)
#define lttng_ust_field_sequence_network_nowrite_hex(type, item, src, length_type, length) \
	, ltt_nowrite(LTT__LTTNG_SEQUENCE(type, ltt_field_##item, #item, src, length_type, \
		length, 16, LTT_FIELD_BIG_ENDIAN))
#define lttng_ust_field_sequence_text(type, item, src, length_type, length) \
	, LTT__LTTNG_SEQUENCE(type, ltt_field_##item, #item, src, length_type, length, 10, \
		LTT_FIELD_TEXT)
#define lttng_ust_field_sequence_text_nowrite(type, item, src, length_type, length) \
	, ltt_nowrite(LTT__LTTNG_SEQUENCE(type, ltt_field_##item, #item, src, length_type, \
		length, 10, LTT_FIELD_TEXT))
#define lttng_ust_field_unused(src)
#define lttng_ust_field_unused_nowrite(src)
#if LTTNG_UST_COMPAT_API(0)
#define ctf_integer lttng_ust_field_integer
#define ctf_integer_nowrite lttng_ust_field_integer_nowrite
#define ctf_integer_hex lttng_ust_field_integer_hex
#define ctf_integer_network lttng_ust_field_integer_network
#define ctf_integer_network_hex lttng_ust_field_integer_network_hex
#define ctf_float lttng_ust_field_float
#define ctf_float_nowrite lttng_ust_field_float_nowrite
#define ctf_string lttng_ust_field_string
#define ctf_string_nowrite lttng_ust_field_string_nowrite
#define ctf_enum lttng_ust_field_enum
#define ctf_enum_nowrite lttng_ust_field_enum_nowrite
#define ctf_array lttng_ust_field_array
#define ctf_array_nowrite lttng_ust_field_array_nowrite
#define ctf_array_hex lttng_ust_field_array_hex
#define ctf_array_nowrite_hex lttng_ust_field_array_nowrite_hex
#define ctf_array_network lttng_ust_field_array_network
#define ctf_array_network_nowrite lttng_ust_field_array_network_nowrite
#define ctf_array_network_hex lttng_ust_field_array_network_hex
#define ctf_array_network_nowrite_hex lttng_ust_field_array_network_nowrite_hex
#define ctf_array_text lttng_ust_field_array_text
#define ctf_array_text_nowrite lttng_ust_field_array_text_nowrite
#define ctf_sequence lttng_ust_field_sequence
#define ctf_sequence_nowrite lttng_ust_field_sequence_nowrite
#define ctf_sequence_hex lttng_ust_field_sequence_hex
#define ctf_sequence_nowrite_hex lttng_ust_field_sequence_nowrite_hex
#define ctf_sequence_network lttng_ust_field_sequence_network
#define ctf_sequence_network_nowrite lttng_ust_field_sequence_network_nowrite
#define ctf_sequence_network_hex lttng_ust_field_sequence_network_hex
#define ctf_sequence_network_nowrite_hex lttng_ust_field_sequence_network_nowrite_hex
#define ctf_sequence_text lttng_ust_field_sequence_text
#define ctf_sequence_text_nowrite lttng_ust_field_sequence_text_nowrite
#define ctf_unused lttng_ust_field_unused
#define ctf_unused_nowrite lttng_ust_field_unused_nowrite
#define ctf_enum_value lttng_ust_field_enum_value
#define ctf_enum_range lttng_ust_field_enum_range
#define ctf_enum_auto lttng_ust_field_enum_auto
#endif

/*
 * LTT__DESCRIPTOR: of an event, twice: the linker may join the first to points of other objects,
 * the second is always this object's. Its level is a variable, which the linker finds to be nowhere
 * if the header has none.
 */
#define LTT__LEVEL_DECLARED(id) \
	extern const int lttng_ust_loglevel_##id \
		__attribute__((weak, visibility("hidden")));
#define LTT__DESCRIPTOR(cls, id, name_, args) \
	LTT__C_BEGIN \
	LTT__LEVEL_DECLARED(id) \
	static struct ltt_event ltt_event_lttng_##id = { \
		sizeof(struct ltt_event), sizeof(struct ltt_field), \
		sizeof(ltt_fields_##cls) / sizeof(ltt_fields_##cls[0]) - 1, \
		name_, ltt_fields_##cls, 0, __FILE__, "", __LINE__, \
		LTT_EVENT_TRACEPOINT, LTT_DEBUG_LINE, { LTT_EVENT_TELLS_IP, 0 }, 0, 0, 0 \
	}; \
	extern const struct ltt_descriptor lttng_ust_descriptor_##id LTT__DESCRIPTOR_VISIBILITY; \
	const struct ltt_descriptor lttng_ust_descriptor_##id = \
		LTT__DESCRIPTOR_VALUE(cls, id, args); \
	LTT__C_END \
	static const struct ltt_descriptor ltt_descriptor_##id = \
		LTT__DESCRIPTOR_VALUE(cls, id, args); \
	LTT__LISTED_IN("ltt_descriptors") \
	static const struct ltt_descriptor *const ltt_listed_descriptor_##id = \
		&ltt_descriptor_##id;
#define LTT__DESCRIPTOR_VALUE(cls, id, args) { \
		sizeof(struct ltt_descriptor), 0, &ltt_event_lttng_##id, \
		LTT__ARGUMENTS_TEXT(args), (void (*)(void))ltt_class_##cls, \
		&lttng_ust_loglevel_##id \
	}
#define LTT__LEVEL(id, level) \
	LTT__C_BEGIN \
	LTT__LEVEL_DECLARED(id) \
	const int lttng_ust_loglevel_##id = level; \
	LTT__C_END
/* The fields come with a comma before each. */
#define LTT__LTTNG_CLASS(id, parameters, ...) LTT__CLASS(id, parameters, __VA_ARGS__)
#define LTT__LTTNG_LABELS(id, name, ...) LTT__ENUM(id, name, __VA_ARGS__)

#endif

/* --- enumerations ------------------------------------------------------------------------- */
#undef LTTNG_UST_TRACEPOINT_EVENT
#undef LTTNG_UST_TRACEPOINT_EVENT_CLASS
#undef LTTNG_UST_TRACEPOINT_EVENT_INSTANCE
#undef LTTNG_UST_TRACEPOINT_ENUM
#define LTTNG_UST_TRACEPOINT_EVENT(provider, name, args, fields)
#define LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, args, fields)
#define LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(class_provider, class_name, provider, name, args)
#define LTTNG_UST_TRACEPOINT_ENUM(provider, name, values) \
	LTT__LTTNG_LABELS(lttng__##provider##__##name, #name values)
#include LTTNG_UST_TRACEPOINT_INCLUDE

/* --- the code of each layout -------------------------------------------------------------- */
#undef LTTNG_UST_TRACEPOINT_EVENT
#undef LTTNG_UST_TRACEPOINT_EVENT_CLASS
#undef LTTNG_UST_TRACEPOINT_ENUM
#define LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, args, fields) \
	LTT__LTTNG_CLASS(lttng__##provider##__##name, LTT__PARAMETERS(args) fields)
#define LTTNG_UST_TRACEPOINT_EVENT(provider, name, args, fields) \
	LTT__LTTNG_CLASS(lttng__##provider##__##name, LTT__PARAMETERS(args) fields)
#define LTTNG_UST_TRACEPOINT_ENUM(provider, name, values)
#include LTTNG_UST_TRACEPOINT_INCLUDE

/* --- descriptors --------------------------------------------------------------------------- */
#undef LTTNG_UST_TRACEPOINT_EVENT
#undef LTTNG_UST_TRACEPOINT_EVENT_CLASS
#undef LTTNG_UST_TRACEPOINT_EVENT_INSTANCE
#undef LTTNG_UST_TRACEPOINT_LOGLEVEL
#define LTTNG_UST_TRACEPOINT_EVENT_CLASS(provider, name, args, fields)
#define LTTNG_UST_TRACEPOINT_EVENT(provider, name, args, fields) \
	LTT__DESCRIPTOR(lttng__##provider##__##name, provider##___##name, #provider ":" #name, \
		args)
#define LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(class_provider, class_name, provider, name, args) \
	LTT__DESCRIPTOR(lttng__##class_provider##__##class_name, provider##___##name, \
			#provider ":" #name, args)
#define LTTNG_UST_TRACEPOINT_LOGLEVEL(provider, name, \
		level) LTT__LEVEL(provider##___##name, level)
#include LTTNG_UST_TRACEPOINT_INCLUDE

/* --- as before, for the next header --------------------------------------------------------- */
#undef LTTNG_UST_TRACEPOINT_EVENT
#undef LTTNG_UST_TRACEPOINT_EVENT_CLASS
#undef LTTNG_UST_TRACEPOINT_EVENT_INSTANCE
#undef LTTNG_UST_TRACEPOINT_ENUM
#undef LTTNG_UST_TRACEPOINT_LOGLEVEL
#undef LTTNG_UST_TRACEPOINT_MODEL_EMF_URI
#include <lttng/tracepoint.h>

#undef LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
#undef TRACEPOINT_HEADER_MULTI_READ
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#undef TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#endif
