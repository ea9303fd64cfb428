/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view.h - reading payloads inside libltt; see ltt/probe.h. Any thread, any signal handler. */
#ifndef TRACER_EMIT_VIEW_H
#define TRACER_EMIT_VIEW_H

#include <stdint.h>

#include <ltt/probe.h>

/** An integer's bits, and whether they mean a negative number. Return: 0; -EINVAL if the field
 *  is not an integer, or the payload ends before it. */
int view_integer(const struct ltt_event_view *view, int field, uint64_t *ret_bits,
		 int *ret_negative);

#endif
