/* SPDX-License-Identifier: GPL-2.0-only */
/* Is a packet whole? Every event is passed without being decoded. If the tracer stores the number
 * of events in a packet, one whose timestamps go backwards is damaged; else that is reported, as by
 * the reader of events. */
#include <errno.h>

#include "feed_priv.h"
#include "source.h"
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
		feed_set_time(f);
	return READ_OK;
}

static int check_event(struct feed *f, uint64_t at)
{
	struct feed_scopes unused;
	uint64_t last = f->reader.clock;
	int result = feed_header(f, at);

	result = result ? result : check_time(f, last);
	result = result ? result : feed_payload(f, f->payload_at, NULL, &unused);
	if (!result && f->next_at == at)
		return feed_damaged(f, "an event has no size");
	return result;
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
	return crc == f->packet.crc32c ? READ_OK : feed_damaged(f, "its checksum is wrong");
}

static int check_packet(struct feed *f, uint64_t *ret_events)
{
	uint64_t at = f->packet.head_bits, expected, events = 0;
	int result = has_checksum(f) ? check_sum(f) : READ_OK;
	bool counts = !f->source->from_relay; /* a tunnel adds packets of its own */
	const char *why = counts ? tally_contradiction(f->tally, &f->packet) : NULL;

	if (!result && why)
		result = feed_damaged(f, "%s", why);
	result = result ? result : feed_fill(f, 0, FILL_LEAST);
	while (!result && at < f->packet.content_bits) {
		result = check_event(f, at);
		at = f->next_at;
		events++;
	}
	if (result)
		return result;
	if (counts && tally_expects(f->tally, &f->packet, &expected) && expected != events)
		return feed_damaged(f, "it holds %llu events and should hold %llu",
				    (unsigned long long)events, (unsigned long long)expected);
	*ret_events = events;
	return READ_OK;
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
