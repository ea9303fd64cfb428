/* SPDX-License-Identifier: GPL-2.0-only */
#include "spool.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "consumerd/now.h"
#include "proto/relay.h"
#include "trace/crc32c.h"

#define BACKOFF_MIN_NS 50000000ull
#define BACKOFF_MAX_NS 2000000000ull
#define NOTE_END_BYTES 4096u /* of a body, at either end, that identify it in a note */

enum spool_state spool_next(enum spool_state state, enum spool_event event)
{
	static const uint8_t next[SPOOL_STATES][SPOOL_EVENTS] = {
		[SPOOL_DIRECT] = {
			[SPOOL_SEND_BEGIN] = SPOOL_SENDING,
			[SPOOL_SEND_END] = SPOOL_DIRECT,
			[SPOOL_DIVERT] = SPOOL_FILLING,
			[SPOOL_OFFLINE_BEGIN] = SPOOL_FILLING_OFFLINE,
			[SPOOL_OFFLINE_END] = SPOOL_DIRECT,
			[SPOOL_DRAINED] = SPOOL_DIRECT,
		},
		[SPOOL_SENDING] = {
			[SPOOL_SEND_BEGIN] = SPOOL_SENDING,
			[SPOOL_SEND_END] = SPOOL_DIRECT,
			[SPOOL_DIVERT] = SPOOL_FILLING,
			[SPOOL_OFFLINE_BEGIN] = SPOOL_SENDING,
			[SPOOL_OFFLINE_END] = SPOOL_SENDING,
			[SPOOL_DRAINED] = SPOOL_SENDING,
		},
		[SPOOL_FILLING] = {
			[SPOOL_SEND_BEGIN] = SPOOL_FILLING,
			[SPOOL_SEND_END] = SPOOL_FILLING,
			[SPOOL_DIVERT] = SPOOL_FILLING,
			[SPOOL_OFFLINE_BEGIN] = SPOOL_FILLING_OFFLINE,
			[SPOOL_OFFLINE_END] = SPOOL_FILLING,
			[SPOOL_DRAINED] = SPOOL_DIRECT,
		},
		[SPOOL_FILLING_OFFLINE] = {
			[SPOOL_SEND_BEGIN] = SPOOL_FILLING_OFFLINE,
			[SPOOL_SEND_END] = SPOOL_FILLING_OFFLINE,
			[SPOOL_DIVERT] = SPOOL_FILLING_OFFLINE,
			[SPOOL_OFFLINE_BEGIN] = SPOOL_FILLING_OFFLINE,
			[SPOOL_OFFLINE_END] = SPOOL_FILLING,
			[SPOOL_DRAINED] = SPOOL_FILLING_OFFLINE,
		},
	};

	return (enum spool_state)next[state][event];
}

enum spool_state spool_handle(struct spool *spool, enum spool_event event)
{
	spool->state = spool_next(spool->state, event);
	return spool->state;
}

void spool_link_failed(struct spool *spool, int error)
{
	spool_handle(spool, SPOOL_DIVERT);
	spool->error = error;
	spool->backoff_ns =
		spool->backoff_ns ? MIN(spool->backoff_ns * 2, BACKOFF_MAX_NS) : BACKOFF_MIN_NS;
	spool->retry_ns = now_ns() + spool->backoff_ns;
}

static void link_works(struct spool *spool)
{
	spool->error = 0;
	spool->backoff_ns = 0;
}

void spool_clear(struct spool *spool)
{
	struct spooled *sp, *tmp;

	list_for_each_safe(sp, tmp, &spool->streams, node)
		if (sp->ended && !sp->waiting)
			spooled_free(sp, true);
}

/* --- streams ---------------------------------------------------------------------- */

static struct spooled *spool_find_stream(const struct spool *spool,
					 const struct stream_config *config, uint32_t cpu)
{
	struct spooled *sp;

	list_for_each(sp, &spool->streams, node)
		if (sp->relay_config.trace == config->trace && sp->cpu == cpu &&
		    strcmp(sp->relay_config.channel, config->channel) == 0)
			return sp;
	return NULL;
}

