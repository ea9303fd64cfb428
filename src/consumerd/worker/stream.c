/* SPDX-License-Identifier: GPL-2.0-only */
#include "stream.h"

#include <string.h>

#include "base/log.h"
#include "consumerd/sink/spool.h"
#include "trace/packet.h"

static uint64_t lost_output(const struct stream *s)
{
	return s->lost_output + s->reader.invalid_count;
}

/* Events that the files of its spool have lost: the relay is told by the spool. */
static uint64_t missed(const struct stream *s)
{
	return s->spooled ? MIN(s->spooled->missed, s->written) : 0;
}

void stream_publish(struct stream *s)
{
	const struct ring_reader *r = &s->reader;
	struct stats stats = {
		.recorded = r->count,
		.written = s->written - missed(s),
		.lost_output = lost_output(s) + missed(s),
		.lost_invalid = r->invalid_bytes,
		.bytes = s->bytes,
		.packets = s->packets,
		.size = r->size,
		.raw_count = r->raw.count,
		.looked_ns = r->looked_ns,
		.taken = r->taken_count,
		.stalled = s->stalled,
		.stalling = s->config->disk->stalled,
	};

	memcpy(stats.lost, r->lost, sizeof(stats.lost));
	memcpy(stats.raw_lost, r->raw.lost, sizeof(stats.raw_lost));
	stats_publish(s->box, &stats);
}

void stream_init(struct stream *s, const struct stream_config *config, uint32_t cpu,
		 struct stats_box *box)
{
	s->config = config;
	s->cpu = cpu;
	s->box = box;
	stream_file_init(&s->file, config, cpu);
	/* the first packet begins where the short clock of its first record does */
	s->end_ts = s->reader.last_ts >> LTT_TS_BITS << LTT_TS_BITS;
	stream_publish(s);
}

/* --- packets ---------------------------------------------------------------- */

static uint64_t lost_in_all(const struct stream *s)
{
	const uint64_t *lost = s->reader.lost;

	return lost[LOST_FULL] + lost[LOST_SIZE] + lost[LOST_BUSY] + lost_output(s);
}

/* But for the checksum: the writer of the packet makes it, perhaps on the way. */
static struct packet_header make_header(const struct stream *s)
{
	const struct ring_reader *r = &s->reader;
	uint64_t bits = (sizeof(struct packet_header) + reader_pending(r)) * 8;
	struct packet_header header = {
		.magic = PACKET_MAGIC,
		.stream_id = s->config->stream_class,
		.stream_instance_id = (uint64_t)s->config->first_instance + s->cpu,
		.timestamp_begin = s->end_ts,
		.timestamp_end = r->last_ts,
		.content_size = bits,
		.packet_size = bits,
		.packet_seq_num = s->packets,
		.events_discarded = lost_in_all(s),
		.cpu_id = s->cpu,
		.stream_pos = r->taken,
		.events_recorded = r->count,
		.lost_full = r->lost[LOST_FULL],
		.lost_size = r->lost[LOST_SIZE],
		.lost_busy = r->lost[LOST_BUSY],
		.lost_output = lost_output(s),
	};

	memcpy(header.uuid, s->config->trace->uuid, sizeof(header.uuid));
	return header;
}

/* Readers take the losses of a packet for those since the one before: what a stream's
 * first packet counts they would count nowhere, or with what came before it. */
static bool needs_opening(const struct stream *s)
{
	return s->packets == 0 && lost_in_all(s);
}

/* A packet with nothing in it, before which nothing was lost. */
static struct packet_header make_opening(const struct stream *s)
{
	struct packet_header header = make_header(s);

	header.timestamp_end = header.timestamp_begin;
	header.content_size = header.packet_size = sizeof(header) * 8;
	header.events_discarded = header.stream_pos = header.events_recorded = 0;
	header.lost_full = header.lost_size = header.lost_busy = header.lost_output = 0;
	return header;
}

int stream_sync(struct stream *s)
{
	return s->config->link ? 0 : stream_file_sync(&s->file);
}

/* Is what is recorded written anywhere? */
static bool stream_is_written(const struct stream *s)
{
	return s->config->link || s->config->trace->fd >= 0;
}

