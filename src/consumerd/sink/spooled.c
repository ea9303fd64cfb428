/* SPDX-License-Identifier: GPL-2.0-only */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "consumerd/now.h"
#include "proto/relay.h"
#include "store/append.h"
#include "trace/crc32c.h"

#define BACKOFF_MIN_NS 50000000ull
#define BACKOFF_MAX_NS 2000000000ull
#define POLL_NS 1000000000ull	 /* between two requests for the state of the relay's store */
#define POLL_SOON_NS 50000000ull /* if it is awaited */
#define DRAIN_NS 20000000u   /* for which the worker's other duties may wait */
#define NOTE_END_BYTES 4096u /* of a body, at either end, that identify it in a note */
#define NOTE_MAGIC 0x326f6f6cu
#define RECORD_MIN_BYTES 4u

void spool_sink_link_failed(struct sink *sink, int error)
{
	struct spool *spool = container_of(sink, struct spool, sink);

	spool->fills = true;
	spool->error = error;
	snprintf(spool->problem, sizeof(spool->problem), "%s",
		 relay_conn_reason(sink->link, error));
	spool->backoff_ns =
		spool->backoff_ns ? MIN(spool->backoff_ns * 2, BACKOFF_MAX_NS) : BACKOFF_MIN_NS;
	spool->retry_ns = now_ns() + spool->backoff_ns;
}

static void link_works(struct spool *spool)
{
	spool->error = 0;
	spool->backoff_ns = 0;
}

/* --- notes -------------------------------------------------------------------------- */

struct note_name {
	char text[NAME_MAX_BYTES + 1];
};

static int spooled_note_name(const struct spooled *sp, struct note_name *ret)
{
	int len = snprintf(ret->text, sizeof(ret->text), ".%s_%u", sp->relay_config.channel,
			   sp->file.cpu);

	return len >= (int)sizeof(ret->text) ? -ENAMETOOLONG : 0;
}

/* Where a failure is ignored, the next one has it, too. */
static int spooled_save(struct spooled *sp)
{
	sp->note.missed = sp->out.missed;
	return append_bytes(sp->note_fd, &sp->note, sizeof(sp->note), 0);
}

/* It identifies the ring before anything is sent. The packet's own checksum is made while it is
 * sent, or spooled. */
static uint32_t sum_of_ends(const struct packet_header *header, const void *body)
{
	uint64_t len = packet_body_bytes(header);
	size_t end = (size_t)MIN(len, (uint64_t)NOTE_END_BYTES);
	uint32_t sum = packet_checksum(header, body, end);

	return crc32c(sum, (const uint8_t *)body + len - end, end);
}

bool spool_is_noted(const struct packet_header *noted, const void *body)
{
	return sum_of_ends(noted, body) == noted->crc32c;
}

/* Before it leaves its ring. */
static int spooled_note(struct spooled *sp, const struct packet_header *header, const void *body)
{
	sp->note.last = *header;
	sp->note.last.crc32c = sum_of_ends(header, body);
	sp->is_last_in_files = false;
	return spooled_save(sp);
}

static bool spooled_is_header(const struct chunk_trace *trace, const struct packet_header *h)
{
	return h->magic == PACKET_MAGIC && memcmp(h->uuid, trace->uuid, sizeof(trace->uuid)) == 0 &&
	       h->packet_size / 8 >= sizeof(*h);
}

/* That of an earlier version is shorter. */
static bool read_note(const struct chunk_trace *trace, int fd, struct spool_note *ret)
{
	*ret = (struct spool_note){ 0 };
	return pread(fd, ret, sizeof(*ret), 0) >= (ssize_t)offsetof(struct spool_note, base) &&
	       ret->magic == NOTE_MAGIC &&
	       (!ret->last.magic || spooled_is_header(trace, &ret->last)) &&
	       (!ret->acked.magic || spooled_is_header(trace, &ret->acked)) &&
	       (!ret->base.magic || spooled_is_header(trace, &ret->base));
}

static int open_note(struct spooled *sp)
{
	const struct chunk_trace *trace = sp->relay_config.trace;
	struct note_name name;
	struct spool_note note;
	int ret = spooled_note_name(sp, &name);

	if (ret < 0)
		return ret;
	sp->note_fd = chunk_open_file(trace->fd, name.text);
	if (sp->note_fd >= 0 && read_note(trace, sp->note_fd, &note)) {
		sp->note = note;
		sp->out.missed = note.missed;
		return 0;
	}
	if (sp->note_fd == -ENOENT)
		sp->note_fd = chunk_create_file(trace->fd, name.text);
	return sp->note_fd < 0 ? sp->note_fd : spooled_save(sp);
}