/* So that room is given back while more comes, and there are not too many of them. */
static uint64_t file_bytes(const struct disk *disk)
{
	const uint64_t least = 64u << 10, most = 16u << 20;
	uint64_t bytes = disk->max_size / 32;

	return MAX(least, MIN(bytes, most));
}

static struct spooled *spool_make(struct spool *spool, const struct stream_config *config,
				  uint32_t cpu)
{
	struct spooled *sp = xalloc(sizeof(*sp));

	sp->spool = spool;
	sp->cpu = cpu;
	sp->fd = sp->note_fd = -1;
	sp->relay_config = *config;
	sp->relay_config.channel = xstrdup(config->channel);
	sp->spool_config = sp->relay_config;
	sp->spool_config.disk = spool->disk;
	sp->spool_config.tracefile_size = file_bytes(spool->disk);
	sp->spool_config.tracefile_count = 0;
	sp->spool_config.unlisted = true;
	chunk_stream_init(&sp->file, &sp->spool_config, cpu);
	list_append(&spool->streams, &sp->node);
	return sp;
}

int spool_stream(struct spool *spool, const struct stream_config *config, uint32_t cpu,
		 struct spooled **ret)
{
	struct spooled *sp = spool_find_stream(spool, config, cpu);

	if (!sp) {
		int result;

		sp = spool_make(spool, config, cpu);
		result = spooled_open(sp);
		if (result < 0) {
			spooled_free(sp, false);
			return result;
		}
		if (sp->waiting || packet_is_set(&sp->acked))
			spool_handle(spool, SPOOL_DIVERT);
	}
	sp->ended = false;
	*ret = sp;
	return 0;
}

/* The end is sent later to an unreachable relay: it may have lost packets that it acknowledged, and
 * its viewers may not have received all of them. */
void spool_end(struct spooled *sp)
{
	bool told = !packet_is_set(&sp->acked);

	sp->ended = true;
	if (sp->waiting)
		return;
	if (sp->relay_id)
		told |= relay_conn_stream_end(sp->spool->link, sp->relay_id, sp->epoch);
	if (told || sp->spool->closing)
		spooled_free(sp, true);
	else
		spool_handle(sp->spool, SPOOL_DIVERT);
}

/* --- to the relay ------------------------------------------------------------------- */

static struct packet_header as_spooled(const struct spooled *sp, const struct packet_header *header)
{
	struct packet_header told = *header;

	if (sp->missed) {
		spooled_add_missed(sp, &told);
		told.crc32c = 0; /* is made as it is sent; that of a file was right */
	}
	return told;
}

/* The relay has acknowledged it; the next connection shows whether the relay still has it. */
static void note_acked(struct spooled *sp, const struct packet_header *header)
{
	if (!packet_is_set(&sp->acked) || header->packet_seq_num >= sp->acked.packet_seq_num)
		sp->acked = *header;
}

/* Where the account can't be stored, the packets behind it have the same counts. */
static int report_forgotten(struct spooled *sp)
{
	struct packet_header header, told;
	int ret;

	if (!spooled_forgotten(sp, &header))
		return 0;
	told = as_spooled(sp, &header);
	ret = relay_conn_packet(sp->spool->link, sp->relay_id, &told, NULL);
	if (ret == 0)
		sp->last = header;
	return ret;
}

int spool_attach(struct spooled *sp)
{
	struct relay_conn *link = sp->spool->link;
	int ret = sp->spool->state == SPOOL_FILLING_OFFLINE ? -EAGAIN : relay_conn_open(link);

	if (ret == 0)
		ret = relay_conn_metadata_behind(link,
						 (struct chunk_trace *)sp->relay_config.trace);
	if (ret < 0 || (sp->relay_id && sp->epoch == relay_conn_epoch(link)))
		return ret;
	ret = relay_conn_stream(link, &sp->relay_config, sp->cpu, &sp->relay_id, &sp->last,
				&sp->begun);
	if (ret < 0)
		return ret;
	if (ret > 0)
		spooled_read_missed(sp, &sp->last);
	else
		sp->last.magic = 0;
	sp->epoch = relay_conn_epoch(link);
	ret = report_forgotten(sp);
	if (ret == 0 && packet_is_set(&sp->last))
		note_acked(sp, &sp->last);
	return ret;
}