/* As the output's user, so not before there is something for it. */
static int find_spooled(struct stream *s)
{
	return s->spooled ? 0 : spool_stream(s->config->spool, s->config, s->cpu, &s->spooled);
}

/* The packet that a relay or a spool has after all. */
static void take_sent(struct stream *s, const struct packet_header *last)
{
	s->bytes += last->packet_size / 8;
	s->packets++;
	s->written += s->sent_count - MIN(s->reader.taken_count, s->sent_count);
	s->end_ts = last->timestamp_end;
	s->lost_reported = last->events_discarded;
	s->sent = false;
	reader_take_until(&s->reader, s->sent_pos, s->sent_count);
}

static int spool_packet(struct stream *s, const uint8_t *body)
{
	int ret = spool_add(s->spooled, &s->sent_header, body,
			    s->sent_header.packet_size / 8 - sizeof(s->sent_header));

	if (ret < 0)
		return ret;
	take_sent(s, &s->sent_header);
	return 1;
}

static void packet_done(void *data, int error)
{
	struct stream *s = data;

	if (s->config->spool)
		spool_sent(s->spooled, &s->sent_header, error);
	if (error == 0)
		take_sent(s, &s->sent_header);
	stream_publish(s);
}

/* The outcome may be known later. */
static int send_or_spool(struct stream *s)
{
	const uint8_t *body = reader_bytes(&s->reader);
	const struct spool *spool = s->config->spool;
	int ret;

	if (!spool) {
		relay_conn_post(s->config->link, s->relay_id, &s->sent_header, body, packet_done,
				s);
		return 1;
	}
	ret = find_spooled(s);
	if (ret == 0 && spool->filling)
		return spool_packet(s, body);
	if (ret == 0)
		ret = spool_send(s->spooled, &s->sent_header, body, packet_done, s);
	if (ret > 0)
		return spool_packet(s, body);
	return ret < 0 ? ret : 1;
}

static int stream_send_packet(struct stream *s)
{
	/* the relay may have one that could not be spooled: it stays as it was sent */
	if (!s->sent || !s->config->spool) {
		bool opening = needs_opening(s);

		s->sent_pos = opening ? s->reader.taken : s->reader.pos;
		s->sent_count = opening ? s->reader.taken_count : s->reader.count;
		s->sent_header = opening ? make_opening(s) : make_header(s);
		s->sent = true;
	}
	return send_or_spool(s);
}

/* A stream's opening packet has arrived before the next is made, here or in the spool. */
static int send_opening(struct stream *s)
{
	struct relay_conn *link = s->config->link;
	int ret = stream_send_packet(s), error;

	if (ret < 0)
		return ret;
	error = relay_conn_drain(link);
	if (error < 0 && !s->config->spool)
		return error;
	relay_conn_set_error(link,
			     error); /* other streams' packets are still to be spooled for it */
	return s->packets ? 1 : stream_send_packet(s);
}

static int write_packet(struct stream *s, struct packet_header *header)
{
	const uint8_t *body = reader_bytes(&s->reader);
	uint64_t len = header->packet_size / 8 - sizeof(*header);
	int ret;

	header->crc32c = packet_checksum(header, body, len);
	ret = stream_file_add(&s->file, header, body, len);
	if (ret < 0)
		return ret;
	s->bytes += header->packet_size / 8;
	s->packets++;
	if (len)
		s->written += reader_pending_count(&s->reader);
	return 0;
}

static int write_opening(struct stream *s)
{
	struct packet_header header = make_opening(s);

	return write_packet(s, &header);
}

static int stream_take_packet(struct stream *s)
{
	struct packet_header header;
	int ret = 0;

	if (stream_is_written(s) && needs_opening(s))
		ret = s->config->link ? send_opening(s) : write_opening(s);
	if (ret < 0)
		return ret;
	if (s->config->link)
		return stream_send_packet(s);
	header = make_header(s);
	ret = stream_is_written(s) ? write_packet(s, &header) : 0;
	if (ret < 0)
		return ret;
	s->end_ts = header.timestamp_end;
	s->lost_reported = header.events_discarded;
	reader_take(&s->reader);
	return 1;
}

/* --- going on where somebody stopped ------------------------------------------ */

