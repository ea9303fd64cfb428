/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * otel.h - the trace and the span that OpenTelemetry's libraries publish for each thread: the
 * thread-local variable otel_thread_ctx_v1, "Thread Context" of OpenTelemetry's proposal 4947.
 *
 * The variable is found by its name, by the helper thread, and read in any thread and any
 * signal handler. It has to be in static thread-local memory, where its distance from the
 * thread pointer is the same in all threads: so it is in programs, in libraries that are loaded
 * with them, and as a rule in libraries that are loaded later.
 */
#ifndef TRACER_RING_OTEL_H
#define TRACER_RING_OTEL_H

#include <stdint.h>

#define OTEL_TRACE_BYTES 16u
#define OTEL_SPAN_BYTES 8u

/** Look for the variable, unless it is known. Helper thread only. */
void otel_find(void);
/** Copy the thread's ids, trace and then span; zeros if there are none. Return: behind them. */
unsigned char *otel_put(unsigned char *to);
/** @bytes of them from @first on, as hexadecimal digits and a terminator; empty if there are
 *  none. */
unsigned char *otel_put_text(unsigned char *to, uint32_t first, uint32_t bytes);

#endif
