/* SPDX-License-Identifier: GPL-2.0-only */
#include "stream.h"

#include <string.h>

#include "base/log.h"
#include "consumerd/now.h"
#include "trace/packet.h"

#define SLOW_NS 100000000u /* of the write of a packet: shown where its ring was full */

static uint64_t lost_output(const struct stream *s)
{
	return s->lost_output + s->reader.invalid_count;
}

/* Those that were overwritten are not among the recorded ones of a packet. */
static uint64_t lost_full(const struct stream *s)
{
	return s->reader.lost[LOST_FULL] + s->reader.overwritten;
}

static uint64_t lost_in_all(const struct stream *s)
{
	const uint64_t *lost = s->reader.lost;

	return lost_full(s) + lost[LOST_SIZE] + lost[LOST_BUSY] + lost_output(s);
}

/* Lost ones that no packet counts. */
static uint64_t unreported(const struct stream *s)
{
	return s->reader.kept ? 0 : lost_in_all(s) - MIN(s->lost_reported, lost_in_all(s));
}

/* Whether the records of the copy are not written yet. */
static bool stream_holds(const struct stream *s)
{
	return s->copied_pos > s->reader.released;
}

/* Let other threads see the counters. */
static void stream_publish(struct stream *s)
{
	const struct ring_reader *r = &s->reader;
	uint64_t missed = MIN(s->out->missed, s->written);
	struct stats stats = {
		.recorded = r->count,
		.written = s->written - missed - MIN(s->cleared, s->written - missed),
		.cleared = s->cleared,
		.lost_output = lost_output(s) + missed,
		.lost_invalid = r->invalid_bytes,
		.bytes = s->bytes,
		.packets = s->packets,
		.size = r->size,
		.raw_count = r->raw.count,
		.snapshot_ns = r->snapshot_ns,
		.released = r->released_count,
		.stalled = s->stalled,
		.slow_ns = s->slow_ns,
		.slow_bytes = s->slow_bytes,
		.not_sampled = r->not_sampled,
		.raw_not_sampled = r->raw_not_sampled,
		.overwritten = r->overwritten,
		.held = stream_holds(s) ? s->copied_count - r->released_count : 0,
		.held_bytes = stream_holds(s) ? s->copied_pos - r->released : 0,
		.stalling = s->config->disk->stalled,
		.unreported = s->ended ? unreported(s) : 0,
	};

	memcpy(stats.lost, r->lost, sizeof(stats.lost));
	memcpy(stats.raw_lost, r->raw.lost, sizeof(stats.raw_lost));
	if (r->kept)
		ring_divide(r, &r->raw, s->ended, &stats);
	stats_publish(s->box, &stats);
}

/* --- state -------------------------------------------------------------------- */

enum stream_state stream_next(enum stream_state state, enum stream_event event)
{
	static const uint8_t next[STREAM_STATES][STREAM_EVENTS] = {
		[STREAM_UNPLACED] = {
			[STREAM_LOSES_PLACE] = STREAM_UNPLACED,
			[STREAM_IS_PLACED] = STREAM_READY,
			[STREAM_SENDS] = STREAM_UNPLACED,
			[STREAM_IS_ANSWERED] = STREAM_UNPLACED,
		},
		[STREAM_READY] = {
			[STREAM_LOSES_PLACE] = STREAM_UNPLACED,
			[STREAM_IS_PLACED] = STREAM_READY,
			[STREAM_SENDS] = STREAM_SENT,
			[STREAM_IS_ANSWERED] = STREAM_READY,
		},
		[STREAM_SENT] = {
			[STREAM_LOSES_PLACE] = STREAM_UNPLACED,
			[STREAM_IS_PLACED] = STREAM_SENT,
			[STREAM_SENDS] = STREAM_SENT,
			[STREAM_IS_ANSWERED] = STREAM_READY,
		},
	};

	return (enum stream_state)next[state][event];
}

static void stream_on(struct stream *s, enum stream_event event)
{
	s->state = stream_next(s->state, event);
}

