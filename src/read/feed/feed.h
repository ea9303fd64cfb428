/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * feed.h - reads one stream file, event by event. Owned by its source (the trace). A packet is
 * checked completely before its events are shown, so that no events of damaged packets are shown;
 * packets after a damaged one are found by their headers.
 */
#ifndef READ_FEED_FEED_H
#define READ_FEED_FEED_H

#include "read/clock/clock.h"
#include "read/decode/plan.h"
#include "packet.h"
#include "seek.h"
#include "tally.h"
#include "window.h"

struct ahead_stream;
struct feed;
struct source;

#define MARKS_LEAST 1024u

/** struct feed_mark - an event of a packet, found by the check. @at: in bits from the first mark's
 *  event: its payload, or, where types in that depend on the event header, this. @number: of its
 *  class. */
struct feed_mark {
	uint64_t clock;
	uint32_t at;
	uint32_t number;
};

/** struct skim - events are only counted, a packet at a time. @take: called with a packet that is
 *  whole and its events, by their classes. Return: all of them are taken; false: they are read one
 *  by one. */
struct skim {
	bool (*take)(struct skim *skim, struct feed *feed);
	struct view *view;
	const struct view_select *select;
	struct plan_counts counts;
	uint32_t size; /* of counts.of */
};

/**
 * struct feed
 * @ns: time of the current event; while the file is not open, a lower bound of it. Key of the
 *      merge.
 * @sc: stream class of the first packet; NULL: its header can't be read.
 * @entry: the packet to begin with, by the index; its size is 0: there is none.
 * @next_packet: offset of the packet after the current one.
 * @payload_at, @next_at: of the current event, positions in bits from the packet's begin; the
 *      latter when it has been decoded. @event_at: as of its mark, whether it is decoded or not;
 *      @event_bytes: the same in memory, if the window is there.
 * @marks: of the next events of the packet, @marks_most at once; @mark: the first one that was not
 *      taken. @marks_from: where the first one's event begins. @walked_at, @walked_clock: where
 *      and at which time the events behind them begin.
 * @search_from: end of the content of the last good packet, regardless of its
 *      packet size: start of the search for packets if there is none behind
 *      that size.
 * @last_clock: of the last event of good packets.
 * @rescan_left: bytes of damaged packets that may be searched for more packets.
 * @skim: NULL: events are not only counted. @skimmed: those of the current packet were.
 * @ahead: its packets that are checked ahead; NULL: none are.
 * @live_id: of a live stream, at the relay; @until_ns: it has no later event before this time.
 */
struct feed {
	/* that feed_next_marked() needs: few lines of memory, as other feeds' come in between */
	int64_t ns;
	struct ctf_event_class *ec;
	const uint8_t *event_bytes;
	const struct ctf_clock *clock; /* of the packet */
	struct feed_mark *marks;
	uint32_t nr_marks, mark;
	uint64_t marks_from;
	uint64_t payload_at;
	uint64_t event_at;
	bool in_packet;
	bool open;
	bool reported_backwards;
	bool strict; /* report discontinuities between packets */
	uint32_t order;
	struct reader reader;
	struct packet packet;
	/* all else */
	uint32_t size_marks, marks_most;
	struct source *source;
	struct ahead_stream *ahead;
	struct skim *skim;
	bool skimmed;
	char *name;
	struct window window;
	struct tally *tally;
	struct seek_entry entry;
	uint64_t next_packet;
	uint64_t search_from;
	uint64_t last_clock;
	uint64_t next_at;
	uint64_t walked_at;
	uint64_t walked_clock;
	uint64_t rescan_left;
	uint64_t skipped_bytes;
	uint64_t cut_at; /* offset of a packet that the file's end cuts off; UINT64_MAX: none */
	const struct ctf_stream_class *sc;
	uint64_t live_id;
	int64_t until_ns;
	char why[128];
};

struct feed *feed_new(struct source *source, const char *name, uint64_t size);
struct feed *feed_free(struct feed *feed);

