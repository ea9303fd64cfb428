/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record.h - decodes records as they lie in a ring (abi/ltt_ring.h). Pure, without allocation; any
 * context. The bytes are untrusted: nothing is read outside of them.
 */
#ifndef KMOD_TRACE_RECORD_H
#define KMOD_TRACE_RECORD_H

#include "event.h"

struct ring_set;

/**
 * struct record - a record; it points into the bytes that it was read from.
 * @time: the whole clock value, in units of the ring set's clock.
 * @contexts: the first @nr_contexts of the ring set, up to @payload.
 * @payload: fields of fixed size, then the others, each as declared. They end at @end, which is
 *           also the begin of the next record.
 */
struct record {
	u32 id;
	u32 nr_contexts;
	u64 time;
	const struct event *event;
	const u8 *contexts, *payload, *end;
};

/**
 * record_read() - decode the record at @at.
 * @before: time of the record before it. At the begin of a region of the ring, where there is none:
 *          any time of the epoch in the region's `pub` that is not after the record, so the
 *          epoch's first.
 * Return: 0; or, and then @ret is unchanged: -ENODATA: @end is before the record's; -ENOENT: the
 * ring set has no event of this id; -EBADMSG: the bytes are not a record.
 */
int record_read(const struct ring_set *set, const u8 *at, const u8 *end, u64 before,
		struct record *ret);

/** Bytes of the value of @field at @at. Return: or -ENODATA: it does not end before @end. */
int record_field_bytes(const struct field *field, const u8 *at, const u8 *end);

#endif