/* --- streams ---------------------------------------------------------------------- */

/* So that room is given back while more comes, and there are not too many of them. */
static uint64_t file_bytes(const struct spool *spool)
{
	const uint64_t least = 64u << 10, most = 16u << 20;
	uint64_t bytes = spool->disk->max_size / 32;

	/* kept data is removed file by file: the last one of each stream may have durable data */
	if (spool->keeps)
		bytes = MIN(bytes, spool->disk->max_size / 4 / spool->nr_streams);
	return MAX(least, MIN(bytes, most));
}

/* Without a store, the relay's disk is the only place. */
static void spooled_set_keeps(struct spooled *sp, bool keeps)
{
	struct spool_note *note = &sp->note;

	if (!keeps && sp->drain.keeps)
		(void)chunk_drain_release(&sp->drain, UINT64_MAX, &note->base);
	sp->drain.keeps = keeps;
	if (keeps == packet_is_set(&note->base))
		return;
	note->base = keeps ? note->acked : (struct packet_header){ 0 };
	note->base_durable = false;
	(void)!spooled_save(sp);
}

struct spooled *spool_stream(struct spool *spool, const struct stream_config *config, uint32_t cpu)
{
	struct spooled *sp;

	list_for_each(sp, &spool->streams, node)
		if (sp->relay_config.trace == config->trace && sp->file.cpu == cpu &&
		    strcmp(sp->relay_config.channel, config->channel) == 0) {
			sp->ended = false;
			return sp;
		}
	sp = xalloc(sizeof(*sp));
	sp->spool = spool;
	sp->note_fd = -1;
	sp->note = (struct spool_note){
		.magic = NOTE_MAGIC,
		.cpu = cpu,
		.stream_class = config->stream_class,
		.first_instance = config->first_instance,
		.tracefile_size = config->tracefile_size,
		.tracefile_count = config->tracefile_count,
	};
	sp->relay_config = *config;
	sp->relay_config.channel = xstrdup(config->channel);
	sp->spool_config = sp->relay_config;
	sp->spool_config.disk = spool->disk;
	spool->nr_streams++;
	sp->spool_config.tracefile_size = file_bytes(spool);
	sp->spool_config.tracefile_count = 0;
	sp->spool_config.unlisted = true;
	chunk_stream_init(&sp->file, &sp->spool_config, cpu);
	chunk_drain_init(&sp->drain, &sp->file, &spool->sink.spooled);
	sp->drain.keeps = spool->keeps;
	list_append(&spool->streams, &sp->node);
	return sp;
}

int spooled_open(struct spooled *sp)
{
	struct packet_header *last = &sp->note.last, stored;
	uint64_t cut = 0;
	int ret, found = 0;

	if (sp->is_open)
		return 0;
	ret = open_note(sp);
	if (ret == 0)
		ret = found = chunk_stream_continue(&sp->file, &stored, &cut);
	if (ret >= 0)
		ret = chunk_drain_find(&sp->drain);
	if (ret < 0) {
		sp->note_fd = close_fd(sp->note_fd);
		chunk_stream_close(&sp->file);
		return ret;
	}
	if (found > 0 && (!packet_is_set(last) || stored.packet_seq_num > last->packet_seq_num))
		*last = stored;
	sp->is_last_in_files = found > 0 && stored.packet_seq_num == last->packet_seq_num;
	sp->spool->last_mark = MAX(sp->spool->last_mark, sp->file.number >> SPOOL_MARK_SHIFT);
	if (sp->drain.waiting || packet_is_set(&sp->note.acked))
		sp->spool->fills = true;
	sp->is_open = true;
	if (sp->spool->store_known)
		spooled_set_keeps(sp, sp->spool->keeps);
	return 0;
}