/**
 * feed_peek() - set feed->ns, by the first packet that is to be read.
 * @begin_ns: packets that end before this time are not to be read; NULL: none. The index, if there
 *         is a good one, is searched: so a stream that ends before costs one read of its index.
 * Return: 0; 1: there is none; negative errno.
 */
int feed_peek(struct feed *feed, const int64_t *begin_ns) MUST_CHECK;

/**
 * feed_next() - go to the next event.
 * @begin: skip packets that end before this time; NULL: none.
 * Return: 1: there is one; 2: not yet, and feed->ns may have changed (live.h); 0: there are no
 * more, and the file is closed; negative errno: out of memory.
 */
int feed_next(struct feed *feed, const int64_t *begin_ns, size_t preferred) MUST_CHECK;

/** Open the file before feed_next() needs it. Return: its size; 0: it has holes, or can't be read;
 *  feed_next() reports that. */
uint64_t feed_dense(struct feed *feed);

/** The first event that is earlier than the one before it is reported. */
void feed_report_backwards(struct feed *feed);

/** Set the feed's time to @clock, that of an event. */
static inline void feed_set_time(struct feed *feed, uint64_t clock)
{
	int64_t last = feed->ns;

	feed->ns = clock_ns(feed->clock, clock);
	if (feed->ns < last && !feed->reported_backwards)
		feed_report_backwards(feed);
}

/** The part of feed_next() that most events need. Return: whether the next event was there. */
static inline bool feed_next_marked(struct feed *feed)
{
	const struct feed_mark *mark = &feed->marks[feed->mark];

	if (!feed->in_packet || feed->mark == feed->nr_marks)
		return false;
	feed->mark++;
	feed->event_at = feed->payload_at = feed->marks_from + mark->at;
	feed->event_bytes = feed->reader.bytes + ((feed->payload_at >> 3) - feed->reader.base);
	feed->ec = feed->packet.sc->sorted[mark->number];
	feed->reader.clock = mark->clock;
	feed_set_time(feed, mark->clock);
	return true;
}

/** The next packet of a live stream; @bytes: passed on. */
void feed_receive(struct feed *feed, uint8_t *bytes, size_t len);

/** Of a file that grows the first @size bytes, more than before, are complete. */
void feed_grow(struct feed *feed, uint64_t size);

struct verify_index;

/** Whether the current packet ends before @begin_ns; NULL: none does. */
static inline bool feed_ends_before(const struct feed *feed, const int64_t *begin_ns)
{
	return begin_ns && packet_has(&feed->packet, ROLE_END) && feed->packet.end &&
	       clock_ns(feed->clock, feed->packet.end) < *begin_ns;
}

/** Check all packets, without storing events. Return: 0 or negative errno. */
int feed_verify(struct feed *feed, size_t preferred, struct verify_index *index) MUST_CHECK;

/** Indices of the first value of each scope of an event, in struct values; -1: no such scope. */
struct feed_scopes {
	int32_t stream_context;
	int32_t context;
	int32_t fields;
};

#define FEED_UNPLANNED 2

/** feed_pick() - decode the values of a pick, of the current event. Return: as feed_decode(), or
 *  FEED_UNPLANNED: the plans are not right where this event begins. */
int feed_pick(struct feed *feed, const struct plan_pick *pick, struct value *values) MUST_CHECK;

/** The bytes of these values, as they are in the packet. Return: NULL: their places differ. */
const uint8_t *feed_pick_bytes(const struct feed *feed, const struct plan_pick *pick,
			       size_t *ret_len);

/** feed_locate() - find the values of the current event (plan_locate()). Return: as feed_pick(). */
int feed_locate(struct feed *feed, const struct plan_pick *skipped, const uint8_t **bases)
	MUST_CHECK;

/**
 * feed_decode() - decode the current event.
 * @has_fields: its fields, too; else as if it had none.
 * @ret_scopes: indices into @values.
 * Return: 1; 0: it can't be decoded, as the file was changed meanwhile; negative errno.
 */
int feed_decode(struct feed *feed, struct values *values, bool has_fields,
		struct feed_scopes *ret_scopes) MUST_CHECK;

#endif
