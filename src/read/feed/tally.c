/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tally.h"

#include <string.h>

bool tally_continues(const struct tally *t, const struct packet *packet)
{
	return t->has_last && t->has_instance && packet_has(packet, ROLE_STREAM_INSTANCE) &&
	       packet_has(packet, ROLE_SEQ_NUM) && t->stream_id == packet->stream_id &&
	       t->instance == packet->instance && t->last_seq + 1 == packet->seq_num;
}

bool tally_has_begin(const struct tally *t)
{
	return t->has_last && t->sum.has_ledger && t->sum.name;
}

int tally_compare_begins(const void *one, const void *other)
{
	const struct tally *a = one, *b = other;
	const uint64_t of_a[] = { a->stream_id, a->instance, a->first_seq, a->first_begin,
				  a->first_crc };
	const uint64_t of_b[] = { b->stream_id, b->instance, b->first_seq, b->first_begin,
				  b->first_crc };

	return memcmp(of_a, of_b, sizeof(of_a));
}

/* Before this packet nothing was recorded or lost: the stream begins with it, or
 * with damaged packets that we have seen. */
static bool is_first(const struct tally *t, const struct packet *packet)
{
	return !t->has_last &&
	       (!packet_has(packet, ROLE_SEQ_NUM) || packet->seq_num == t->damaged_in_row);
}

/* A stream that goes on in new files begins them with an empty packet, of one moment, which has the
 * counts of the packet before; or, where all was cleared before the first one, of the records. */
static bool is_base(const struct tally *t, const struct packet *packet)
{
	return !t->has_last && !t->damaged_in_row && packet_has(packet, ROLE_SEQ_NUM) &&
	       packet_has(packet, ROLE_RECORDED) &&
	       (packet->seq_num || packet->recorded > packet->lost[VIEW_LOST_OUTPUT]) &&
	       packet->content_bits == packet->head_bits && packet->begin == packet->end;
}

/* Whether the packet begins where the last one ended, by number or by stream position. If one of
 * the two is wrong, the other one still detects a gap. */
static bool view_tally_is_successor(const struct tally *t, const struct packet *packet)
{
	return t->has_last &&
	       (packet->seq_num == t->last_seq + 1 ||
		(packet_has(packet, ROLE_STREAM_POS) && packet->stream_pos == t->last_end_pos));
}

const char *tally_contradiction(const struct tally *t, const struct packet *packet)
{
	if (!packet_has(packet, ROLE_STREAM_POS) || !packet_has(packet, ROLE_RECORDED))
		return NULL;
	if (packet->content_bits != packet->size * 8)
		return "it has padding";
	if (t->has_last && packet->recorded < t->last_recorded)
		return "its count of events goes back";
	return NULL;
}

/* Packets of ltt-control begin where the previous one ended, unless events between them were
 * overwritten; those of other tracers may leave gaps, but must not overlap. */
static bool is_time_odd(const struct tally *t, const struct packet *packet)
{
	if (!packet_has(packet, ROLE_BEGIN) || !packet_has(packet, ROLE_END))
		return false;
	return packet->begin < t->last_end ||
	       (packet_has(packet, ROLE_RECORDED) && !t->damaged_in_row &&
		packet->begin != t->last_end &&
		packet->lost[VIEW_LOST_FULL] == t->last_lost[VIEW_LOST_FULL]);
}

const char *tally_oddity(const struct tally *t, const struct packet *packet)
{
	if (!t->has_last)
		return NULL;
	for (int i = 0; i < VIEW_NR_LOST; i++)
		if (packet->lost[i] < t->last_lost[i])
			return "its counts of losses go back";
	if (packet_has(packet, ROLE_RECORDED) && packet->cpu != t->last_cpu)
		return "it is of another CPU than the packet before";
	if (packet_has(packet, ROLE_SEQ_NUM) &&
	    packet->seq_num != t->last_seq + 1 + t->damaged_in_row)
		return "its number does not follow that of the packet before";
	if (is_time_odd(t, packet))
		return "it does not begin at the end of the packet before";
	if (packet_has(packet, ROLE_STREAM_POS) && !t->damaged_in_row &&
	    packet->stream_pos != t->last_end_pos &&
	    packet->lost[VIEW_LOST_OUTPUT] == t->last_lost[VIEW_LOST_OUTPUT])
		return "bytes of events are missing before it";
	return NULL;
}

