/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Is a packet whole? Every event is passed without being decoded, and marked for the reader of
 * events, which goes on from there. If the tracer stores the number of events in a packet, one
 * whose timestamps go backwards is damaged; else that is reported, as by the reader of events. */
#include <errno.h>

#include "base/mem.h"
#include "ahead.h"
#include "priv.h"
#include "read/decode/plan.h"
#include "read/source.h"
#include "trace/crc32c.h"

#define CRC_BYTES 4u

static int check_time(struct feed *f, uint64_t last)
{
	const struct packet *packet = &f->packet;
	uint64_t now = f->reader.clock;

	if (packet_has(packet, ROLE_RECORDED)) {
		if (now < MAX(last, f->last_clock))
			return feed_damaged(f, "its timestamps go backwards");
		if (packet_has(packet, ROLE_END) && now > packet->end)
			return feed_damaged(f, "it has an event later than its end");
	}
	if (f->strict)
		feed_set_time(f, now);
	return READ_OK;
}

/* The events from @at on are marked by and by. */
static void begin_marks(struct feed *f, uint64_t at)
{
	f->nr_marks = f->mark = 0;
	f->walked_at = f->marks_from = at;
	f->walked_clock = f->reader.clock;
}

/* Mark the event that was passed, if it is behind the last mark and there is room. */
static void add_mark(struct feed *f, uint64_t at)
{
	uint64_t from = f->packet.sc->header_is_referred ? at : f->payload_at;

	if (at != f->walked_at || f->nr_marks == f->marks_most || from - f->marks_from > UINT32_MAX)
		return;
	if (f->nr_marks == f->size_marks) {
		f->size_marks = MIN(2 * f->size_marks + MARKS_LEAST, f->marks_most);
		f->marks = xrealloc(f->marks, f->size_marks * sizeof(*f->marks));
	}
	f->marks[f->nr_marks++] = (struct feed_mark){
		.clock = f->reader.clock,
		.at = (uint32_t)(from - f->marks_from),
		.number = f->ec->number,
	};
	f->walked_at = f->next_at;
	f->walked_clock = f->reader.clock;
}

/* The same of pass_event() for most events, in the window. Return: whether it was one. */
static bool pass_planned(struct feed *f, uint64_t at)
{
	struct ctf_event_class *ec;

	if (at >> 3 < f->reader.base)
		return false;
	f->reader.pos = at;
	ec = plan_pass(&f->reader, f->packet.sc, &f->payload_at);
	if (!ec)
		return false;
	f->ec = ec;
	f->next_at = f->reader.pos;
	return true;
}

/* Go past an event. @checked: its time, too. */
static int pass_event(struct feed *f, uint64_t at, bool checked)
{
	uint64_t last = f->reader.clock;
	bool is_passed = pass_planned(f, at);
	int result = is_passed ? READ_OK : feed_header(f, at);

	if (!result && checked)
		result = check_time(f, last);
	result = result || is_passed ? result : feed_payload_skip(f, f->payload_at);
	if (!result && f->next_at == at)
		return feed_damaged(f, "an event has no size");
	if (!result)
		add_mark(f, at);
	return result;
}

/* Up to the end of the window: a file is not read farther than its events are decoded. Damage is
 * met again when the events before it have been taken. */
int feed_mark_more(struct feed *f)
{
	uint64_t at = f->walked_at;
	int result = READ_OK;

	f->reader.clock = f->walked_clock;
	begin_marks(f, at);
	while (!result && at < f->packet.content_bits && f->nr_marks < f->marks_most &&
	       at == f->walked_at &&
	       (!f->nr_marks || f->reader.end - at >= FILL_LEAST * 8 ||
		f->reader.end == f->packet.content_bits)) {
		result = pass_event(f, at, false);
		at = f->next_at;
	}
	return result == READ_DAMAGED && f->nr_marks ? READ_OK : result;
}

/* Our packets end their context with it; of another tracer's nothing is known. A relay has checked
 * it, and moves the begin of packets for its viewers. */
static bool has_checksum(const struct feed *f)
{
	const struct packet *packet = &f->packet;

	return !f->source->from_relay && packet_has(packet, ROLE_CRC32C) &&
	       packet_has(packet, ROLE_RECORDED) && packet->head_bits % 8 == 0 &&
	       packet->head_bits / 8 > CRC_BYTES;
}

static int check_sum(struct feed *f)
{
	uint64_t at = f->packet.head_bits / 8, end = f->packet.size;
	uint32_t crc = packet_head_sum(&f->packet, f->source->tc);
	const uint8_t *bytes;
	size_t len;

	for (; at < end; at += len) {
		int r = window_get(&f->window, f->packet.offset + at, FILL_LEAST, &bytes, &len);

		if (r == -ENOMEM)
			return r;
		if (r < 0)
			return feed_damaged(f, "%s", feed_read_error(r));
		if (!len)
			return feed_damaged(f, "the file became shorter");
		len = MIN(len, end - at);
		crc = crc32c(crc, bytes, len);
	}
	if (crc == f->packet.crc32c)
		return READ_OK;
	f->rescan_left -= MIN(f->rescan_left, end); /* packets may lie within each other */
	return feed_damaged(f, "its checksum is wrong");
}

