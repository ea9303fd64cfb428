/* SPDX-License-Identifier: GPL-2.0-only */
/* every.h - a provider with every field of LTTng-UST 2.13, compiled with its headers. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER every
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./every.h"

#if !defined(EVERY_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define EVERY_H

#include <stdint.h>
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_ENUM(every, colour, LTTNG_UST_TP_ENUM_VALUES(
	lttng_ust_field_enum_value("RED", 0)
	lttng_ust_field_enum_auto("GREEN")
	lttng_ust_field_enum_range("SHADES", 10, 20)
	lttng_ust_field_enum_auto("AFTER")
	lttng_ust_field_enum_value("NEGATIVE", -3)
	lttng_ust_field_enum_value("two words", 40)))

LTTNG_UST_TRACEPOINT_EVENT(every, integers,
	LTTNG_UST_TP_ARGS(int64_t, v),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int8_t, i8, (int8_t)v)
		lttng_ust_field_integer(uint8_t, u8, (uint8_t)v)
		lttng_ust_field_integer(int16_t, i16, (int16_t)v)
		lttng_ust_field_integer(uint16_t, u16, (uint16_t)v)
		lttng_ust_field_integer(int32_t, i32, (int32_t)v)
		lttng_ust_field_integer(uint32_t, u32, (uint32_t)v)
		lttng_ust_field_integer(int64_t, i64, v)
		lttng_ust_field_integer(uint64_t, u64, (uint64_t)v)
		lttng_ust_field_integer_hex(uint32_t, h32, (uint32_t)v)
		lttng_ust_field_integer_hex(int64_t, h64, v)
		lttng_ust_field_integer_network(uint16_t, n16, (uint16_t)v)
		lttng_ust_field_integer_network(int32_t, n32, (int32_t)v)
		lttng_ust_field_integer_network_hex(uint64_t, nh64, (uint64_t)v)
		lttng_ust_field_integer(char, c, (char)v)
		lttng_ust_field_integer(unsigned long, ul, (unsigned long)v)))

LTTNG_UST_TRACEPOINT_EVENT(every, floats,
	LTTNG_UST_TP_ARGS(float, f, double, d),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_float(float, f, f)
		lttng_ust_field_float(double, d, d)))

LTTNG_UST_TRACEPOINT_EVENT(every, strings,
	LTTNG_UST_TP_ARGS(const char *, s, const char *, t),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(s, s)
		lttng_ust_field_string(t, t)))

LTTNG_UST_TRACEPOINT_EVENT(every, arrays,
	LTTNG_UST_TP_ARGS(const int32_t *, p, const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_array(int32_t, a, p, 3)
		lttng_ust_field_array_hex(int32_t, ax, p, 3)
		lttng_ust_field_array_network(int32_t, an, p, 3)
		lttng_ust_field_array_network_hex(int32_t, anx, p, 3)
		lttng_ust_field_array_text(char, at, text, 6)
		lttng_ust_field_array(uint8_t, bytes, (const uint8_t *)text, 4)))

LTTNG_UST_TRACEPOINT_EVENT(every, sequences,
	LTTNG_UST_TP_ARGS(const int16_t *, p, const char *, text, size_t, len),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_sequence(int16_t, s, p, size_t, len)
		lttng_ust_field_sequence_hex(int16_t, sx, p, uint8_t, len)
		lttng_ust_field_sequence_network(int16_t, sn, p, uint32_t, len)
		lttng_ust_field_sequence_network_hex(int16_t, snx, p, uint16_t, len)
		lttng_ust_field_sequence_text(char, st, text, size_t, len)
		lttng_ust_field_sequence(uint64_t, none, (const uint64_t *)0, unsigned int, 0)))

LTTNG_UST_TRACEPOINT_EVENT(every, enums,
	LTTNG_UST_TP_ARGS(int, v),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_enum(every, colour, int, e, v)
		lttng_ust_field_enum(every, colour, int8_t, e8, (int8_t)v)
		lttng_ust_field_enum(every, colour, uint64_t, eu, (uint64_t)(v < 0 ? 0 : v))))

LTTNG_UST_TRACEPOINT_EVENT(every, hidden,
	LTTNG_UST_TP_ARGS(int, v, const char *, s, const int32_t *, p),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer_nowrite(int, hi, v)
		lttng_ust_field_integer(int, seen, v + 1)
		lttng_ust_field_string_nowrite(hs, s)
		lttng_ust_field_float_nowrite(float, hf, (float)v / 2)
		lttng_ust_field_array_nowrite(int32_t, ha, p, 2)
		lttng_ust_field_sequence_nowrite(int32_t, hq, p, uint8_t, 2)
		lttng_ust_field_enum_nowrite(every, colour, int, hc, v)
		lttng_ust_field_string(last, s)))

LTTNG_UST_TRACEPOINT_EVENT(every, ten,
	LTTNG_UST_TP_ARGS(int, a, int, b, int, c, int, d, int, e, int, f, int, g, int, h, double, i,
			  const char *, j),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, a, a) lttng_ust_field_integer(int, b, b)
		lttng_ust_field_integer(int, c, c) lttng_ust_field_integer(int, d, d)
		lttng_ust_field_integer(int, e, e) lttng_ust_field_integer(int, f, f)
		lttng_ust_field_integer(int, g, g) lttng_ust_field_integer(int, h, h)
		lttng_ust_field_float(double, i, i) lttng_ust_field_string(j, j)
		lttng_ust_field_unused(a)))

LTTNG_UST_TRACEPOINT_EVENT(every, nothing, LTTNG_UST_TP_ARGS(int, unused),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_unused(unused)))

LTTNG_UST_TRACEPOINT_EVENT_CLASS(every, pair, LTTNG_UST_TP_ARGS(int, x, uint32_t, y),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, x, x)
		lttng_ust_field_integer_hex(uint32_t, y, y)))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(every, pair, every, left,
	LTTNG_UST_TP_ARGS(int, x, uint32_t, y))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(every, pair, every, right,
	LTTNG_UST_TP_ARGS(int, x, uint32_t, y))
LTTNG_UST_TRACEPOINT_LOGLEVEL(every, left, LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING)

#endif

#include <lttng/tracepoint-event.h>
