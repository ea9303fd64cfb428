/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints that two files of one program include; see tracepoint_units.c. */
#ifndef TESTS_TRACEPOINT_UNITS_H
#define TESTS_TRACEPOINT_UNITS_H

#include <ltt/log.h>
#include <ltt/tracepoint.h>

LTT_TRACEPOINT(u, shared, (int x), LTT_INFO, ltt_int(int, x, x))
LTT_TRACEPOINT(u, second, (int x), LTT_INFO, ltt_int(int, x, x))

void trace_from_other(int x);
void trace_from_extern(int x);

#endif
