// SPDX-License-Identifier: GPL-2.0-only
#include "record.h"

#include <linux/errno.h>
#include <linux/string.h>

#include "ring.h"

#define COMPACT_TIME_MASK ((1ull << LTT_TS_BITS) - 1)

/* --- the header --------------------------------------------------------------- */

static int record_read_extended(const u8 *at, const u8 *end, u64 before, struct record *ret)
{
	if (end - at < LTT_HDR_EXTENDED)
		return -ENODATA;
	memcpy(&ret->id, at + 1, sizeof(ret->id));
	memcpy(&ret->time, at + 5, sizeof(ret->time));
	ret->contexts = at + LTT_HDR_EXTENDED;
	return ret->time < before ? -EBADMSG : 0;
}

static int record_read_header(const u8 *at, const u8 *end, u64 before, struct record *ret)
{
	u32 word;
	u16 id;

	if (end - at < LTT_HDR_COMPACT)
		return -ENODATA;
	memcpy(&word, at, sizeof(word));
	ret->id = word & 31;
	if (ret->id == LTT_ID_EXTENDED)
		return record_read_extended(at, end, before, ret);
	ret->time = (before & ~COMPACT_TIME_MASK) | word >> 5;
	ret->contexts = at + LTT_HDR_COMPACT;
	if (ret->id == LTT_ID_WIDE) {
		if (end - at < LTT_HDR_WIDE)
			return -ENODATA;
		memcpy(&id, at + LTT_HDR_COMPACT, sizeof(id));
		ret->id = id;
		ret->contexts = at + LTT_HDR_WIDE;
	}
	return ret->time < before ? -EBADMSG : 0;
}

/* --- fields --------------------------------------------------------------------- */

static int record_dynamic_bytes(const struct field *field, const u8 *at, const u8 *end)
{
	u16 count;

	if (end - at < sizeof(count))
		return -ENODATA;
	memcpy(&count, at, sizeof(count));
	return sizeof(count) + count * (field_is_number(field) ? field->elem_bytes : 1);
}

static int record_string_bytes(const u8 *at, const u8 *end)
{
	const u8 *nul = memchr(at, 0, end - at);

	return nul ? nul + 1 - at : -ENODATA;
}

int record_field_bytes(const struct field *field, const u8 *at, const u8 *end)
{
	int bytes = field->elem_bytes;

	if (field->form == FORM_STRING)
		bytes = record_string_bytes(at, end);
	else if (field->form == FORM_DYNAMIC)
		bytes = record_dynamic_bytes(field, at, end);
	else if (field->form == FORM_ARRAY)
		bytes = field->elem_bytes * field->count;
	return bytes > end - at ? -ENODATA : bytes;
}

static int record_skip_contexts(const struct contexts *contexts, u32 nr, const u8 *at,
				const u8 *end, const u8 **ret)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		int bytes = record_field_bytes(contexts_field(contexts, i), at, end);

		if (bytes < 0)
			return bytes;
		at += bytes;
	}
	*ret = at;
	return 0;
}

/* @last: those of varying size, which come behind the others. */
static int record_skip_fields(const struct event *event, bool last, const u8 **at, const u8 *end)
{
	const struct field *field;

	for (field = event->fields; field < event->fields + event->nr_fields; field++) {
		int bytes =
			field_comes_last(field) == last ? record_field_bytes(field, *at, end) : 0;

		if (bytes < 0)
			return bytes;
		*at += bytes;
	}
	return 0;
}

int record_read(const struct ring_set *set, const u8 *at, const u8 *end, u64 before,
		struct record *ret)
{
	struct record record;
	int err = record_read_header(at, end, before, &record);

	if (err)
		return err;
	record.event = classes_find(&set->classes, record.id);
	if (!record.event)
		return -ENOENT;
	record.nr_contexts = classes_nr_contexts(&set->classes, record.id);
	err = record_skip_contexts(&set->contexts, record.nr_contexts, record.contexts, end,
				   &record.payload);
	if (err)
		return err;
	record.end = record.payload;
	err = record_skip_fields(record.event, false, &record.end, end);
	if (!err)
		err = record_skip_fields(record.event, true, &record.end, end);
	if (!err)
		*ret = record;
	return err;
}