/* .CHANNEL_CPU. Return: whether it is a note that belongs there. */
static bool is_note_of(const char *file, const struct spool_note *note, struct note_name *channel)
{
	const char *last = strrchr(file, '_');
	uint64_t cpu;

	if (*file != '.' || !last || parse_u64(last + 1, &cpu) < 0 || cpu != note->cpu)
		return false;
	snprintf(channel->text, sizeof(channel->text), "%.*s", (int)(last - file - 1), file + 1);
	return !name_check(channel->text);
}

static void find_one(struct spool *spool, const struct chunk_trace *trace, const char *name)
{
	AUTO_FD int fd = *name == '.' ? chunk_open_file(trace->fd, name) : -1;
	struct note_name channel;
	struct stream_config config;
	struct spooled *sp;
	struct spool_note note;
	int ret;

	if (fd < 0 || !read_note(trace, fd, &note) || !is_note_of(name, &note, &channel))
		return;
	config = (struct stream_config){
		.trace = trace,
		.disk = spool->disk,
		.channel = channel.text,
		.stream_class = note.stream_class,
		.first_instance = note.first_instance,
		.tracefile_size = note.tracefile_size,
		.tracefile_count = note.tracefile_count,
	};
	sp = spool_stream(spool, &config, note.cpu);
	sp->ended = true; /* unless a successor continues it */
	ret = spooled_open(sp);
	if (ret == 0)
		return;
	log_warn("%s_%u: a stream in the spool of '%s' can't be opened, and stays there: %s",
		 channel.text, note.cpu, relay_conn_config(spool->sink.link)->name, strerror(-ret));
	spool->nr_unopened++;
	spool->unopened_error = -ret;
	spooled_free(sp, false);
}

void spool_find(struct spool *spool, const struct chunk_trace *trace)
{
	AUTO_DIR DIR *dir = dir_open(trace->fd, ".");
	struct dirent *entry;

	while ((entry = dir_next(dir)))
		find_one(spool, trace, entry->d_name);
}

struct spooled *spooled_free(struct spooled *sp, bool remove)
{
	struct note_name name;

	chunk_drain_close(&sp->drain, remove);
	if (remove && spooled_note_name(sp, &name) == 0)
		unlinkat(sp->relay_config.trace->fd, name.text, 0);
	list_remove(&sp->node);
	sp->spool->nr_streams--;
	free(sp->body);
	close_fd(sp->note_fd);
	chunk_stream_close(&sp->file);
	free(sp->relay_config.channel);
	free(sp);
	return NULL;
}

/* The end is sent later to an unreachable relay: it may have lost packets that it acknowledged, and
 * its viewers may not have received all of them. */
void spool_end(struct spooled *sp)
{
	bool told = !packet_is_set(&sp->note.acked);

	sp->ended = true;
	if (sp->drain.waiting || sp->drain.kept)
		return;
	if (sp->place.id)
		told |= relay_conn_stream_end(sp->spool->sink.link, &sp->place);
	if (told || sp->spool->sink.ending)
		spooled_free(sp, true);
	else
		sp->spool->fills = true;
}

/* --- losses ---------------------------------------------------------------------------- */

static uint64_t events_until(const struct packet_header *h)
{
	return h->events_recorded - MIN(h->lost_output, h->events_recorded);
}

/* The parts of a header that the index does not have make sense beside the packet before. */
static bool is_plausible(const struct spooled *sp, const struct packet_header *h,
			 const struct packet_header *last)
{
	const struct packet_stream stream = stream_config_packets(&sp->relay_config, sp->file.cpu);
	uint64_t most = packet_body_bytes(h) / RECORD_MIN_BYTES;

	return packet_check(h, &stream, UINT64_MAX) == PACKET_FITS && h->cpu_id == sp->file.cpu &&
	       h->packet_seq_num == last->packet_seq_num + 1 &&
	       h->stream_pos == last->stream_pos + packet_body_bytes(last) &&
	       h->lost_full >= last->lost_full && h->lost_size >= last->lost_size &&
	       h->lost_busy >= last->lost_busy && h->lost_output >= last->lost_output &&
	       h->events_discarded == h->lost_full + h->lost_size + h->lost_busy + h->lost_output &&
	       h->events_recorded >= last->events_recorded &&
	       events_until(h) >= events_until(last) &&
	       events_until(h) - events_until(last) <= most;
}

/* Of the events up to @header, the relay has @kept; the others are missed. Saved before the relay
 * receives a header with that count. */