/* Known to the next consumer: snapshots count in these words only for rings that are kept. */
static void stream_save_turns(struct stream *s)
{
	struct ltt_ring_cons *cons = s->reader.cons;

	__atomic_store_n(&cons->saved_records, s->cleared, __ATOMIC_RELAXED);
	__atomic_store_n(&cons->saved_packets, s->kept, __ATOMIC_RELAXED);
	__atomic_store_n(&cons->saved_end, s->archived, __ATOMIC_RELAXED);
	__atomic_store_n(&cons->saved_bytes, s->turned, __ATOMIC_RELEASE);
}

static void stream_load_turns(struct stream *s)
{
	const struct ltt_ring_cons *cons = s->reader.cons;

	s->cleared = MIN(cons->saved_records, s->written);
	s->kept = MIN(cons->saved_packets, s->written - s->cleared);
	if (!s->out->sink->link) /* files have that count */
		return;
	s->archived = MIN(cons->saved_end, s->written);
	s->turned = cons->saved_bytes != 0;
}

/* All records so far are in the archive of a turn at the relay, and later ones are not. */
static void stream_note_turn(struct stream *s)
{
	s->archived = s->written;
	s->turned = true;
	stream_save_turns(s);
}

/* --- packets ---------------------------------------------------------------- */

/* The end of the packet with this number, for the next consumer. */
static void stream_save_end(struct stream *s, uint64_t number, uint64_t pos, uint64_t count)
{
	struct ltt_ring_stored *to = &s->reader.cons->stored[number & 1];

	if (!s->reader.overwrite)
		return;
	__atomic_store_n(&to->next, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&to->pos, pos, __ATOMIC_RELEASE);
	__atomic_store_n(&to->count, count, __ATOMIC_RELEASE);
	__atomic_store_n(&to->overwritten, s->reader.overwritten, __ATOMIC_RELEASE);
	__atomic_store_n(&to->skipped, s->reader.skipped, __ATOMIC_RELEASE);
	__atomic_store_n(&to->lost_full, s->reader.lost[LOST_FULL], __ATOMIC_RELEASE);
	__atomic_store_n(&to->next, number + 1, __ATOMIC_RELEASE);
}

/* While a copy waits to be written, the ring goes on. Return: 0 or negative errno. */
static int stream_hold(struct stream *s)
{
	int ret = 0;

	if (!s->reader.overwrite || stream_holds(s) || !reader_pending(&s->reader))
		return 0;
	if (!s->copy.room)
		ret = ring_copy_init(&s->copy, &s->reader);
	if (ret < 0)
		return ret;
	ring_copy_pending(&s->copy, &s->reader);
	s->copied_pos = s->reader.pos;
	s->copied_count = s->reader.count;
	stream_publish(s);
	return 0;
}

static const uint8_t *stream_body(const struct stream *s)
{
	return s->reader.overwrite ? s->copy.at : reader_bytes(&s->reader);
}

/* Readers attribute the losses of a packet to the time since the previous one: those of a stream's
 * first packet they would not count, or count as earlier ones. So an empty packet, before which
 * nothing was lost, opens the stream; and the files in which it goes on, by the counts of the last
 * packet. */
static bool needs_opening(const struct stream *s)
{
	return s->reopens || (s->packets == 0 && lost_in_all(s));
}

