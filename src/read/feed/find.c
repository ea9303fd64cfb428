/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From packet to packet, past the damaged ones. */
#include <endian.h>
#include <errno.h>

#include "read/clock/clock.h"
#include "ahead.h"
#include "priv.h"
#include "read/source.h"
#include "trace/packet.h"

#define HEAD_BYTES 512u

int feed_parse(struct feed *f, uint64_t offset, const uint8_t *bytes, size_t len)
{
	int r = packet_parse(&f->packet, f->source->tc, bytes, len, offset,
			     f->window.limit - offset, f->reader.slots);

	if (r == PACKET_OK)
		f->clock = source_clock(f->source, &f->packet);
	return r;
}

int feed_head(struct feed *f, uint64_t offset)
{
	uint64_t left = f->window.limit - offset;
	size_t want = HEAD_BYTES, len;
	const uint8_t *bytes;
	int r;

	for (;; want *= 8) {
		r = window_get(&f->window, offset, want, &bytes, &len);
		if (r < 0)
			return r;
		len = MIN(len, want);
		r = feed_parse(f, offset, bytes, len);
		if (r != PACKET_SHORT || len >= left || want > PACKET_MAX_HEAD || len < want)
			return r;
	}
}

/* The head can be read and the packet is all in the file. */
static bool feed_find_is_whole(struct feed *f, uint64_t offset)
{
	return feed_head(f, offset) == PACKET_OK && f->packet.size <= f->window.limit - offset;
}

/* Where the next magic number is from @offset on, or the end of the file. No byte of it is 0, so
 * none is in a hole. */
static int next_magic(struct feed *f, uint64_t offset, uint64_t *ret_offset)
{
	uint32_t magic = f->source->tc->big_endian ? htobe32(PACKET_MAGIC) : htole32(PACKET_MAGIC);
	const uint8_t *bytes, *found;
	size_t len;

	for (;; offset += len - 3) {
		int r;

		offset = window_data(&f->window, offset);
		r = window_get(&f->window, offset, 4, &bytes, &len);
		if (r < 0)
			return r;
		if (len < 4)
			break;
		found = memmem(bytes, len, &magic, 4);
		f->rescan_left -= MIN(f->rescan_left, found ? (size_t)(found - bytes) : len);
		if (found) {
			*ret_offset = offset + (found - bytes);
			return 0;
		}
	}
	*ret_offset = f->window.limit;
	return 0;
}

/* The first whole packet from @offset on, or the end of the file. */
static int feed_find_resync(struct feed *f, uint64_t offset, uint64_t *ret_offset)
{
	int r = source_has_magic(f->source) ? 0 : 1;

	while (!r && offset < f->window.limit) {
		r = next_magic(f, offset, &offset);
		if (r < 0 || offset == f->window.limit || feed_find_is_whole(f, offset))
			break;
		offset++;
	}
	*ret_offset = r > 0 ? f->window.limit : offset;
	return MIN(r, 0);
}

/* Report the damage of the packet at @offset and continue behind it. */
static int feed_find_skip_damaged(struct feed *f, uint64_t offset, const char *why)
{
	uint64_t size = f->packet.size, next;
	uint64_t from = f->search_from < offset ? f->search_from : offset + 1;
	bool searching = f->rescan_left > 0 && source_has_magic(f->source);
	int r = 0;

	f->search_from = offset + 1;
	if (searching)
		r = feed_find_resync(f, from, &next);
	else
		next = size && size <= f->window.limit - offset ? offset + size : f->window.limit;
	if (searching && r == 0 && next == offset) /* its header is good */
		r = feed_find_resync(f, offset + 1, &next);
	if (r < 0)
		return r;
	if (!offset && next == f->window.limit && !size)
		report(f->source->reporter, "%s/%s holds no packet of this trace: %s",
		       f->source->label, f->name, why);
	else
		report(f->source->reporter, "%s/%s: the packet at byte %llu is left out: %s",
		       f->source->label, f->name, (unsigned long long)offset, why);
	f->skipped_bytes += MAX(next, offset) - offset;
	f->next_packet = next;
	tally_damaged(f->tally);
	return 0;
}

/* The file ends inside the packet; or is its size wrong, and others follow? */
static int skip_cut(struct feed *f, uint64_t offset)
{
	uint64_t next = f->window.limit;
	int r = f->rescan_left ? feed_find_resync(f, offset + 1, &next) : 0;

	if (r < 0)
		return r;
	f->packet.size = next - offset;
	if (next < f->window.limit)
		return feed_find_skip_damaged(f, offset, "its size is wrong");
	f->cut_at = offset;
	report_note(f->source->reporter,
		    "%s/%s: the last packet is not complete (yet): %llu bytes are left out",
		    f->source->label, f->name, (unsigned long long)(next - offset));
	f->skipped_bytes += next - offset;
	f->next_packet = next;
	return 0;
}