static void begin_counts(struct skim *skim, const struct feed *f)
{
	uint32_t nr = f->packet.sc->nr_sorted;

	if (skim->size < nr) {
		skim->size = nr;
		skim->counts.of = xrealloc(skim->counts.of, nr * sizeof(*skim->counts.of));
	}
	skim->counts.nr = 0;
	skim->counts.last = MAX(f->reader.clock, f->last_clock);
	skim->counts.until = packet_has(&f->packet, ROLE_END) ? f->packet.end : UINT64_MAX;
	if (nr)
		memset(skim->counts.of, 0, nr * sizeof(*skim->counts.of));
}

#define COUNTED_CLASSES 4096u /* of a small packet */

/* Hostile metadata may have a million classes, and packets without events. */
static bool is_counted(const struct feed *f)
{
	return f->skim && f->packet.sc->nr_sorted <= COUNTED_CLASSES + f->packet.size;
}

/* The events from @at on are counted. Those of a packet that is read after all are marked then. */
static int count_events(struct feed *f, uint64_t at)
{
	struct plan_counts *counts = &f->skim->counts;
	int result = READ_OK;

	begin_counts(f->skim, f);
	f->walked_at = UINT64_MAX; /* no event is marked */
	while (!result && at < f->packet.content_bits) {
		if (at >> 3 >= f->reader.base) {
			f->reader.pos = at;
			plan_count(&f->reader, f->packet.sc, counts);
			f->next_at = at = f->reader.pos;
			if (at == f->packet.content_bits)
				break;
		}
		result = pass_event(f, at, true);
		if (!result)
			plan_count_one(counts, f->ec->number, f->reader.clock);
		at = f->next_at;
	}
	f->walked_at = f->marks_from;
	return result;
}

/* All of it at once, if the window is large enough: else its begin is read once more, later. Bytes
 * that can't be read are reported where they are needed. */
static void load_packet(struct feed *f)
{
	const uint8_t *bytes;
	size_t len;

	if (f->packet.size <= f->window.preferred)
		(void)!window_get(&f->window, f->packet.offset, f->packet.size, &bytes, &len);
}

/* @why: its fault if its checksum is right; NULL: none. */
static int check_bytes(struct feed *f, const char *why, uint64_t *ret_events)
{
	uint64_t at = f->packet.head_bits, events = 0;
	int result;

	load_packet(f);
	result = has_checksum(f) ? check_sum(f) : READ_OK;
	if (!result && why)
		result = feed_damaged(f, "%s", why);
	result = result ? result : feed_fill(f, 0, FILL_LEAST);
	f->next_at = at;
	begin_marks(f, at);
	if (f->skim)
		f->skim->counts.nr = 0;
	if (!result && is_counted(f)) {
		result = count_events(f, at);
		*ret_events = f->skim->counts.nr;
		return result;
	}
	while (!result && at < f->packet.content_bits) {
		result = pass_event(f, at, true);
		at = f->next_at;
		events++;
	}
	*ret_events = events;
	return result;
}

/* A tunnel adds packets of its own. */
static const char *contradiction(const struct feed *f)
{
	return f->source->from_relay ? NULL : tally_contradiction(f->tally, &f->packet);
}

static bool has_events(const struct feed *f, uint64_t events, uint64_t *ret_expected)
{
	return f->source->from_relay || !tally_expects(f->tally, &f->packet, ret_expected) ||
	       *ret_expected == events;
}

static int check_packet(struct feed *f, uint64_t *ret_events)
{
	uint64_t expected;
	int result = check_bytes(f, contradiction(f), ret_events);

	if (!result && !has_events(f, *ret_events, &expected))
		return feed_damaged(f, "it holds %llu events and should hold %llu",
				    (unsigned long long)*ret_events, (unsigned long long)expected);
	return result;
}

int feed_check_alone(struct feed *f, uint64_t *ret_events)
{
	return check_bytes(f, NULL, ret_events);
}

/* The window has the packet's head alone then: the rest is read if it is needed. */
bool feed_check_ahead(struct feed *f, struct ahead_packet *ahead)
{
	uint64_t expected;

	if (contradiction(f) || !has_events(f, ahead->events, &expected) ||
	    (packet_has(&f->packet, ROLE_RECORDED) && ahead->nr_marks &&
	     ahead->marks->clock < f->last_clock))
		return false;
	ahead_take_marks(f, ahead);
	f->mark = 0;
	f->marks_from = f->packet.head_bits;
	f->walked_at = ahead->walked_at;
	f->walked_clock = ahead->walked_clock;
	f->reader.clock = ahead->last_clock;
	f->reader.bytes = f->packet.head;
	f->reader.base = 0;
	f->reader.end = f->packet.head_bits;
	return true;
}

/* No time of a damaged packet is compared with later ones. */
int feed_check(struct feed *f, uint64_t *ret_events)
{
	int64_t ns = f->ns;
	int result = check_packet(f, ret_events);

	if (result)
		f->ns = ns;
	return result;
}
