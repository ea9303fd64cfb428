/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * feed.h - one stream file, read event by event. Belongs to its source (the
 * trace). A packet is checked completely before any of its events is shown, so that no event of
 * a damaged one is; the packets after it are found by their headers.
 */
#ifndef VIEW_FEED_H
#define VIEW_FEED_H

#include "packet.h"
#include "tally.h"
#include "window.h"

struct source;

/**
 * struct feed
 * @ns: time of the present event, or before which none comes where the file is
 *      not open yet: what the merge goes by.
 * @next_packet: offset of the packet behind the present one.
 * @event_at, @payload_at, @next_at: bits, from the packet's begin; next_at is 0
 *      until the payload has been passed.
 * @search_from: behind the content of the last good packet, whatever size it
 *      claims: where to look for packets if there is none where it says.
 * @last_clock: of the last event of good packets.
 * @rescan_left: bytes of damaged packets that may be searched for more packets.
 */
struct feed {
	struct source *source;
	char *name;
	uint32_t order;
	bool open;
	bool in_packet;
	bool reported_backwards;
	bool strict; /* report discontinuities between packets */
	struct window window;
	struct packet packet;
	struct reader reader;
	struct tally *tally;
	uint64_t next_packet;
	uint64_t search_from;
	uint64_t last_clock;
	uint64_t event_at;
	uint64_t payload_at;
	uint64_t next_at;
	uint64_t rescan_left;
	uint64_t skipped_bytes;
	uint64_t cut_at; /* of the packet that the file ends in; UINT64_MAX: none */
	struct ctf_event_class *ec;
	int64_t ns;
	char why[128];
};

struct feed *feed_new(struct source *source, const char *name, uint64_t size);
struct feed *feed_free(struct feed *feed);

/** Look at the first packet, for feed->ns, and close the file again.
 *  Return: 0; 1: there is none; negative errno. */
int feed_peek(struct feed *feed) MUST_CHECK;

/**
 * feed_next() - go to the next event.
 * @begin: skip packets that end before this time; NULL: none.
 * Return: 1: there is one; 0: there is none any more and the file is closed;
 * negative errno: out of memory.
 */
int feed_next(struct feed *feed, const int64_t *begin_ns, size_t preferred) MUST_CHECK;

struct verify_index;

/** Check all packets, none of the events is kept. Return: 0 or negative errno. */
int feed_verify(struct feed *feed, size_t preferred, struct verify_index *index) MUST_CHECK;

/** Where the values of an event's scopes begin in the list; -1: there are none. */
struct feed_scopes {
	int32_t stream_context;
	int32_t context;
	int32_t fields;
};

/**
 * feed_decode() - decode the present event.
 * @ret_scopes: indices into @values.
 * Return: 1; 0: it can't be decoded, as the file was changed meanwhile; negative errno.
 */
int feed_decode(struct feed *feed, struct values *values,
		struct feed_scopes *ret_scopes) MUST_CHECK;

#endif