static void count_missed(struct spooled *sp, const struct packet_header *header, uint64_t kept)
{
	uint64_t all = events_until(header);

	sp->out.missed = all - MIN(kept, all);
	sp->note.missed_end = header->packet_seq_num + 1;
	(void)!spooled_save(sp);
}

/* Events that the relay has. Only while @out.missed is the count at the last packet there. */
static uint64_t events_kept(const struct spooled *sp)
{
	uint64_t all = packet_is_set(&sp->note.acked) ? events_until(&sp->note.acked) : 0;

	return all - MIN(sp->out.missed, all);
}

/* As the relay gets a header of the spool. */
static struct packet_header as_spooled(const struct spooled *sp, const struct packet_header *header)
{
	struct packet_header told = *header;

	told.lost_output += sp->out.missed;
	told.events_discarded += sp->out.missed;
	if (sp->out.missed)
		told.crc32c = 0; /* is made as it is sent; that of a file was right */
	return told;
}

/* --- to the relay ------------------------------------------------------------------- */

/* Its acknowledgement was lost, then. */
static bool has(const struct spooled *sp, const struct packet_header *header)
{
	return packet_is_set(&sp->note.acked) &&
	       header->packet_seq_num <= sp->note.acked.packet_seq_num;
}

/* It never goes back: the relay may have more than was requested. */
static void note_stored(struct spooled *sp, const struct packet_header *header)
{
	sp->blank = false;
	if (!has(sp, header))
		sp->note.acked = *header;
}

/* --- copies of packets that the relay's store does not have yet ------------------------------ */


void spool_set_keeps(struct spool *spool, bool keeps)
{
	struct spooled *sp;

	if (spool->store_known && spool->keeps == keeps)
		return;
	spool->store_known = true;
	spool->keeps = keeps;
	list_for_each(sp, &spool->streams, node)
		if (sp->is_open)
			spooled_set_keeps(sp, keeps);
}

void spooled_release(struct spooled *sp, uint64_t seq)
{
	struct spool_note *note = &sp->note;
	bool all = chunk_drain_release(&sp->drain, seq, &note->base);

	if (all || (packet_is_set(&note->base) && seq >= note->base.packet_seq_num &&
		    !note->base_durable)) {
		note->base_durable = true;
		(void)!spooled_save(sp);
	}
}

/* An empty packet in the place of @header, with the count of the missed events. */
static int send_account(struct spooled *sp, const struct packet_header *header)
{
	struct packet_header empty = packet_opening(header), told;
	int ret;

	empty.packet_seq_num = header->packet_seq_num;
	told = as_spooled(sp, &empty);
	ret = relay_conn_packet(sp->spool->sink.link, sp->place.id, &told, NULL);
	if (ret == 0) {
		sp->blank = false;
		sp->note.acked = empty;
		(void)!spooled_save(sp);
	}
	return ret;
}

static bool is_before(const struct packet_header *a, const struct packet_header *b)
{
	return packet_is_set(b) &&
	       (!packet_is_set(a) || a->packet_seq_num < b->packet_seq_num);
}

/* The relay lacks packets that it has acknowledged: those that its store does not have are sent
 * again. Where there are no copies yet, as its store is new, they are lost. */
static int go_back(struct spooled *sp, const struct packet_header *last)
{
	const struct spool_note *note = &sp->note;
	struct packet_header from = *last, end = note->acked;
	uint64_t first;
	int ret = chunk_drain_rewind(&sp->drain, &first);

	if (ret < 0)
		return ret;
	if (note->base_durable && is_before(&from, &note->base))
		from = note->base;
	spool_revive_marks(sp->spool);
	sp->spool->fills = true;
	if (MIN(first, end.packet_seq_num + 1) <=
	    (packet_is_set(&from) ? from.packet_seq_num + 1 : 0)) {
		log_info("%s_%u: the relay has lost packets; they are sent again",
			 sp->relay_config.channel, sp->file.cpu);
		sp->note.acked = from;
		return spooled_save(sp);
	}
	if (packet_is_set(&note->base) && is_before(&note->base, &end))
		end = note->base;
	count_missed(sp, &end, packet_is_set(&from) ? events_until(&from) : 0);
	log_warn("%s_%u: the relay has lost packets of which there is no copy; %llu events are "
		 "counted as lost",
		 sp->relay_config.channel, sp->file.cpu, (unsigned long long)sp->out.missed);
	return send_account(sp, &end);
}

