/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tally.h - the ledger of one stream: what its packets say was recorded and
 * lost, beside what was read. A stream that a tracer spread over several files
 * has one tally. Belongs to the source (the trace).
 */
#ifndef VIEW_TALLY_H
#define VIEW_TALLY_H

#include "packet.h"

struct tally {
	struct view_stream sum;
	uint64_t stream_id;
	uint64_t instance;
	bool has_instance;
	bool has_last;
	uint64_t last_seq;
	uint64_t last_recorded;
	uint64_t last_end;     /* its timestamp_end */
	uint64_t last_end_pos; /* where in the ring's life the last packet ended */
	uint64_t last_lost[VIEW_NR_LOST];
	uint64_t damaged_since; /* packets since the last good one */
	struct tally *next;
};

/** Does this packet go on where the tally's last one ended? */
bool tally_continues(const struct tally *tally, const struct packet *packet);

/**
 * tally_contradiction() - does a packet of ours fit the one before it?
 * Only for packets that say where in their stream they are. Return: NULL, or
 * what does not fit.
 */
const char *tally_contradiction(const struct tally *tally, const struct packet *packet);

/**
 * tally_oddity() - what in a packet that can be read does not go on where the last
 * one ended: its number, time, position or counts of losses. Return: NULL: nothing.
 */
const char *tally_oddity(const struct tally *tally, const struct packet *packet);

/** How many events the packet must hold. Return: false where nothing says. */
bool tally_expects(const struct tally *tally, const struct packet *packet, uint64_t *ret_events);

/** A good packet with so many events. */
void tally_packet(struct tally *tally, const struct packet *packet, uint64_t events);

/** A packet that could not be read. */
void tally_damaged(struct tally *tally);

#endif
