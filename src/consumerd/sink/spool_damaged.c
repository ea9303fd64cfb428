/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spool_damaged.c - a packet in a spool's file that is not what was written: a disk forgets, a
 * power failure leaves holes. It costs that packet: the index, of which each entry is written
 * behind its packet, says where the next one begins. Its events are counted as lost
 * to the output, in an empty packet in its place and in all behind it. Runs in the thread of the
 * worker that owns the spool.
 */
#include <endian.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "spool.h"
#include "trace/index.h"

#define RECORD_MIN_BYTES 4u

/* Entries lie in the order of their packets. */
static bool spool_damaged_find_entry(int fd, uint64_t offset, struct index_entry *ret)
{
	uint64_t at = sizeof(struct index_header);

	while (pread(fd, ret, sizeof(*ret), (off_t)at) == (ssize_t)sizeof(*ret)) {
		if (be64toh(ret->offset) >= offset)
			return be64toh(ret->offset) == offset;
		at += sizeof(*ret);
	}
	return false;
}

bool spooled_damaged(struct spooled *sp, uint64_t room, struct packet_header *header)
{
	const struct tracedir *trace = sp->there.trace;
	struct stream_names names;
	struct index_entry entry, own;
	AUTO_FD int fd = -1;

	if (stream_names(&sp->file, sp->number, &names) == 0)
		fd = tracedir_open_file(trace->index_fd, names.index);
	if (fd < 0 || !spool_damaged_find_entry(fd, sp->at + sp->bytes_ahead, &entry) ||
	    be64toh(entry.packet_size) / 8 < sizeof(*header) ||
	    be64toh(entry.packet_size) / 8 > room)
		return false;
	own = index_entry_make(sp->at + sp->bytes_ahead, header);
	if (memcmp(&own, &entry, sizeof(entry)) != 0)
		*header = (struct packet_header){ .packet_size = be64toh(entry.packet_size) };
	return true;
}

static uint64_t events_until(const struct packet_header *h)
{
	return h->events_recorded - MIN(h->lost_output, h->events_recorded);
}

/* The parts of a header that the index does not have make sense beside the packet before. */
static bool is_plausible(const struct spooled *sp, const struct packet_header *h,
			 const struct packet_header *last)
{
	const struct stream_config *c = &sp->there;
	uint64_t body_bytes = h->packet_size / 8 - sizeof(*h);
	uint64_t most = body_bytes / RECORD_MIN_BYTES;

	return h->magic == PACKET_MAGIC && h->stream_id == c->stream_class &&
	       memcmp(h->uuid, c->trace->uuid, sizeof(h->uuid)) == 0 && h->cpu_id == sp->cpu &&
	       h->stream_instance_id == (uint32_t)(c->first_instance + sp->cpu) &&
	       h->packet_seq_num == last->packet_seq_num + 1 &&
	       h->stream_pos == last->stream_pos + last->packet_size / 8 - sizeof(*last) &&
	       h->lost_full >= last->lost_full && h->lost_size >= last->lost_size &&
	       h->lost_busy >= last->lost_busy && h->lost_output >= last->lost_output &&
	       h->events_discarded == h->lost_full + h->lost_size + h->lost_busy + h->lost_output &&
	       h->events_recorded >= last->events_recorded &&
	       events_until(h) >= events_until(last) &&
	       events_until(h) - events_until(last) <= most;
}

bool spooled_account(struct spooled *sp, struct packet_header *header)
{
	struct packet_header first = { .packet_seq_num = UINT64_MAX,
				       .packet_size = sizeof(*header) * 8 };
	const struct packet_header *last = sp->has_last ? &sp->last : &first;

	log_warn_some("a packet of %s_%u in the spool is damaged", sp->there.channel, sp->cpu);
	if (!is_plausible(sp, header, last))
		return false;
	if (header->packet_seq_num >= sp->missed_end) {
		sp->missed += events_until(header) - events_until(last);
		sp->missed_end = header->packet_seq_num + 1;
		spooled_save(sp);
	}
	header->stream_pos += header->packet_size / 8 - sizeof(*header);
	header->packet_size = header->content_size = sizeof(*header) * 8;
	return true;
}

/* Packets from that one on are missing at the relay, and here they are erased. Those that
 * the relay's last packet says to be missed already were before it. */
bool spooled_forgotten(struct spooled *sp, struct packet_header *ret)
{
	const struct packet_header *acked = &sp->acked;
	struct packet_header last = { 0 };
	uint64_t own;

	if (!sp->has_acked || (sp->has_last && sp->last.packet_seq_num >= acked->packet_seq_num))
		return false;
	if (sp->has_last)
		last = sp->last;
	own = MIN(last.lost_output, acked->lost_output);
	sp->missed =
		last.lost_output - own + events_until(acked) -
		MIN(last.events_recorded - MIN(own, last.events_recorded), events_until(acked));
	sp->missed_end = acked->packet_seq_num + 1;
	spooled_save(sp);
	log_warn("%s_%u: the relay has lost packets that it had acknowledged; %llu events are "
		 "counted as lost",
		 sp->there.channel, sp->cpu, (unsigned long long)sp->missed);
	*ret = *acked;
	ret->stream_pos += acked->packet_size / 8 - sizeof(*acked);
	ret->packet_size = ret->content_size = sizeof(*ret) * 8;
	if (sp->has_last)
		ret->timestamp_begin = last.timestamp_end;
	ret->crc32c = 0;
	return true;
}

void spooled_add_missed(const struct spooled *sp, struct packet_header *header)
{
	header->lost_output += sp->missed;
	header->events_discarded += sp->missed;
}

void spooled_read_missed(const struct spooled *sp, struct packet_header *header)
{
	uint64_t missed = MIN(sp->missed, header->lost_output);

	if (header->packet_seq_num + 1 < sp->missed_end)
		return;
	header->lost_output -= missed;
	header->events_discarded -= MIN(missed, header->events_discarded);
}