static void continue_behind(struct stream *s, const struct packet_header *last)
{
	s->end_ts = last->timestamp_end;
	s->packets = last->packet_seq_num + 1;
	s->file.dirty = true;
	s->bytes = last->stream_pos + last->packet_size / 8 +
		   last->packet_seq_num * sizeof(struct packet_header);
	s->lost_output = last->lost_output;
	s->lost_reported = last->events_discarded;
	s->written = last->events_recorded - MIN(last->lost_output, last->events_recorded);
	reader_continue(&s->reader,
			&(struct ring_words){
				.pub = last->stream_pos + last->packet_size / 8 - sizeof(*last),
				.last_ts = last->timestamp_end,
				.count = last->events_recorded,
				.lost = { last->lost_full, last->lost_size, last->lost_busy },
			});
}

/* --- by way of a spool ---------------------------------------------------------- */

static int attach_spooled(struct stream *s)
{
	int ret = find_spooled(s);

	if (ret == 0)
		ret = spool_attach(s->spooled);
	if (ret < 0)
		return ret;
	if (s->unknown && s->spooled->has_last)
		continue_behind(s, &s->spooled->last);
	s->unknown = false;
	return 0;
}

enum noted {
	NOTED_TAKEN,   /* its space was given back */
	NOTED_WAITS,   /* it is in the ring as it was */
	NOTED_STRANGE, /* this is not the ring that it came from */
};

static enum noted find_noted(const struct ring_reader *r, const struct packet_header *noted)
{
	uint64_t len = noted->packet_size / 8 - sizeof(*noted);
	uint64_t consumed = __atomic_load_n(&r->cons->consumed, __ATOMIC_ACQUIRE) & LTT_POS_MASK;
	const uint8_t *body = r->data + (noted->stream_pos & (r->size - 1));

	if (len && consumed == ((noted->stream_pos + len) & LTT_POS_MASK))
		return NOTED_TAKEN;
	if (consumed != (noted->stream_pos & LTT_POS_MASK) || len > r->size ||
	    !spool_is_noted(noted, body, len))
		return NOTED_STRANGE;
	return NOTED_WAITS;
}

/* Behind the packet that was handed on last, whether it arrived or not: if not, it is
 * still where it was. */
static int go_on_behind_noted(struct stream *s)
{
	const struct packet_header noted = s->spooled->noted;
	const struct ring_reader *r = &s->reader;
	enum noted found = find_noted(r, &noted);
	int ret;

	if (found == NOTED_STRANGE) {
		s->unknown = true;
		return 0;
	}
	if (found == NOTED_WAITS) {
		ret = spool_add(s->spooled, &noted, r->data + (noted.stream_pos & (r->size - 1)),
				noted.packet_size / 8 - sizeof(noted));
		if (ret < 0)
			return ret;
		s->config->spool->filling = true;
	} else if (!s->spooled->waiting) { /* so the relay has acknowledged it */
		s->spooled->acked = noted;
		s->spooled->has_acked = true;
	}
	continue_behind(s, &noted);
	return 0;
}

static int adopt_spooled(struct stream *s)
{
	const struct spooled *sp;
	int ret = find_spooled(s);

	if (ret < 0)
		return ret;
	sp = s->spooled;
	if (sp->has_stored &&
	    (!sp->has_noted || sp->stored.packet_seq_num >= sp->noted.packet_seq_num))
		continue_behind(s, &sp->stored);
	else if (sp->has_noted)
		ret = go_on_behind_noted(s);
	else
		s->unknown = s->reader.cons->consumed != 0;
	if (s->unknown)
		(void)!attach_spooled(s);
	return ret;
}

/* Without a spool nothing is kept of packets that were acknowledged. */
static void count_forgotten(struct stream *s, const struct packet_header *last)
{
	uint64_t kept =
		last ? last->events_recorded - MIN(last->lost_output, last->events_recorded) : 0;
	uint64_t lost = s->written - MIN(kept, s->written);

	if (!s->packets || (last && last->packet_seq_num + 1 >= s->packets))
		return;
	log_warn("%s_%u: the relay has lost packets that it had acknowledged; %llu events are "
		 "counted as lost",
		 s->config->channel, s->cpu, (unsigned long long)lost);
	s->written -= lost;
	s->lost_output += lost;
}