/* @last: the relay's last packet; magic 0: it has none. The missed events that it includes had been
 * counted when it was sent. If the relay lacks packets that it has acknowledged, these are erased
 * here: they are lost. Where the account of them can't be stored, the packets behind it have the
 * same counts. */
static int compare_with_relay(struct spooled *sp, struct packet_header *last)
{
	uint64_t missed = MIN(sp->out.missed, last->lost_output);

	sp->blank = !packet_is_set(last);
	if (packet_is_set(last) && !has(sp, last)) {
		if (last->packet_seq_num + 1 >= sp->note.missed_end) {
			last->lost_output -= missed;
			last->events_discarded -= MIN(missed, last->events_discarded);
		}
		sp->note.acked = *last;
		return 0;
	}
	if (!packet_is_set(&sp->note.acked) ||
	    (packet_is_set(last) && last->packet_seq_num == sp->note.acked.packet_seq_num))
		return 0;
	if (sp->spool->keeps)
		return go_back(sp, last);
	count_missed(sp, &sp->note.acked, packet_is_set(last) ? events_until(last) : 0);
	log_warn("%s_%u: the relay has lost packets that it had acknowledged; %llu events are "
		 "counted as lost",
		 sp->relay_config.channel, sp->file.cpu, (unsigned long long)sp->out.missed);
	return send_account(sp, &sp->note.acked);
}

int spool_attach(struct spooled *sp)
{
	struct relay_conn *link = sp->spool->sink.link;
	int ret = sp->spool->offline ? -EAGAIN : relay_conn_open(link);
	struct packet_header last;

	if (ret == 0) {
		spool_set_keeps(sp->spool, relay_conn_has_store(link));
		ret = relay_conn_metadata_behind(link,
						 (struct chunk_trace *)sp->relay_config.trace);
	}
	if (ret < 0 || relay_conn_knows(link, &sp->place))
		return ret;
	ret = relay_conn_stream(link, &sp->relay_config, sp->file.cpu, &sp->place, &last,
				&sp->begun);
	return ret < 0 ? ret : compare_with_relay(sp, &last);
}

void spool_taken(struct spooled *sp)
{
	if (has(sp, &sp->note.last))
		return;
	if (relay_conn_knows(sp->spool->sink.link, &sp->place))
		count_missed(sp, &sp->note.last, events_kept(sp));
	sp->note.acked = sp->note.last;
	sp->spool->fills = true;
}

/* The next file, where there is a newer mark. */
static int go_behind_marks(struct spooled *sp)
{
	uint64_t first = sp->spool->last_mark << SPOOL_MARK_SHIFT;
	int ret;

	if (sp->file.number >= first)
		return 0;
	ret = chunk_stream_sync(&sp->file);
	if (ret < 0)
		return ret;
	chunk_stream_close(&sp->file);
	sp->file.number = first;
	return 0;
}

/* The files are read again later: the checksum has to be there before. */
int spool_add(struct spooled *sp, const struct packet_header *header, const void *body,
	      const struct splice_source *source)
{
	uint64_t len = packet_body_bytes(header);
	struct packet_header whole = *header;
	int ret = spooled_note(sp, header, body);

	whole.crc32c = packet_checksum(header, body, len);
	sp->spool_config.tracefile_size = file_bytes(sp->spool);
	if (ret == 0)
		ret = go_behind_marks(sp);
	if (ret == 0)
		ret = chunk_stream_append(&sp->file, &whole, body, len, source);
	if (ret == 0)
		chunk_drain_add(&sp->drain, header->packet_size / 8);
	return ret;
}

/* Of packets that fail together the first gives the reason. */
static void spool_on_sent(void *data, int error)
{
	struct spooled *sp = data;

	if (!sp->spool->fills) {
		if (error)
			spool_sink_link_failed(&sp->spool->sink, error);
		else
			link_works(sp->spool);
	}
	if (!error)
		note_stored(sp, &sp->note.last);
	sp->out.done(sp->out.data, error);
}