/* But for the checksum: the writer of the packet makes it, perhaps on the way. */
static void stream_make_packet(struct stream *s, bool opening)
{
	const struct packet_stream stream = stream_config_packets(s->config, s->cpu);
	const struct ring_reader *r = &s->reader;
	struct packet_header header = packet_make(&stream);
	bool holds = stream_holds(s);

	s->sent_pos = holds ? s->copied_pos : r->pos;
	s->sent_count = holds ? s->copied_count : r->count;
	header.timestamp_begin = header.timestamp_end = s->end_ts;
	if (!opening) {
		packet_set_body(&header, s->sent_pos - r->released);
		/* the short clocks behind a gap are those of its end */
		if (holds)
			header.timestamp_begin = MAX(s->end_ts, s->copy.begin_ts);
		header.timestamp_end = holds ? s->copy.end_ts : r->last_ts;
		header.packet_seq_num = s->packets;
		header.events_discarded = lost_in_all(s);
		header.stream_pos = r->released - r->skipped;
		header.events_recorded = s->sent_count - r->overwritten;
		header.lost_full = lost_full(s);
		header.lost_size = r->lost[LOST_SIZE];
		header.lost_busy = r->lost[LOST_BUSY];
		header.lost_output = lost_output(s);
	} else if (packet_is_set(&s->last)) {
		header = packet_opening(&s->last);
	}
	if (opening && s->drops) {
		header.timestamp_begin = header.timestamp_end = MAX(s->end_ts, r->last_ts);
		header.stream_pos = r->pos - r->skipped;
		header.events_recorded = r->count - r->overwritten;
	} else if (opening) {
		s->sent_pos = r->released;
		s->sent_count = r->released_count;
	}
	s->sent_header = header;
	stream_save_end(s, header.packet_seq_num, s->sent_pos, s->sent_count);
}

/* --- writing -------------------------------------------------------------------- */

/* The sink has the packet @stored, or (@counts: false) has no use for it. */
static void stream_acknowledge(struct stream *s, const struct packet_header *stored, bool counts)
{
	if (counts) {
		s->bytes += stored->packet_size / 8;
		s->packets++;
		s->written += s->sent_count - MIN(s->reader.released_count, s->sent_count);
		s->out->failed = false;
		s->last = *stored;
		if (s->drops)
			s->archived = s->written;
		s->reopens = s->drops = false;
	}
	s->end_ts = stored->timestamp_end;
	s->lost_reported = stored->events_discarded;
	stream_on(s, STREAM_IS_ANSWERED);
	reader_release_until(&s->reader, s->sent_pos, s->sent_count);
}

static void packet_done(void *data, int error)
{
	struct stream *s = data;

	s->out->failed = error < 0; /* the next attempt is not spliced */
	if (error == 0)
		stream_acknowledge(s, &s->sent_header, true);
	stream_publish(s);
}

/* Write the packet that was made last. Return: 1, or negative errno. */
static int stream_write_made(struct stream *s)
{
	const struct sink_ops *ops = s->out->sink->ops;
	uint64_t begin = now_ns(), took;
	int fate = ops->write(s->out, &s->sent_header, stream_body(s));

	if (fate < 0)
		return fate;
	took = now_ns() - begin;
	if (fate == SINK_STORED && took > SLOW_NS && ops->way == SINK_LOCAL) {
		s->slow_ns += took;
		s->slow_bytes += s->sent_header.packet_size / 8;
	}
	if (fate != SINK_SENDING)
		stream_acknowledge(s, &s->sent_header, fate == SINK_STORED);
	return 1;
}

int stream_write_again(struct stream *s)
{
	return s->state == STREAM_SENT ? stream_write_made(s) : 0;
}

/* Return: 1: the packet that was written last is stored, or in flight once more; ... */
static int stream_await_outcome(struct stream *s)
{
	int ret = sink_settle(s->out->sink);

	if (ret == 0)
		ret = stream_write_again(s);
	return ret < 0 ? ret : 1;
}

static int stream_write_opening(struct stream *s);

/* Write the pending records, or @opening: a packet without any, which is stored before the next
 * is made. Return: 1: the packet is stored, or in flight; negative errno: its data is pending. */
static int stream_write_packet(struct stream *s, bool opening)
{
	bool keeps = s->out->sink->ops->way == SINK_SPOOLS;
	int ret = opening ? 0 : stream_hold(s);

	if (ret == 0 && !opening && needs_opening(s))
		ret = stream_write_opening(s);
	if (ret < 0)
		return ret;
	/* one that was tried may be stored: a sink that compares gets it as it was */
	if (s->state != STREAM_SENT || !keeps) {
		stream_make_packet(s, opening);
		stream_on(s, STREAM_SENDS);
	}
	ret = stream_write_made(s);
	if (ret < 0 && !keeps)
		stream_on(s, STREAM_IS_ANSWERED);
	return ret;
}

static int stream_write_opening(struct stream *s)
{
	int ret = stream_write_packet(s, true);

	return ret > 0 ? stream_await_outcome(s) : ret;
}

