/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Event headers and payloads, through a window that moves over the packet. */
#include <errno.h>
#include <stdarg.h>

#include "priv.h"
#include "read/decode/plan.h"

int feed_damaged(struct feed *f, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(f->why, sizeof(f->why), fmt, args);
	va_end(args);
	return READ_DAMAGED;
}

const char *feed_read_error(int error)
{
	return error == -ENODATA ? "most of it is a hole in the file" : "it can't be read";
}

/* Have the packet's bytes from @bit on, @want of them where it is as long. */
int feed_fill(struct feed *f, uint64_t bit, size_t want)
{
	uint64_t byte = bit >> 3, content = (f->packet.content_bits + 7) >> 3;
	const uint8_t *bytes;
	size_t len;
	int r;

	want = MIN(want, content - byte);
	r = window_get(&f->window, f->packet.offset + byte, want, &bytes, &len);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return feed_damaged(f, "%s", feed_read_error(r));
	if (len < want)
		return feed_damaged(f, "the file became shorter");
	f->reader.bytes = bytes;
	f->reader.base = byte;
	f->reader.end = MIN((byte + len) * 8, f->packet.content_bits);
	return READ_OK;
}

/* The window ended too early: move it to @at, or have it longer. */
static int more(struct feed *f, uint64_t at)
{
	size_t have = (f->reader.end >> 3) - f->reader.base;

	if (f->reader.end == f->packet.content_bits)
		return feed_damaged(f, "an event goes beyond its end");
	if (f->reader.base != at >> 3)
		return feed_fill(f, at, FILL_LEAST);
	if (have >= WINDOW_MAX / 2)
		return feed_damaged(f, "an event is larger than can be read");
	return feed_fill(f, at, MAX(2 * have, FILL_LEAST));
}

static int feed_read_outcome(struct feed *f, int result)
{
	return result == READ_DAMAGED ? feed_damaged(f, "an event can't be decoded") : result;
}

/* Have the window there if it is behind @at; if it is before that, reading moves it. */
static int go_back(struct feed *f, uint64_t at)
{
	return at >> 3 < f->reader.base ? feed_fill(f, at, FILL_LEAST) : READ_OK;
}

/* The header at @at; sets ec, reader.clock and payload_at. */
int feed_header(struct feed *f, uint64_t at)
{
	const struct ctf_stream_class *sc = f->packet.sc;
	uint64_t clock = f->reader.clock;
	int result = go_back(f, at);

	if (result)
		return result;
	f->reader.values = NULL;
	for (;;) {
		f->reader.pos = at;
		f->reader.clock = clock;
		f->reader.event_id = 0;
		result = sc->header_plan && plan_read_header(&f->reader, sc->header_plan) ?
				 READ_OK :
				 reader_struct(&f->reader, sc->header);
		if (result != READ_SHORT)
			break;
		result = more(f, at);
		if (result)
			return result;
	}
	f->payload_at = f->reader.pos;
	f->ec = stream_class_event(sc, f->reader.event_id);
	if (!f->ec)
		return feed_damaged(f, "event %llu is not in the metadata",
				    (unsigned long long)f->reader.event_id);
	return feed_read_outcome(f, result);
}

static int scope(struct feed *f, const struct ctf_type *type, int32_t *ret_index)
{
	if (!type) {
		*ret_index = -1;
		return READ_OK;
	}
	*ret_index = f->reader.values ? (int32_t)f->reader.values->nr : 0;
	return reader_struct(&f->reader, type);
}

int feed_payload(struct feed *f, uint64_t at, struct values *values, bool has_fields,
		 struct feed_scopes *ret_scopes)
{
	const struct ctf_type *fields = has_fields ? f->ec->fields : NULL;
	int result = go_back(f, at);

	if (result)
		return result;
	f->reader.values = values;
	for (;;) {
		f->reader.pos = at;
		if (values)
			values->nr = 0;
		result = scope(f, f->packet.sc->event_context, &ret_scopes->stream_context);
		result = result ? result : scope(f, f->ec->context, &ret_scopes->context);
		result = result ? result : scope(f, fields, &ret_scopes->fields);
		if (result != READ_SHORT)
			break;
		result = more(f, at);
		if (result)
			return result;
	}
	f->next_at = f->reader.pos;
	return feed_read_outcome(f, result);
}

int feed_payload_some(struct feed *f, uint64_t at, const struct plan_pick *pick,
		      struct value *values)
{
	int result = go_back(f, at);

	while (!result) {
		f->reader.pos = at;
		result = plan_take(&f->reader, pick, values);
		if (result != READ_SHORT)
			return result;
		result = more(f, at);
	}
	return result;
}

int feed_payload_locate(struct feed *f, uint64_t at, const struct plan_pick *skipped,
			const uint8_t **bases)
{
	int result = go_back(f, at);

	while (!result) {
		f->reader.pos = at;
		result = plan_locate(&f->reader, skipped, bases);
		if (result != READ_SHORT)
			return result;
		result = more(f, at);
	}
	return result;
}

int feed_payload_skip(struct feed *f, uint64_t at)
{
	const struct plan_pick *pick = f->ec->skipped;
	int result = pick ? feed_payload_some(f, at, pick, NULL) : READ_UNPLANNED;
	struct feed_scopes unused;

	if (result == READ_UNPLANNED)
		return feed_payload(f, at, NULL, true, &unused);
	f->next_at = f->reader.pos;
	return result;
}