/*
 * Be known to the relay on this connection. It tells the last packet that it has: of an
 * earlier consumer, or the one that was on its way when the connection before broke.
 */
int stream_attach(struct stream *s)
{
	struct relay_conn *link = s->config->link;
	struct packet_header last;
	int ret;

	if (!link)
		return 0;
	if (s->config->spool)
		return attach_spooled(s);
	ret = relay_conn_open(link);
	if (ret < 0 || (s->relay_id && s->relay_epoch == relay_conn_epoch(link)))
		return ret;
	ret = relay_conn_stream(link, s->config, s->cpu, &s->relay_id, &last, NULL);
	if (ret < 0)
		return ret;
	if (ret > 0 && s->unknown)
		continue_behind(s, &last);
	else if (ret > 0 && s->sent && last.packet_seq_num == s->packets)
		take_sent(s, &last);
	else
		count_forgotten(s, ret > 0 ? &last : NULL);
	s->relay_epoch = relay_conn_epoch(link);
	s->unknown = s->sent = false;
	return 0;
}

int stream_adopt(struct stream *s, uint64_t *cut)
{
	struct packet_header last;
	int ret;

	reader_adopt(&s->reader);
	if (s->config->spool) {
		ret = adopt_spooled(s);
		stream_publish(s);
		return ret;
	}
	if (s->config->link) { /* which may be away: whatever the ring says, it knows better */
		s->unknown = true;
		(void)!stream_attach(s);
		stream_publish(s);
		return 0;
	}
	ret = s->config->trace->fd < 0 ? 0 : stream_file_adopt(&s->file, &last, cut);
	if (ret < 0)
		return ret;
	if (s->config->trace->fd < 0)
		reader_skip(&s->reader);
	else if (ret > 0)
		continue_behind(s, &last);
	stream_publish(s);
	return 0;
}

/* --- cutting ------------------------------------------------------------------ */

/* Events that a full ring refuses because nothing is written have that as their cause. */
static int stream_snapshot(struct stream *s, bool last_chance)
{
	uint64_t full = s->reader.lost[LOST_FULL];

	s->torn_read = true;
	if (s->unknown) /* where to begin, only the relay knows */
		return READER_TORN;
	if (reader_snapshot(&s->reader, last_chance) == READER_TORN)
		return READER_TORN;
	s->torn_read = false;
	if (s->config->disk->stalled || disk_hangs(s->config->disk, s->reader.looked_ns))
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
 * it is asked for that. A relay that is away then delays nothing. */
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
	int ret = s->unknown ? stream_attach(s) : 0;

	if (ret < 0)
		return ret;
	if (stream_snapshot(s, how == STREAM_LAST) == READER_TORN)
		return 0;
	if (!s->config->spool)
		ret = attach_for(s, how);
	if (ret == 0 && is_due(s, how))
		ret = stream_take_packet(s);
	stream_publish(s);
	return ret;
}

void stream_abandon(struct stream *s)
{
	if (s->spooled)
		s->spooled->ended = true;
}

void stream_close(struct stream *s)
{
	stream_file_close(&s->file);
}

static void stream_take_last(struct stream *s)
{
	struct relay_conn *link = s->config->link;

	if (stream_take_packet(s) > 0 && link && relay_conn_drain(link) < 0 && s->config->spool)
		(void)!stream_take_packet(s);
}

void stream_fini(struct stream *s)
{
	uint64_t left = reader_pending_count(&s->reader);

	if (stream_is_written(s))
		s->lost_output += left;
	reader_take(&s->reader);
	s->sent = false;
	/* the account of it takes less room than it would have: perhaps there is that */
	s->config->disk->accounting = true;
	if (left && stream_is_written(s))
		stream_take_last(s);
	s->config->disk->accounting = false;
	(void)!stream_sync(s);
	stream_publish(s);
	if (s->spooled)
		spool_end(TAKE(s->spooled));
	else if (s->relay_id)
		(void)relay_conn_stream_end(s->config->link, s->relay_id, s->relay_epoch);
	stream_file_note(&s->file);
	stream_file_close(&s->file);
}