/* Of the pending records. */
static void stream_count_overwritten(struct stream *s)
{
	struct ring_reader *r = &s->reader;
	uint64_t held = stream_holds(s) ? s->copied_pos - r->released : 0;
	uint64_t held_count = held ? s->copied_count - r->released_count : 0, bytes, records;

	if (!r->overwrite)
		return;
	records = ring_overwritten(r, &r->raw, reader_pending_count(r) - held_count,
				   reader_pending(r) - held, &bytes);
	reader_skip_overwritten(r, bytes, records);
	s->copied_pos = 0; /* it is not behind them */
}

void stream_turn(struct stream *s, bool drop)
{
	if (drop)
		stream_count_overwritten(s);
	s->archived = s->written;
	s->drops = drop && reader_pending(&s->reader);
	s->reopens = packet_is_set(&s->last) || s->drops;
}

/* One of two counts follows from the other: a turn that is repeated counts nothing twice. */
uint64_t stream_end_turn(struct stream *s, bool clear)
{
	uint64_t before = s->cleared;

	if (clear)
		s->cleared = MAX(s->cleared, s->archived - MIN(s->kept, s->archived));
	else
		s->kept = MAX(s->kept, s->archived - MIN(s->cleared, s->archived));
	s->turned = false;
	stream_save_turns(s);
	stream_publish(s);
	return s->cleared - before;
}

static void set_opening(struct stream *s, const struct packet_header *opening)
{
	s->last = *opening;
	s->packets = opening->packet_seq_num + 1;
	s->bytes += opening->packet_size / 8;
	stream_save_end(s, opening->packet_seq_num, s->reader.released, s->reader.released_count);
}

/* Of a turn that the relay had made before, without an answer, the count is known; or the stream
 * had no packet then. */
void stream_turn_away(struct stream *s)
{
	struct packet_header opening = packet_opening(&s->last);

	if (s->out->sink->turn_made)
		stream_note_turn(s);
	if (s->out->opened && packet_is_set(&s->last))
		set_opening(s, &opening);
	s->out->opened = false;
	stream_publish(s);
}

/* --- position ------------------------------------------------------------------ */

/* Where the packet ends in the ring, and with which counts there. */
static void stream_continue_ring(struct stream *s, const struct ltt_ring_stored *end,
				 const struct packet_header *last)
{
	struct ring_reader *r = &s->reader;

	reader_continue(r, &(struct ring_words){
				   .pub = end->pos,
				   .last_ts = last->timestamp_end,
				   .count = end->count,
				   .lost = { end->lost_full, last->lost_size, last->lost_busy },
			   });
	r->overwritten = end->overwritten;
	r->skipped = end->skipped;
}

/* Its end as a consumer has saved it. An empty packet that a turn wrote has that of the one before.
 * Without either, the buffer's memory is lost. */
static struct ltt_ring_stored stream_end_of(const struct stream *s,
					    const struct packet_header *last)
{
	const struct ltt_ring_stored *saved = s->reader.cons->stored;
	uint64_t next = last->packet_seq_num + 1, pos = last->stream_pos + packet_body_bytes(last);
	struct ltt_ring_stored end = { next, pos, last->events_recorded, 0, 0, last->lost_full };

	for (uint64_t i = 0; i < 2 && s->reader.overwrite && next > i; i++)
		if (saved[(next - 1 - i) & 1].next == next - i && (!i || !packet_body_bytes(last)))
			return saved[(next - 1 - i) & 1];
	return end;
}

static void count_missing(struct stream *s);

static void continue_behind(struct stream *s, const struct packet_header *last)
{
	const struct ltt_ring_stored end = stream_end_of(s, last);

	s->last = *last;
	s->end_ts = last->timestamp_end;
	s->packets = last->packet_seq_num + 1;
	s->bytes = last->stream_pos + last->packet_size / 8 +
		   last->packet_seq_num * sizeof(struct packet_header);
	s->lost_output = last->lost_output;
	s->lost_reported = last->events_discarded;
	s->written = last->events_recorded - MIN(last->lost_output, last->events_recorded);
	stream_load_turns(s);
	/* perhaps of a turn without an answer; if there is none, this has no effect */
	if (s->out->sink->link && !s->turned && s->packets > 1 && !packet_body_bytes(last))
		stream_note_turn(s);
	stream_continue_ring(s, &end, last);
	if (s->reader.overwrite)
		count_missing(s);
}