int spool_send(struct spooled *sp, const struct packet_header *header, const void *body)
{
	struct spool *spool = sp->spool;
	struct packet_header told;
	int ret;

	if (relay_conn_is_slow(spool->sink.link, header->packet_size / 8)) {
		spool->fills = true; /* it would wait too long in its ring */
		return 1;
	}
	ret = spooled_note(sp, header, body);
	if (ret < 0)
		return ret;
	spool->sending = true;
	ret = spool_attach(sp);
	told = as_spooled(sp, header);
	if (ret < 0)
		spool_sink_link_failed(&spool->sink, ret);
	else if (spool->keeps)
		ret = 1; /* by the files */
	else if (has(sp, header))
		spool_on_sent(sp, 0);
	else
		relay_conn_post(spool->sink.link, sp->place.id, &told, body,
				sink_stream_source(&sp->out), spool_on_sent, sp);
	spool->sending = false;
	return ret != 0;
}

int spool_add_opening(struct spooled *sp)
{
	const struct packet_header last = sp->note.last, opening = packet_opening(&last);
	bool is_last_in_files = sp->is_last_in_files;
	int ret;

	if (sp->ended || !packet_is_set(&last))
		return 0;
	ret = spool_add(sp, &opening, NULL, NULL);
	sp->out.opened = ret == 0;
	if (ret < 0) { /* the stream goes on with a packet of the same number */
		sp->note.last = last;
		sp->is_last_in_files = is_last_in_files;
	}
	return ret;
}

void spool_pass_mark(struct spooled *sp)
{
	if (!packet_is_set(&sp->note.acked) || sp->blank)
		return; /* a relay that has no packet makes none: that in the files is sent */
	sp->note.acked = packet_opening(&sp->note.acked);
	(void)!spooled_save(sp);
}

/* --- from the files --------------------------------------------------------------------- */

/* An empty packet with the count of its events replaces it; where that count is unknown, the gap in
 * the packet numbers shows the loss. */
static int report_damaged(struct spooled *sp, const struct packet_header *header)
{
	struct packet_header first = { .packet_seq_num = UINT64_MAX,
				       .packet_size = sizeof(first) * 8 };

	log_warn_some("a packet of %s_%u in the spool is damaged", sp->relay_config.channel,
		      sp->file.cpu);
	if (has(sp, header) ||
	    !is_plausible(sp, header, packet_is_set(&sp->note.acked) ? &sp->note.acked : &first))
		return 0;
	if (header->packet_seq_num >= sp->note.missed_end)
		count_missed(sp, header, events_kept(sp));
	return send_account(sp, header);
}

/* The oldest of those that were sent. After a failure, none behind it is counted. */
static void sent_done(void *data, int error)
{
	struct spooled *sp = data;
	const struct spooled_sent sent = sp->ahead[0];
	struct spool *spool = sp->spool;

	sp->nr_ahead--;
	spool->nr_ahead--;
	memmove(sp->ahead, sp->ahead + 1, sp->nr_ahead * sizeof(sent));
	if (error) {
		spool->ahead_error = spool->ahead_error ? spool->ahead_error : error;
		for (unsigned int i = 0; i < sp->nr_ahead; i++)
			sp->ahead[i].bytes = 0;
		return;
	}
	link_works(spool);
	if (!sent.bytes)
		return;
	sp->drain.sent -= sent.bytes;
	note_stored(sp, &sent.header);
	(void)!spooled_save(sp);
	chunk_drain_pass(&sp->drain, sent.bytes);
}

static void leave_body(struct spooled *sp)
{
	free(sp->body);
	sp->body = NULL;
}

/* Everything on its way is answered. After a failure, each stream begins with the first packet that
 * was not acknowledged. Return: 0, or the first error. */
static int spool_await_posted(struct spool *spool)
{
	int error = relay_conn_drain(spool->sink.link);
	struct spooled *sp;

	if (!spool->ahead_error)
		return error;
	list_for_each(sp, &spool->streams, node) {
		leave_body(sp);
		sp->begun.bytes = 0; /* unless the relay reports it on the next connection */
		sp->drain.sent = 0;
	}
	error = spool->ahead_error;
	spool->ahead_error = 0;
	return error;
}

/* Where the relay has a part of it already, behind that. */
static void begin_packet(struct spooled *sp)
{
	uint64_t len = packet_body_bytes(&sp->header);

	sp->sent_header = as_spooled(sp, &sp->header);
	if (!sp->sent_header.crc32c)
		sp->sent_header.crc32c = packet_checksum(&sp->sent_header, sp->body, len);
	sp->body_offset = 0;
	if (sp->begun.bytes < len &&
	    memcmp(&sp->begun.header, &sp->sent_header, sizeof(sp->sent_header)) == 0)
		sp->body_offset = sp->begun.bytes;
	sp->begun.bytes = 0;
}

