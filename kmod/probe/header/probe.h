/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * probe.h - functions of compiled probes for fields of variable length ("parts"). A payload is the
 * packed fixed part, then for each dynamic array a u16 count and its elements, for each string its
 * bytes and a NUL, in the order of the declaration. All functions are inlined into probes, which
 * run with preemption off.
 */
#ifndef PROBES_PROBE_H
#define PROBES_PROBE_H

#include <linux/string.h>
#include <linux/tracepoint.h>

#include "compat.h"
#include "event.h"
#include "registry.h"

/** struct part - one dynamic array or string: @at bytes into the payload. */
struct part {
	u32 at;
	u32 bytes;
	u16 count;
	bool text;
	const void *source; /* of __string() */
};

/* Elements that are not numbers are counted in bytes, as fields.c reports them. */
#define PART_UNIT(elem) \
	((elem) == 1 || (elem) == 2 || (elem) == 4 || (elem) == 8 ? (elem) : 1)

/* A size that no record can hold is passed to ring_begin(), which counts the loss. */
static __always_inline u32 part_array(struct part *part, u32 end, size_t bytes, size_t elem)
{
	bytes = min_t(size_t, bytes, LTT_RING_MAX_RECORD);
	part->at = end + sizeof(u16);
	part->bytes = bytes;
	part->count = bytes / PART_UNIT(elem);
	part->text = false;
	return part->at + bytes;
}

static __always_inline u32 part_string(struct part *part, u32 end, size_t bytes, const void *source)
{
	part->at = end;
	part->bytes = min_t(size_t, bytes, LTT_RING_MAX_RECORD);
	part->text = true;
	part->source = source;
	return end + part->bytes;
}

static __always_inline void parts_begin(void *payload, const struct part *part, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (!part[i].text)
			memcpy(payload + part[i].at - sizeof(u16), &part[i].count, sizeof(u16));
}

/*
 * A reader of the payload finds a string's end by its NUL, so there is just one, in
 * the place that was reserved, also if the source changed in between or the kernel reserved more
 * room than it filled.
 */
static __always_inline void parts_end(void *payload, const struct part *part, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!part[i].text)
			continue;
		char *text = payload + part[i].at;
		u32 room = part[i].bytes - 1;
		size_t len = strnlen(text, room);

		memset(text + len, ' ', room - len);
		text[room] = 0;
	}
}

static __always_inline void part_copy(void *payload, const struct part *part, const void *source,
				      size_t bytes)
{
	size_t room = part->bytes - part->text;

	if (bytes < room)
		memset(payload + part->at + bytes, 0, room - bytes);
	memcpy(payload + part->at, source, min(bytes, room));
}

static __always_inline void part_copy_string(void *payload, const struct part *part,
					     const char *source)
{
	if (!source)
		source = "(null)";
	part_copy(payload, part, source, strnlen(source, part->bytes - 1));
}

#endif
