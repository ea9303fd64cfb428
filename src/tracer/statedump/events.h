/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * events.h - the events of libltt's own state dump. Tools that map addresses to
 * symbols use these names of fields.
 */
#ifndef TRACER_STATEDUMP_EVENTS_H
#define TRACER_STATEDUMP_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#define LTT__OBJECT_LATE
#include <ltt/tracepoint.h>

LTT_TRACEPOINT(ltt_statedump, start, (), LTT_INFO)

LTT_TRACEPOINT(ltt_statedump, procname, (const char *name), LTT_INFO, ltt_string(procname, name))

LTT_TRACEPOINT(ltt_statedump, bin_info,
	       (uintptr_t base, uint64_t size, const char *file, uint8_t pic, uint8_t build_id,
		uint8_t debug_link),
	       LTT_INFO, ltt_ptr(baddr, base), ltt_int(uint64_t, memsz, size),
	       ltt_string(path, file), ltt_int(uint8_t, is_pic, pic),
	       ltt_int(uint8_t, has_build_id, build_id),
	       ltt_int(uint8_t, has_debug_link, debug_link))

LTT_TRACEPOINT(ltt_statedump, build_id, (uintptr_t base, const uint8_t *id, size_t len), LTT_INFO,
	       ltt_ptr(baddr, base), ltt_sequence_hex(uint8_t, build_id, id, uint32_t, len))

LTT_TRACEPOINT(ltt_statedump, debug_link, (uintptr_t base, uint32_t sum, const char *file),
	       LTT_INFO, ltt_ptr(baddr, base), ltt_int(uint32_t, crc, sum),
	       ltt_string(filename, file))

/* A library was unmapped; one that came is a bin_info. */
LTT_TRACEPOINT(ltt_statedump, bin_gone, (uintptr_t base), LTT_INFO, ltt_ptr(baddr, base))

LTT_TRACEPOINT(ltt_statedump, end, (), LTT_INFO)

#endif