/* Recorded events that an output failed to take leave a gap between packets. */
bool tally_expects(const struct tally *t, const struct packet *packet, uint64_t *ret_events)
{
	if (!packet_has(packet, ROLE_RECORDED) || !packet_has(packet, ROLE_SEQ_NUM) ||
	    t->damaged_in_row || is_base(t, packet) ||
	    (!view_tally_is_successor(t, packet) && !is_first(t, packet)))
		return false;
	*ret_events = packet->recorded - (t->has_last ? t->last_recorded : 0);
	if (t->has_last ? packet->stream_pos != t->last_end_pos : packet->stream_pos != 0)
		*ret_events -= packet->lost[VIEW_LOST_OUTPUT] - t->last_lost[VIEW_LOST_OUTPUT];
	return true;
}

static bool add_losses(struct tally *t, const struct packet *packet)
{
	bool base = is_base(t, packet), any = false;
	bool known = !base && (t->has_last || is_first(t, packet));

	for (int i = 0; i < VIEW_NR_LOST; i++) {
		any |= known && packet->lost[i] > t->last_lost[i];
		if (known && packet->lost[i] > t->last_lost[i])
			t->sum.lost[i] += packet->lost[i] - t->last_lost[i];
		else if (!known && !base && packet_has(packet, ROLE_RECORDED))
			t->sum.lost_before += packet->lost[i];
		t->last_lost[i] = packet->lost[i];
	}
	return any;
}

static void add_gap(struct tally *t, const struct packet *packet)
{
	uint64_t gap;

	if (!packet_has(packet, ROLE_SEQ_NUM))
		return;
	if (t->has_last && packet->seq_num > t->last_seq && !view_tally_is_successor(t, packet)) {
		gap = packet->seq_num - t->last_seq - 1;
		t->sum.lost_packets += gap > t->damaged_in_row ? gap - t->damaged_in_row : 0;
	}
	t->last_seq = packet->seq_num;
}

/* The number of events in damaged packets is known once a good packet follows. */
static void add_unreadable(struct tally *t, const struct packet *packet, uint64_t events)
{
	uint64_t before = t->has_last ? t->last_recorded : 0;

	if (!packet_has(packet, ROLE_RECORDED))
		return;
	if (t->damaged_in_row && (t->has_last || is_first(t, packet)) &&
	    packet->recorded > before + events)
		t->sum.damaged_events += packet->recorded - before - events;
	t->last_recorded = packet->recorded;
}

/* The events that the stream holds by its headers, and those before its first packet in files that
 * have been erased; not those in an archive. */
static void add_ledger(struct tally *t, const struct packet *packet, uint64_t events)
{
	uint64_t stored = packet->recorded - packet->lost[VIEW_LOST_OUTPUT];

	if (!packet_has(packet, ROLE_RECORDED))
		return;
	if (!t->sum.has_ledger && packet_has(packet, ROLE_SEQ_NUM) &&
	    (t->has_base || packet->seq_num > t->damaged_in_row)) {
		t->stored_before = stored - events;
		t->sum.before = t->has_base ? 0 : t->stored_before;
	}
	t->sum.has_ledger = true;
	t->sum.recorded = stored - t->stored_before;
}

bool tally_packet(struct tally *t, const struct packet *packet, uint64_t events)
{
	uint64_t lost_packets = t->sum.lost_packets;
	bool lossy = add_losses(t, packet) || t->damaged_in_row;

	if (!t->has_last) {
		t->has_base = is_base(t, packet);
		t->first_recorded = packet->recorded - events;
		t->first_seq = packet->seq_num;
		t->first_begin = packet->begin;
		t->first_crc = packet->crc32c;
	}
	add_unreadable(t, packet, events);
	add_gap(t, packet);
	add_ledger(t, packet, events);
	t->last_end = packet->end;
	t->last_end_pos = packet->stream_pos + packet->size - packet->head_bits / 8;
	t->last_cpu = packet->cpu;
	t->stream_id = packet->stream_id;
	t->instance = packet->instance;
	t->has_instance = packet_has(packet, ROLE_STREAM_INSTANCE);
	t->has_last = true;
	t->damaged_in_row = 0;
	t->sum.packets++;
	return lossy || t->sum.lost_packets > lost_packets;
}

void tally_damaged(struct tally *t)
{
	t->damaged_in_row++;
	t->sum.damaged_packets++;
}
