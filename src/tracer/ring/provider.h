/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * provider.h - contexts that the application registers (ltt/context.h).
 *
 * A name that was registered, or that a session uses, has a slot for ever; the context in it
 * comes and goes. Slots are taken in order, without a lock, by any thread; events read them in any
 * thread and any signal handler, between reader_enter() and reader_exit().
 */
#ifndef TRACER_RING_PROVIDER_H
#define TRACER_RING_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ltt/context.h>

struct ltt_filter_value;

#define PROVIDER_SLOTS 256u
/* Most bytes of a value: its kind, an integer, a float, a string and the terminator. */
#define PROVIDER_BYTES (1u + 8u + 8u + LTT_CONTEXT_STRING_MAX + 1u)

/** The slot of a name, "PROVIDER:NAME", taken if there is none. Return: false if the name is invalid,
 *  or there is no slot or no memory; @ret_error: negative errno then. */
bool provider_slot(const char *name, size_t len, uint32_t *ret_slot, int *ret_error);

/** Write the current value: a byte, enum ltt_context_kind, and one of each kind, 0 or "-" but for
 *  that. Return: behind. */
unsigned char *provider_put(uint32_t slot, unsigned char *to);
/** Read such a value. @ret->kind: absent if there is none. Return: behind. */
unsigned char *provider_read(unsigned char *at, struct ltt_filter_value *ret);

#endif