/* Its acknowledgement was lost, then. */
static bool has(const struct spooled *sp, const struct packet_header *header)
{
	return packet_is_set(&sp->last) && header->packet_seq_num <= sp->last.packet_seq_num;
}

/* It never goes back: the relay may have more than was requested. */
static void note_stored(struct spooled *sp, const struct packet_header *header)
{
	note_acked(sp, header);
	if (!has(sp, header))
		sp->last = *header;
}

static int transmit(struct spooled *sp, const struct packet_header *header, const void *body)
{
	struct packet_header told;
	int ret = spool_attach(sp);

	if (ret < 0 || has(sp, header))
		return ret;
	told = as_spooled(sp, header);
	ret = relay_conn_packet(sp->spool->link, sp->relay_id, &told, body);
	if (ret == 0) {
		note_stored(sp, header);
		spooled_save(sp);
	}
	return ret;
}

/* Of a packet that goes straight out of its ring: it identifies the ring before anything is sent.
 * The packet's own checksum is made while it is sent. */
static uint32_t sum_of_ends(const struct packet_header *header, const void *body, uint64_t len)
{
	size_t end = (size_t)MIN(len, (uint64_t)NOTE_END_BYTES);
	uint32_t sum = packet_checksum(header, body, end);

	return crc32c(sum, (const uint8_t *)body + len - end, end);
}

bool spool_is_noted(const struct packet_header *noted, const void *body, uint64_t len)
{
	return sum_of_ends(noted, body, len) == noted->crc32c ||
	       packet_checksum(noted, body, len) == noted->crc32c;
}

/* The files are read again later: the checksum has to be there before, in the note,
 * too, so that a packet that is spooled in the second attempt is the one of the first. */
int spool_add(struct spooled *sp, const struct packet_header *header, const void *body,
	      uint64_t len, const struct splice_source *source)
{
	struct packet_header whole = *header;
	int ret;

	whole.crc32c = packet_checksum(header, body, len);
	ret = spooled_note(sp, &whole);
	if (ret == 0)
		ret = chunk_stream_append(&sp->file, &whole, body, len, source);
	if (ret == 0)
		spooled_count(sp, (int64_t)(header->packet_size / 8));
	return ret;
}

/* Return: 0 or negative errno: the link failed. */
static int post(struct spooled *sp, const struct packet_header *header, const void *body,
		const struct splice_source *source, relay_conn_done done, void *data)
{
	struct packet_header told;
	int ret = spool_attach(sp);

	if (ret < 0)
		return ret;
	told = as_spooled(sp, header);
	if (has(sp, header))
		done(data, 0);
	else
		relay_conn_post(sp->spool->link, sp->relay_id, &told, body, source, done, data);
	return 0;
}

int spool_send(struct spooled *sp, const struct packet_header *header, const void *body,
	       const struct splice_source *source, relay_conn_done done, void *data)
{
	struct packet_header noted = *header;
	struct spool *spool = sp->spool;
	int ret;

	if (relay_conn_is_slow(spool->link, header->packet_size / 8)) {
		spool_handle(spool, SPOOL_DIVERT); /* it would wait too long in its ring */
		return 1;
	}
	noted.crc32c = sum_of_ends(header, body, header->packet_size / 8 - sizeof(*header));
	ret = spooled_note(sp, &noted);
	if (ret < 0)
		return ret;
	spool_handle(spool, SPOOL_SEND_BEGIN);
	ret = post(sp, header, body, source, done, data);
	spool_handle(spool, SPOOL_SEND_END);
	if (ret < 0)
		spool_link_failed(spool, ret);
	return ret < 0;
}

/* Of packets that fail together the first gives the reason. */
void spool_sent(struct spooled *sp, const struct packet_header *header, int error)
{
	struct spool *spool = sp->spool;

	if (error && !spool_fills(spool))
		spool_link_failed(spool, error);
	if (error)
		return;
	if (!spool_fills(spool))
		link_works(spool);
	note_stored(sp, header);
}

/* --- from the files --------------------------------------------------------------------- */

