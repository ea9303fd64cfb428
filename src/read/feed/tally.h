/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tally.h - counts of one stream: the recorded and lost events according to its packets, and
 * the events that were read. A stream with several files has one tally.
 * Owned by the source (the trace).
 */
#ifndef READ_FEED_TALLY_H
#define READ_FEED_TALLY_H

#include "packet.h"

struct tally {
	struct view_stream sum;
	uint64_t stream_id;
	uint64_t instance;
	bool has_instance;
	bool has_last;
	bool has_base; /* its first packet is an opening one: it counts the events of other files */
	bool taken_off; /* sum.before is without events of earlier archives */
	uint64_t first_seq, first_begin, first_crc; /* of the first good packet */
	uint64_t first_recorded; /* events that were recorded before it */
	uint64_t stored_before;	 /* of these, those that are in files */
	uint64_t last_cpu;
	uint64_t last_seq;
	uint64_t last_recorded;
	uint64_t last_end;     /* timestamp_end of the last packet */
	uint64_t last_end_pos; /* position of the last packet's end in the ring */
	uint64_t last_lost[VIEW_NR_LOST];
	uint64_t damaged_in_row; /* damaged packets since the last good one */
	struct tally *next;
};

/** Whether the packet is known that the tally's file begins with. */
bool tally_has_begin(const struct tally *tally);

/** Compare these packets of two tallies, for tsearch(3): where it is one packet, a file is a copy
 *  of the other. */
int tally_compare_begins(const void *a, const void *b);
/** Whether this packet continues where the tally's last one ended. */
bool tally_continues(const struct tally *tally, const struct packet *packet);

/**
 * tally_contradiction() - check that a packet of this tracer fits the one before it. Only for
 * packets with a position in their stream. Return: NULL, or the contradiction.
 */
const char *tally_contradiction(const struct tally *tally, const struct packet *packet);

/**
 * tally_oddity() - check that a readable packet continues where the last one ended: number,
 * time, position, CPU and counts of losses. Return: NULL, or the oddity.
 */
const char *tally_oddity(const struct tally *tally, const struct packet *packet);

/** The number of events that the packet must contain. Return: false if unknown. */
bool tally_expects(const struct tally *tally, const struct packet *packet, uint64_t *ret_events);

/** Add a good packet with this many events. Return: events are missing in it, or between it and the
 *  good one before. */
bool tally_packet(struct tally *tally, const struct packet *packet, uint64_t events);

/** Add a packet that could not be read. */
void tally_damaged(struct tally *tally);

#endif