/* Packets that were acknowledged are no longer in the buffer. @last: magic 0: none is left. */
static void count_forgotten(struct stream *s, const struct packet_header *last)
{
	uint64_t kept = last->magic ? last->events_recorded -
					      MIN(last->lost_output, last->events_recorded) :
				      0;
	uint64_t lost = s->written - MIN(kept, s->written);

	if (!s->packets || (last->magic && last->packet_seq_num + 1 >= s->packets))
		return;
	log_warn("%s_%u: the relay has lost packets that it had acknowledged; %llu events are "
		 "counted as lost",
		 s->config->channel, s->cpu, (unsigned long long)lost);
	s->written -= lost;
	s->lost_output += lost;
}

/* The sink has nothing behind @last: of an earlier consumer, or of the connection before. Perhaps
 * the relay has made a turn without an answer: then that is the packet of it. */
static void compare(struct stream *s, const struct packet_header *last)
{
	if (s->state == STREAM_UNPLACED && last->magic) {
		continue_behind(s, last);
	} else if (s->state == STREAM_SENT && last->magic && last->packet_seq_num == s->packets) {
		stream_acknowledge(s, last, true);
	} else if (s->packets && last->magic && last->packet_seq_num == s->packets) {
		set_opening(s, last);
		stream_note_turn(s);
	} else {
		count_forgotten(s, last);
	}
	stream_on(s, STREAM_IS_PLACED);
	stream_on(s, STREAM_IS_ANSWERED);
}

/* Of a ring that is overwritten: go on behind the packets that were stored for certain, which are
 * all but the last one. Return: the number of records in those that are not in the files. */
static uint64_t stream_skip_missing(struct stream *s)
{
	const struct ltt_ring_stored *saved = s->reader.cons->stored;
	const struct ltt_ring_stored end = saved[saved[0].next > saved[1].next];
	uint64_t has = s->reader.count - s->reader.overwritten;

	if (!s->reader.overwrite)
		return reader_skip_missing(&s->reader);
	if (end.next <= s->packets)
		return 0;
	stream_continue_ring(s, &end, &s->last);
	return end.count - end.overwritten - MIN(has, end.count - end.overwritten);
}

/* Another program has removed or shortened the files, or the relay has lost packets: no fault of
 * the application's. */
static void count_missing(struct stream *s)
{
	uint64_t lost = stream_skip_missing(s);

	if (!lost)
		return;
	log_warn("%s_%u: packets that had been written are missing; %llu events are counted as "
		 "lost",
		 s->config->channel, s->cpu, (unsigned long long)lost);
	s->lost_output += lost;
}

/* @old: it was an earlier consumer's. Return: 0 or negative errno. */
static int stream_place(struct stream *s, const struct ring_reader *old, uint64_t *cut)
{
	struct packet_header last;
	int ret = sink_place(s->out, old, &last, cut);
	bool at_relay = ret == SINK_HAS || ret == SINK_CONTINUES || ret == SINK_UNKNOWN;

	if (old && at_relay)
		stream_on(s, STREAM_LOSES_PLACE);
	if (ret == SINK_HAS) {
		compare(s, &last);
	} else if (ret == SINK_CONTINUES) {
		if (s->state == STREAM_UNPLACED && last.magic)
			continue_behind(s, &last);
		stream_on(s, STREAM_IS_PLACED);
	} else if (ret == SINK_SKIP) {
		reader_skip(&s->reader);
	} else if (ret == SINK_BEGIN || ret == SINK_AFTER || ret == SINK_TURNED) {
		if (ret != SINK_BEGIN)
			continue_behind(s, &last);
		s->reopens = ret == SINK_TURNED;
		count_missing(s);
	}
	return MIN(ret, 0);
}