/* Our consumer makes room for a packet that crosses a page, by its last byte, before it
 * writes anything else. Return: 1: there is nothing but such room up to the end. */
static int is_room(struct feed *f, uint64_t offset)
{
	static const uint8_t zeros[4096];
	uint64_t end = f->window.limit - 1;
	const uint8_t *bytes;
	size_t len;

	for (; (offset = window_data(&f->window, offset)) < end; offset += len) {
		int r = window_get(&f->window, offset, sizeof(zeros), &bytes, &len);

		if (r < 0)
			return r;
		len = MIN(MIN(len, sizeof(zeros)), end - offset);
		if (!len || memcmp(bytes, zeros, len) != 0)
			return 0;
	}
	return source_has_magic(f->source);
}

static int skip_bad(struct feed *f, uint64_t offset)
{
	bool hole = window_data(&f->window, offset) > offset;
	const char *why = hole ? "the file has a hole there" : f->packet.why;
	int r = is_room(f, offset);

	return r < 0 ? r : r ? skip_cut(f, offset) : feed_find_skip_damaged(f, offset, why);
}

/* Our consumer writes a packet that crosses a page as an empty one first. */
static bool is_unfinished(const struct packet *packet)
{
	return packet_has(packet, ROLE_RECORDED) && packet->content_bits == packet->head_bits &&
	       packet->size * 8 > packet->head_bits;
}

static int skip_unfinished(struct feed *f, uint64_t offset)
{
	if (f->next_packet < f->window.limit)
		return feed_find_skip_damaged(f, offset, "it was never completed");
	return skip_cut(f, offset);
}

static void note_end(const struct feed *f)
{
	if (packet_has(&f->packet, ROLE_END))
		f->source->until_ns = MAX(f->source->until_ns, clock_ns(f->clock, f->packet.end));
}

static void report_oddity(struct feed *f, uint64_t offset)
{
	bool ours = packet_has(&f->packet, ROLE_RECORDED);
	const char *what = f->strict || ours ? tally_oddity(f->tally, &f->packet) : NULL;

	if (what)
		report(f->source->reporter, "%s/%s: the packet at byte %llu: %s", f->source->label,
		       f->name, (unsigned long long)offset, what);
}

/* A packet that is all there: check it, or pass it by. @ahead: NULL, or as it was checked before.
 * Return: 1: read it. */
static int feed_find_enter(struct feed *f, uint64_t offset, const int64_t *begin_ns,
			   struct ahead_packet *ahead)
{
	uint64_t events, begin = f->packet.begin, checked;
	int r = READ_OK;

	f->next_packet = offset + f->packet.size;
	if (feed_ends_before(f, begin_ns)) {
		note_end(f);
		return 0;
	}
	source_tally(f->source, f);
	if (is_unfinished(&f->packet))
		return skip_unfinished(f, offset);
	ahead_continue(f);
	if (ahead && feed_check_ahead(f, ahead)) {
		events = ahead->events;
	} else {
		f->reader.clock = begin;
		r = feed_check(f, &events);
	}
	if (r < 0)
		return r;
	if (r == READ_DAMAGED) {
		checked = f->next_at >> 3;
		f->rescan_left -= MIN(f->rescan_left, checked);
		return feed_find_skip_damaged(f, offset, f->why);
	}
	if (!f->source->from_relay) /* a tunnel adds packets of its own */
		report_oddity(f, offset);
	f->last_clock = f->reader.clock;
	f->search_from = offset + (f->packet.content_bits + 7) / 8;
	note_end(f);
	if (tally_packet(f->tally, &f->packet, events))
		f->source->lossy_until_ns =
			MAX(f->source->lossy_until_ns,
			    clock_ns(f->clock, f->packet.end));
	f->tally->sum.events += events;
	return 1;
}

int feed_find(struct feed *f, const int64_t *begin_ns)
{
	while (f->next_packet < f->window.limit) {
		uint64_t offset = f->next_packet;
		struct ahead_packet *ahead = ahead_take(f, offset);
		int r = ahead ? feed_parse(f, offset, ahead->head, ahead->head_len) :
				feed_head(f, offset);

		if (r == PACKET_OK && f->packet.size <= f->window.limit - offset)
			r = feed_find_enter(f, offset, begin_ns, ahead);
		else if (r == PACKET_OK || r == PACKET_SHORT)
			r = skip_cut(f, offset);
		else if (r == PACKET_BAD)
			r = skip_bad(f, offset);
		else if (r != -ENOMEM)
			r = feed_find_skip_damaged(f, offset, feed_read_error(r));
		ahead_release(f, ahead);
		report_read(f->source->reporter, f->next_packet - MIN(offset, f->next_packet));
		if (r)
			return r;
	}
	return 0;
}
