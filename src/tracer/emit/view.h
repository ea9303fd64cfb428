/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view.h - reading payloads inside libltt; see ltt/probe.h. Any thread, any signal handler. */
#ifndef TRACER_EMIT_VIEW_H
#define TRACER_EMIT_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include <ltt/probe.h>

#include "tracer/site/registry.h"

/** Of an event of the site. @len: with fields that are not recorded. */
static inline struct ltt_event_view view_of(const struct ltt_site *site, const void *payload,
					    size_t len)
{
	const struct site_state *state = __atomic_load_n(&site->owner, __ATOMIC_ACQUIRE);

	return (struct ltt_event_view){
		.size = sizeof(struct ltt_event_view),
		.fields = state ? state->fields : NULL,
		.nr_fields = state ? state->nr_fields : 0,
		.payload = payload,
		.len = len,
	};
}

/** An integer's bits, and whether they mean a negative number. Return: 0; -EINVAL if the field
 *  is not an integer, or the payload ends before it. */
int view_integer(const struct ltt_event_view *view, int field, uint64_t *ret_bits,
		 int *ret_negative);

/** The bytes of the first @nr_fields fields. Return: 0; -EINVAL if the payload ends before. */
int view_measure(const struct ltt_event_view *view, uint32_t nr_fields, size_t *ret_bytes);

#endif