/* Some more of the packet, or all of it. Return: 1. */
static int send_more(struct spooled *sp)
{
	uint64_t len = packet_body_bytes(&sp->header), size = len + sizeof(sp->header);
	uint64_t at = sp->body_offset;
	uint64_t most = size > RELAY_PARTS_MAX ? len : relay_conn_part_bytes(sp->spool->sink.link);
	uint64_t bytes = MIN(len - at, most);
	bool all = at + bytes == len;
	struct spooled_sent *sent = &sp->ahead[sp->nr_ahead++];
	AUTO_FREE uint8_t *body = all ? TAKE(sp->body) : NULL;

	*sent = (struct spooled_sent){ sp->header, all ? size : 0 };
	sp->spool->nr_ahead++;
	sp->body_offset = at + bytes;
	sp->drain.sent += sent->bytes;
	relay_conn_post_part(sp->spool->sink.link, sp->place.id, &sp->sent_header,
			     all ? body : sp->body, at, bytes, sp->nr_ahead > 1, sent_done, sp);
	return 1;
}

/* The relay has the packet, or it is damaged. Return: 1 or negative errno. */
static int pass_over(struct spooled *sp, bool damaged)
{
	int ret = damaged ? report_damaged(sp, &sp->header) : 0;

	if (ret < 0)
		return ret;
	link_works(sp->spool);
	chunk_drain_pass(&sp->drain, sp->header.packet_size / 8);
	return 1;
}

/* Return: 1: something was sent; 0: nothing can be now. */
static int spool_send_one(struct spooled *sp)
{
	uint32_t epoch = sp->place.epoch;
	int ret = spool_attach(sp);

	if (ret < 0 || epoch != sp->place.epoch) /* its parts belong to the connection before */
		leave_body(sp);
	if (ret < 0 || sp->spool->ahead_error || sp->nr_ahead == RELAY_CONN_MAX_POSTED)
		return ret;
	if (sp->body)
		return send_more(sp);
	ret = chunk_drain_next(&sp->drain, &sp->header, &sp->body);
	if (ret <= 0)
		return ret;
	if (spool_is_behind_mark(sp) || ret == CHUNK_DRAIN_DAMAGED || has(sp, &sp->header)) {
		leave_body(sp);
		return spool_is_behind_mark(sp) || sp->nr_ahead ?
			       0 :
			       pass_over(sp, ret == CHUNK_DRAIN_DAMAGED);
	}
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
		bool sends = sp->drain.waiting && !spool_is_behind_mark(sp) && (!parts || sp->body);
		int ret = sends ? spool_send_one(sp) : 0;

		if (ret < 0)
			return ret;
		any |= ret;
		if (sp->ended && !sp->drain.waiting)
			spool_end(sp);
	}
	return any;
}

/* Packets that a relay acknowledged on an earlier connection may be lost there, also of streams
 * from which nothing follows. And viewers have to know all streams, also those without data, before
 * they get data that is younger; a turn, all that have packets. Return: 1: one was opened; 0: there
 * is none; negative errno. */
static int open_one(struct spool *spool)
{
	bool all = relay_conn_is_live(spool->sink.link);
	bool turns = !list_empty(&spool->marks);
	struct spooled *sp;

	list_for_each(sp, &spool->streams, node) {
		int ret;

		if ((!all && !packet_is_set(&sp->note.acked) && !(turns && sp->is_open)) ||
		    relay_conn_knows(spool->sink.link, &sp->place))
			continue;
		(void)!spooled_open(sp);
		ret = spool_attach(sp);
		return ret < 0 ? ret : 1;
	}
	return 0;
}

/* All streams are opened before one is ended: a trace at the relay whose streams have all ended is
 * over for its viewers. Return: 1: go on; 0: the relay has everything; negative errno. */
static int drain_some(struct spool *spool)
{
	int ret = open_one(spool);

	if (ret == 0)
		ret = send_round(spool);
	if (ret != 0)
		return ret;
	if (!spool->nr_ahead)
		return spool_send_mark(spool);
	ret = spool_await_posted(spool);
	return ret < 0 ? ret : 1;
}

