/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ring_double.h - a replacement for the ring in a test of which rings get a record, not of the
 * record's bytes: a ring set counts its records by event id. The functions of tracer/ring/ring.h
 * are in part/tracepoint_arm.ring_double.c, not in the tests' library: there the linker would
 * choose them in other tests, too.
 */
#ifndef TESTS_RING_DOUBLE_H
#define TESTS_RING_DOUBLE_H

#include <stddef.h>
#include <stdint.h>

#define DOUBLE_IDS 16

struct ring_set {
	uint64_t records[DOUBLE_IDS];
	uint64_t lost_size;
	unsigned char last[65536];
	size_t last_len;
	int keep; /* fill last[]: single-threaded tests */
};

#endif