/* An empty packet with the count of its events replaces it; where that count is unknown, the gap in
 * the packet numbers shows the loss. */
static int send_account(struct spooled *sp, struct packet_header *header)
{
	int ret = spool_attach(sp);

	if (ret < 0 || has(sp, header) || !spooled_account(sp, header))
		return ret;
	return transmit(sp, header, NULL);
}

/* The oldest of those that were sent. */
static void sent_done(void *data, int error)
{
	struct spooled *sp = data;
	struct spooled_sent sent = sp->ahead[0];

	sp->nr_ahead--;
	sp->spool->nr_ahead--;
	memmove(sp->ahead, sp->ahead + 1, sp->nr_ahead * sizeof(sent));
	if (error && !sp->ahead_error)
		sp->ahead_error = error;
	if (error || sp->ahead_error)
		return;
	link_works(sp->spool);
	if (!sent.bytes)
		return;
	sp->bytes_ahead -= sent.bytes;
	note_stored(sp, &sent.header);
	spooled_save(sp);
	spooled_step(sp, sent.bytes);
}

static void leave_body(struct spooled *sp)
{
	free(sp->body);
	sp->body = NULL;
}

/* All that was sent has been answered. Return: 0, or negative errno: begin with the first one that
 * was not acknowledged. */
static int take_failure(struct spooled *sp)
{
	int error = sp->ahead_error;

	if (error) {
		leave_body(sp);
		sp->begun.bytes = 0; /* unless the relay reports it on the next connection */
		sp->bytes_ahead = 0;
		sp->ahead_error = 0;
	}
	return error;
}

/* Where the relay has a part of it already, behind that. */
static void begin_packet(struct spooled *sp)
{
	uint64_t len = sp->header.packet_size / 8 - sizeof(sp->header);

	sp->sent_header = as_spooled(sp, &sp->header);
	if (!sp->sent_header.crc32c)
		sp->sent_header.crc32c = packet_checksum(&sp->sent_header, sp->body, len);
	sp->body_offset = 0;
	if (sp->begun.bytes < len &&
	    memcmp(&sp->begun.header, &sp->sent_header, sizeof(sp->sent_header)) == 0)
		sp->body_offset = sp->begun.bytes;
	sp->begun.bytes = 0;
}

static bool in_parts(const struct spooled *sp)
{
	return relay_conn_has_parts(sp->spool->link) &&
	       sp->header.packet_size / 8 <= RELAY_PARTS_MAX;
}

/* Some more of the packet, or all of it. Return: 1. */
static int send_more(struct spooled *sp)
{
	uint64_t len = sp->sent_header.packet_size / 8 - sizeof(sp->sent_header);
	uint64_t at = sp->body_offset;
	uint64_t bytes = MIN(len - at, relay_conn_part_bytes(sp->spool->link));
	bool all = at + bytes == len;
	struct spooled_sent *sent = &sp->ahead[sp->nr_ahead++];
	AUTO_FREE uint8_t *body = all ? TAKE(sp->body) : NULL;

	*sent = (struct spooled_sent){ sp->header, all ? sp->header.packet_size / 8 : 0 };
	sp->spool->nr_ahead++;
	sp->body_offset = at + bytes;
	sp->bytes_ahead += sent->bytes;
	relay_conn_post_part(sp->spool->link, sp->relay_id, &sp->sent_header, all ? body : sp->body,
			     at, bytes, sp->nr_ahead > 1, sent_done, sp);
	return 1;
}

/* The relay has it, or takes no parts of it. Return: 1 or negative errno. */
static int send_alone(struct spooled *sp)
{
	int ret = sp->nr_ahead ? relay_conn_drain(sp->spool->link) : 0;

	if (ret == 0)
		ret = transmit(sp, &sp->header, sp->body);
	leave_body(sp);
	if (ret < 0)
		return ret;
	link_works(sp->spool);
	spooled_step(sp, sp->header.packet_size / 8);
	return 1;
}

static int spool_skip_damaged(struct spooled *sp)
{
	uint64_t bytes = sp->header.packet_size / 8; /* the account of it has fewer */
	int ret = send_account(sp, &sp->header);

	if (ret < 0)
		return ret;
	link_works(sp->spool);
	spooled_step(sp, bytes);
	return 1;
}

