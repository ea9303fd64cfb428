/* SPDX-License-Identifier: GPL-2.0-only */
/* old.h - a provider with the names that LTTng-UST had before 2.13. */
#undef TRACEPOINT_PROVIDER
#define TRACEPOINT_PROVIDER old
#undef TRACEPOINT_INCLUDE
#define TRACEPOINT_INCLUDE "./old.h"

#if !defined(OLD_H) || defined(TRACEPOINT_HEADER_MULTI_READ)
#define OLD_H

#include <stdbool.h>
#include <stdint.h>

#include <lttng/tracepoint.h>

TRACEPOINT_ENUM(old, state, TP_ENUM_VALUES(ctf_enum_value("OFF", 0) ctf_enum_auto("ON")
	ctf_enum_range("MORE", 2, 9)))

TRACEPOINT_EVENT(old, numbers, TP_ARGS(const void *, node, int, v, bool, flag),
	TP_FIELDS(
		ctf_integer_hex(const void *, node, node)
		ctf_integer(int, number, v)
		ctf_integer(bool, flag, flag)
		ctf_integer_hex(unsigned long, as_number, (unsigned long)node)
		ctf_integer_network(uint16_t, port, (uint16_t)v)
		ctf_integer_network_hex(uint32_t, address, (uint32_t)v)
		ctf_float(double, half, v / 2.0)
		ctf_enum(old, state, unsigned int, state, (unsigned int)v)
		ctf_integer_nowrite(int, hidden, v)))
TRACEPOINT_LOGLEVEL(old, numbers, TRACE_ERR)
TRACEPOINT_MODEL_EMF_URI(old, numbers, "http://example.com/numbers")

TRACEPOINT_EVENT(old, texts, TP_ARGS(const unsigned char *, text, size_t, len, const float *, p),
	TP_FIELDS(
		ctf_string(class, (const char *)text)
		ctf_array_text(char, array, text, 3)
		ctf_sequence_text(unsigned char, sequence, text, size_t, len)
		ctf_array(long, longs, p, 1)
		ctf_array_hex(short, shorts, p, 2)
		ctf_sequence(uint8_t, bytes, text, unsigned int, len)
		ctf_sequence_hex(uint8_t, hex, text, unsigned short, len)
		ctf_unused(p)))

TRACEPOINT_EVENT(old, none, TP_ARGS(), TP_FIELDS())

TRACEPOINT_EVENT_CLASS(old, both, TP_ARGS(int, v), TP_FIELDS(ctf_integer(int, v, v)))
TRACEPOINT_EVENT_INSTANCE(old, both, one, TP_ARGS(int, v))
TRACEPOINT_EVENT_INSTANCE(old, both, other, TP_ARGS(int, v))
TRACEPOINT_LOGLEVEL(old, other, TRACE_DEBUG_MODULE)

#endif

#include <lttng/tracepoint-event.h>