int stream_attach(struct stream *s)
{
	return stream_place(s, NULL, NULL);
}

void stream_init(struct stream *s, struct sink *sink, const struct stream_config *config,
		 uint32_t cpu, struct stats_box *box)
{
	s->config = config;
	s->cpu = cpu;
	s->box = box;
	s->state = STREAM_READY;
	s->out = sink_stream_open(sink, config, cpu, packet_done, s);
	/* the first packet begins where the short clock of its first record does */
	s->end_ts = s->reader.last_ts >> LTT_TS_BITS << LTT_TS_BITS;
	stream_publish(s);
}

int stream_adopt(struct stream *s, uint64_t *cut)
{
	int ret;

	reader_adopt(&s->reader);
	if (s->reader.kept) { /* no file has a position of it */
		stream_update(s);
		return 0;
	}
	ret = stream_place(s, &s->reader, cut);
	if (ret < 0)
		return ret;
	if (!s->out->sink->link)
		s->archived = s->out->archived;
	stream_publish(s);
	return 0;
}

/* --- cutting ------------------------------------------------------------------ */

/* Events that a full ring refuses because nothing is written have that as their cause. */
static int stream_snapshot(struct stream *s, bool last_chance)
{
	uint64_t full = s->reader.lost[LOST_FULL];

	s->torn_read = true;
	if (s->state == STREAM_UNPLACED)
		return READER_TORN;
	if (reader_snapshot(&s->reader, last_chance) == READER_TORN)
		return READER_TORN;
	s->torn_read = false;
	if (s->config->disk->stalled || disk_hangs(s->config->disk, s->reader.snapshot_ns))
		s->stalled += s->reader.lost[LOST_FULL] - full;
	return READER_OK;
}

void stream_update(struct stream *s)
{
	if (stream_snapshot(s, false) == READER_OK)
		stream_publish(s);
}

static bool is_due(const struct stream *s, enum stream_cut how)
{
	return reader_pending(&s->reader) ||
	       (how != STREAM_TAKE && lost_in_all(s) != s->lost_reported);
}

/* An account of losses is due where a relay that was started anew has less than it acknowledged:
 * its count is requested. An unreachable relay then delays nothing. */
static int attach_for(struct stream *s, enum stream_cut how)
{
	if (is_due(s, how))
		return stream_attach(s);
	if (how == STREAM_TAKE_LOSSES && s->packets)
		(void)!stream_attach(s);
	return 0;
}

int stream_cut(struct stream *s, enum stream_cut how)
{
	int ret = s->state == STREAM_UNPLACED ? stream_attach(s) : 0, opened = 0;

	if (ret == 0 && s->reopens)
		opened = ret = stream_write_opening(s);
	if (ret < 0)
		return ret;
	if (stream_snapshot(s, how == STREAM_LAST) == READER_TORN)
		return opened;
	ret = s->out->sink->ops->way == SINK_DIRECT ? attach_for(s, how) : 0;
	if (ret == 0 && is_due(s, how))
		ret = stream_write_packet(s, false);
	stream_publish(s);
	return ret ? ret : opened;
}

struct stream *stream_close(struct stream *s, enum sink_end how)
{
	(void)sink_stream_close(s->out, how);
	s->out = NULL;
	ring_copy_fini(&s->copy);
	return NULL;
}

/* Events that remain in the buffer are lost to the output. The account of that takes less room than
 * they would: perhaps there is that. */
static void give_up_pending(struct stream *s)
{
	uint64_t left;

	stream_count_overwritten(s);
	left = reader_pending_count(&s->reader);
	s->ended = true;
	s->lost_output += left;
	reader_release(&s->reader);
	stream_on(s, STREAM_IS_ANSWERED);
	s->config->disk->accounting = true;
	if (left && stream_write_packet(s, false) > 0)
		(void)!stream_await_outcome(s);
	s->config->disk->accounting = false;
	if (left && unreported(s))
		sink_note_gap(s->out->sink);
}

void stream_fini(struct stream *s)
{
	give_up_pending(s);
	stream_publish(s);
	stream_close(s, SINK_ENDED);
}