/* Return: 1: something was sent; 0: nothing can be now. */
static int spool_send_one(struct spooled *sp)
{
	uint32_t epoch = sp->epoch;
	int ret = spool_attach(sp);

	if (ret < 0 || epoch != sp->epoch) /* its parts belong to the connection before */
		leave_body(sp);
	if (ret < 0 || sp->ahead_error || sp->nr_ahead == RELAY_CONN_MAX_POSTED)
		return ret;
	if (sp->body)
		return send_more(sp);
	ret = spooled_next(sp, &sp->header, &sp->body);
	if (ret <= 0)
		return ret;
	if (ret == SPOOLED_DAMAGED)
		return sp->nr_ahead ? 0 : spool_skip_damaged(sp);
	if (has(sp, &sp->header) || !in_parts(sp))
		return send_alone(sp);
	begin_packet(sp);
	return send_more(sp);
}

/* One of each stream, so that they stay together; but one that is sent in parts to its end. */
static int send_round(struct spool *spool)
{
	struct spooled *sp, *tmp;
	bool parts = false;
	int any = 0;

	list_for_each(sp, &spool->streams, node)
		parts |= sp->body != NULL;
	list_for_each_safe(sp, tmp, &spool->streams, node) {
		int ret = sp->waiting && (!parts || sp->body) ? spool_send_one(sp) : 0;

		if (ret < 0)
			return ret;
		any |= ret;
		if (sp->ended && !sp->waiting)
			spool_end(sp);
	}
	return any;
}

/* Packets that a relay acknowledged on an earlier connection may be lost there, also of streams
 * from which nothing follows. And viewers have to know all streams before they get data that is
 * younger. Return: 1: one was opened; 0: there is none; negative errno. */
static int open_one(struct spool *spool)
{
	bool all = relay_conn_is_live(spool->link);
	struct spooled *sp;

	list_for_each(sp, &spool->streams, node)
		if ((all || packet_is_set(&sp->acked)) &&
		    sp->epoch != relay_conn_epoch(spool->link)) {
			int ret = spool_attach(sp);

			return ret < 0 ? ret : 1;
		}
	return 0;
}

/* Everything on its way is answered. Return: 0, or the first error. */
static int spool_await_posted(struct spool *spool)
{
	int error = relay_conn_drain(spool->link);
	struct spooled *sp;

	list_for_each(sp, &spool->streams, node) {
		int failure = take_failure(sp);

		error = error ? error : failure;
	}
	return error;
}

static bool any_failed(const struct spool *spool)
{
	const struct spooled *sp;

	list_for_each(sp, &spool->streams, node)
		if (sp->ahead_error)
			return true;
	return false;
}

/* All streams are opened before one is ended: a trace at the relay whose streams have all ended is
 * over for its viewers. Return: 1: go on; 0: the relay has everything; negative errno. */
static int drain_some(struct spool *spool)
{
	int error, ret = any_failed(spool) ? 0 : open_one(spool);

	if (ret == 0)
		ret = send_round(spool);
	if (ret > 0 && !any_failed(spool))
		return 1;
	if (ret == 0 && spool->nr_ahead) {
		ret = spool_await_posted(spool);
		return ret < 0 ? ret : 1;
	}
	if (ret == 0 && !any_failed(spool))
		return 0;
	error = spool_await_posted(spool);
	return ret < 0 ? ret : error < 0 ? error : -ECONNRESET;
}

int spool_send_files(struct spool *spool, uint64_t budget_ns)
{
	uint64_t end = now_ns() + budget_ns;
	int ret = relay_conn_open(spool->link);

	if (ret == 0)
		ret = relay_conn_all_metadata(spool->link);
	while (ret >= 0) {
		ret = drain_some(spool);
		if (ret == 0) {
			spool_handle(spool, SPOOL_DRAINED);
			link_works(spool);
			return 0;
		}
		if (ret > 0 && now_ns() >= end)
			return 1;
	}
	(void)!spool_await_posted(spool);
	spool_link_failed(spool, ret);
	return ret;
}