/* --- the relay's store ------------------------------------------------------------------- */

/* A batch of streams of which there are copies, from *@at on, and sets that. Return: their
 * number. */
static unsigned int next_kept(const struct spool *spool, struct spooled **at,
			      struct relay_conn_durable durable[], struct spooled *ret[])
{
	unsigned int nr = 0;
	struct spooled *sp;

	for (sp = *at; &sp->node != &spool->streams && nr < RELAY_DURABLE_MAX;
	     sp = list_entry(sp->node.next, struct spooled, node))
		if (sp->drain.kept && relay_conn_knows(spool->sink.link, &sp->place)) {
			durable[nr] = (struct relay_conn_durable){ .id = sp->place.id };
			ret[nr++] = sp;
		}
	*at = sp;
	return nr;
}

/* Remove the copies of all that the store has. Return: 0 or negative errno. */
static int spool_poll_store(struct spool *spool)
{
	struct relay_conn_durable durable[RELAY_DURABLE_MAX];
	struct spooled *streams[RELAY_DURABLE_MAX];
	struct spooled *at = list_entry(spool->streams.next, struct spooled, node);
	/* a small spool would be full before the relay has collected enough */
	bool flush = spool->flush || spool->disk->used > spool->disk->max_size / 2;
	unsigned int nr;

	while ((nr = next_kept(spool, &at, durable, streams))) {
		int ret = relay_conn_durable(spool->sink.link, durable, nr, flush,
					     spool->store_problem);

		if (ret < 0)
			return ret;
		for (unsigned int i = 0; i < nr; i++)
			if (durable[i].known)
				spooled_release(streams[i], durable[i].seq);
	}
	spool_release_marks(spool);
	return 0;
}

static bool knows_kept(const struct spool *spool)
{
	const struct spooled *sp;

	list_for_each(sp, &spool->streams, node)
		if (sp->drain.kept && !relay_conn_knows(spool->sink.link, &sp->place))
			return false;
	return true;
}

static void end_streams(struct spool *spool)
{
	struct spooled *sp, *tmp;

	list_for_each_safe(sp, tmp, &spool->streams, node)
		if (sp->ended)
			spool_end(sp);
}

/* Return: 1: copies were removed; 0: none could be; or negative errno. */
static int poll_if_due(struct spool *spool)
{
	uint64_t before = sink_kept(&spool->sink);
	int ret;

	if (!before || now_ns() < spool->poll_ns)
		return 0;
	spool->poll_ns = now_ns() + (spool->flush ? POLL_SOON_NS : POLL_NS);
	ret = spool_poll_store(spool);
	return ret < 0 ? ret : sink_kept(&spool->sink) < before;
}

/* The relay has everything, and its store does not. Return: as sink_drain(). */
static int drain_kept(struct spool *spool)
{
	int ret = relay_conn_open(spool->sink.link);

	if (ret == 0 && !knows_kept(spool)) {
		spool->fills = true; /* they are opened on this connection */
		return SINK_MORE;
	}
	if (ret == 0)
		ret = poll_if_due(spool);
	if (ret < 0) {
		spool_sink_link_failed(&spool->sink, ret);
		return ret;
	}
	end_streams(spool);
	return ret ? SINK_DRAINED : SINK_NOTHING;
}

int spool_sink_drain(struct sink *sink, uint64_t now)
{
	struct spool *spool = container_of(sink, struct spool, sink);
	int error, ret;

	if (now < spool_sink_state(sink).due_ns)
		return SINK_NOTHING;
	if (!spool->fills)
		return drain_kept(spool);
	ret = relay_conn_open(sink->link);
	if (ret == 0) {
		spool_set_keeps(spool, relay_conn_has_store(sink->link));
		ret = relay_conn_all_metadata(sink->link);
	}
	if (ret == 0)
		ret = poll_if_due(spool);
	while (ret >= 0 && !spool->ahead_error) {
		ret = drain_some(spool);
		if (ret < 0 || spool->ahead_error)
			continue;
		if (ret == 0) {
			spool->fills = false;
			link_works(spool);
			return SINK_DRAINED;
		}
		if (now_ns() >= now + DRAIN_NS)
			return SINK_MORE;
	}
	error = spool_await_posted(spool);
	ret = ret < 0 ? ret : error;
	spool_sink_link_failed(sink, ret);
	return ret;
}
