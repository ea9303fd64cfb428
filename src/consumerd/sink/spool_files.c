/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spool_files.c - the files of one stream in a spool: they are read in order while further ones are
 * written, and erased one by one. Their contents are untrusted, as they belong to the output's
 * user, and may change at any time.
 *
 * A damaged packet (a faulty disk, holes after a power failure) does not affect others: the
 * position of the next one is in the index, whose entries are written after their packets. Its
 * events are counted as lost to the output, in an empty packet that replaces it and in all later
 * ones.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dir.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "spool.h"
#include "store/append.h"
#include "trace/index.h"

#define NOTE_MAGIC 0x706f6f6cu
#define RECORD_MIN_BYTES 4u

/** A stream's hidden file: fits into a page, so that a kill can't tear it. */
struct note {
	uint32_t magic;
	uint32_t cpu;
	uint32_t stream_class;
	uint32_t first_instance;
	uint64_t tracefile_size;
	uint32_t tracefile_count;
	struct packet_header last;   /* magic 0: none yet */
	uint64_t missed, missed_end; /* earlier versions have none, */
	struct packet_header acked;  /* nor this; magic 0: none yet */
} __attribute__((packed));

struct note_name {
	char text[NAME_MAX_BYTES + 1];
};

void spooled_count(struct spooled *sp, int64_t waiting)
{
	uint64_t *all = &sp->spool->waiting;

	sp->waiting += (uint64_t)waiting;
	__atomic_store_n(all, *all + (uint64_t)waiting, __ATOMIC_RELAXED);
}

/* --- notes -------------------------------------------------------------------------- */

static int spool_files_note_name(const struct spooled *sp, struct note_name *ret)
{
	int len =
		snprintf(ret->text, sizeof(ret->text), ".%s_%u", sp->relay_config.channel, sp->cpu);

	return len >= (int)sizeof(ret->text) ? -ENAMETOOLONG : 0;
}

static int write_note(const struct spooled *sp)
{
	struct note note = {
		.magic = NOTE_MAGIC,
		.cpu = sp->cpu,
		.stream_class = sp->relay_config.stream_class,
		.first_instance = sp->relay_config.first_instance,
		.tracefile_size = sp->relay_config.tracefile_size,
		.tracefile_count = sp->relay_config.tracefile_count,
		.last = sp->noted,
		.missed = sp->missed,
		.missed_end = sp->missed_end,
		.acked = sp->acked,
	};

	return append_bytes(sp->note_fd, &note, sizeof(note), 0);
}

int spooled_note(struct spooled *sp, const struct packet_header *header)
{
	sp->noted = *header;
	return write_note(sp);
}

/* The next note has it, too. */
void spooled_save(struct spooled *sp)
{
	(void)!write_note(sp);
}

static bool spool_files_is_header(const struct chunk_trace *trace, const struct packet_header *h)
{
	return h->magic == PACKET_MAGIC && memcmp(h->uuid, trace->uuid, sizeof(trace->uuid)) == 0 &&
	       h->packet_size / 8 >= sizeof(*h);
}

static bool read_note(const struct chunk_trace *trace, int fd, struct note *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (pread(fd, ret, sizeof(*ret), 0) < (ssize_t)offsetof(struct note, missed) ||
	    ret->magic != NOTE_MAGIC)
		return false;
	return (!ret->last.magic || spool_files_is_header(trace, &ret->last)) &&
	       (!ret->acked.magic || spool_files_is_header(trace, &ret->acked));
}

static int open_note(struct spooled *sp)
{
	const struct chunk_trace *trace = sp->relay_config.trace;
	struct note_name name;
	struct note note;
	int ret = spool_files_note_name(sp, &name);

	if (ret < 0)
		return ret;
	sp->note_fd = chunk_open_file(trace->fd, name.text);
	if (sp->note_fd >= 0 && read_note(trace, sp->note_fd, &note)) {
		sp->noted = note.last;
		sp->acked = note.acked;
		sp->missed = note.missed;
		sp->missed_end = note.missed_end;
		return 0;
	}
	if (sp->note_fd == -ENOENT)
		sp->note_fd = chunk_create_file(trace->fd, name.text);
	return sp->note_fd < 0 ? sp->note_fd : write_note(sp);
}

/* .CHANNEL_CPU. Return: whether it is a note that belongs there. */
static bool is_note_of(const char *file, const struct note *note, struct note_name *channel)
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
	struct note note;

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
	if (spool_stream(spool, &config, note.cpu, &sp) == 0)
		sp->ended = true; /* unless a successor continues it */
}

void spool_find(struct spool *spool, const struct chunk_trace *trace)
{
	AUTO_DIR DIR *dir = dir_open(trace->fd, ".");
	struct dirent *entry;

	while ((entry = dir_next(dir)))
		find_one(spool, trace, entry->d_name);
}

/* --- files --------------------------------------------------------------------------- */

static uint64_t size_at(int dir_fd, const char *name)
{
	struct stat st;

	return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? (uint64_t)st.st_size : 0;
}

/* How much there is, and from which file on. */
static void count_files(struct spooled *sp)
{
	const struct chunk_trace *trace = sp->relay_config.trace;
	AUTO_DIR DIR *dir = dir_open(trace->fd, ".");
	struct chunk_stream_names names;
	struct dirent *entry;
	uint64_t number;

	sp->file_number = sp->file.number;
	while ((entry = dir_next(dir))) {
		const char *last = strrchr(entry->d_name, '_');

		if (!last || parse_u64(last + 1, &number) < 0 ||
		    chunk_stream_names(&sp->file, number, &names) < 0 ||
		    strcmp(names.stream, entry->d_name) != 0)
			continue;
		sp->file_number = MIN(sp->file_number, number);
		spooled_count(sp, (int64_t)size_at(trace->fd, entry->d_name));
	}
}

int spooled_open(struct spooled *sp)
{
	uint64_t cut = 0;
	int ret = open_note(sp);

	if (ret == 0)
		ret = chunk_stream_continue(&sp->file, &sp->stored, &cut);
	if (ret < 0)
		return ret;
	if (ret == 0)
		sp->stored.magic = 0;
	count_files(sp);
	return 0;
}

static void erase(struct spooled *sp, uint64_t number)
{
	const struct chunk_trace *trace = sp->relay_config.trace;
	struct disk *disk = sp->spool->disk;
	struct chunk_stream_names names;
	uint64_t bytes;

	if (chunk_stream_names(&sp->file, number, &names) < 0)
		return;
	bytes = size_at(trace->fd, names.stream) + size_at(trace->index_fd, names.index);
	unlinkat(trace->index_fd, names.index, 0);
	unlinkat(trace->fd, names.stream, 0);
	disk->used -= MIN(disk->used, bytes);
}

static void leave_file(struct spooled *sp)
{
	sp->fd = close_fd(sp->fd);
	sp->acked_offset = 0;
	if (sp->file_number + 1 == sp->file.number)
		chunk_stream_close(&sp->file);
	erase(sp, sp->file_number++);
}

static int spool_files_open_file(struct spooled *sp)
{
	struct chunk_stream_names names;
	int ret = chunk_stream_names(&sp->file, sp->file_number, &names);

	if (ret == 0)
		ret = chunk_open_file(sp->relay_config.trace->fd, names.stream);
	if (ret < 0)
		return ret;
	sp->fd = ret;
	return 0;
}

/* --- damage ----------------------------------------------------------------------------- */

/* Entries lie in the order of their packets. */
static bool find_entry(int fd, uint64_t offset, struct index_entry *ret)
{
	uint64_t at = sizeof(struct index_header);

	while (pread(fd, ret, sizeof(*ret), (off_t)at) == (ssize_t)sizeof(*ret)) {
		if (be64toh(ret->offset) >= offset)
			return be64toh(ret->offset) == offset;
		at += sizeof(*ret);
	}
	return false;
}

/* The packet at which the file is: its length, if the index has it. @room: bytes from there to the
 * end of the file. @header: as it was read; where that differs from the index, its size alone is
 * kept. */
static bool spool_files_damaged(struct spooled *sp, uint64_t room, struct packet_header *header)
{
	const struct chunk_trace *trace = sp->relay_config.trace;
	struct chunk_stream_names names;
	struct index_entry entry, own;
	AUTO_FD int fd = -1;

	if (chunk_stream_names(&sp->file, sp->file_number, &names) == 0)
		fd = chunk_open_file(trace->index_fd, names.index);
	if (fd < 0 || !find_entry(fd, sp->acked_offset + sp->bytes_ahead, &entry) ||
	    be64toh(entry.packet_size) / 8 < sizeof(*header) ||
	    be64toh(entry.packet_size) / 8 > room)
		return false;
	own = index_entry_make(sp->acked_offset + sp->bytes_ahead, header);
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
	const struct packet_stream stream = stream_config_packets(&sp->relay_config, sp->cpu);
	uint64_t most = packet_body_bytes(h) / RECORD_MIN_BYTES;

	return packet_check(h, &stream, UINT64_MAX) == PACKET_FITS && h->cpu_id == sp->cpu &&
	       h->packet_seq_num == last->packet_seq_num + 1 &&
	       h->stream_pos == last->stream_pos + packet_body_bytes(last) &&
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
				       .packet_size = sizeof(first) * 8 };
	const struct packet_header *last = packet_is_set(&sp->last) ? &sp->last : &first;

	log_warn_some("a packet of %s_%u in the spool is damaged", sp->relay_config.channel,
		      sp->cpu);
	if (!is_plausible(sp, header, last))
		return false;
	if (header->packet_seq_num >= sp->missed_end) {
		sp->missed += events_until(header) - events_until(last);
		sp->missed_end = header->packet_seq_num + 1;
		spooled_save(sp);
	}
	header->stream_pos += packet_body_bytes(header);
	packet_set_body(header, 0);
	return true;
}

/* Packets from that one on are missing at the relay, and here they are erased. Those counted as
 * missed by the relay's last packet came before it. */
bool spooled_forgotten(struct spooled *sp, struct packet_header *ret)
{
	const struct packet_header *acked = &sp->acked;
	struct packet_header last = { 0 };
	uint64_t own;

	if (!packet_is_set(acked) ||
	    (packet_is_set(&sp->last) && sp->last.packet_seq_num >= acked->packet_seq_num))
		return false;
	if (packet_is_set(&sp->last))
		last = sp->last;
	own = MIN(last.lost_output, acked->lost_output);
	sp->missed =
		last.lost_output - own + events_until(acked) -
		MIN(last.events_recorded - MIN(own, last.events_recorded), events_until(acked));
	sp->missed_end = acked->packet_seq_num + 1;
	spooled_save(sp);
	log_warn("%s_%u: the relay has lost packets that it had acknowledged; %llu events are "
		 "counted as lost",
		 sp->relay_config.channel, sp->cpu, (unsigned long long)sp->missed);
	*ret = *acked;
	ret->stream_pos += packet_body_bytes(acked);
	packet_set_body(ret, 0);
	if (packet_is_set(&sp->last))
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

/* --- reading ---------------------------------------------------------------------------- */

static bool spool_files_is_packet(const struct spooled *sp, const struct packet_header *h,
				  uint64_t room)
{
	const struct packet_stream stream = stream_config_packets(&sp->relay_config, sp->cpu);

	return packet_check(h, &stream, MIN(room, sp->spool->disk->max_size)) == PACKET_FITS;
}

/* Return: SPOOLED_PACKET; 0: there is none; negative errno. */
static int read_whole(struct spooled *sp, uint64_t room, struct packet_header *ret, void **ret_body)
{
	uint64_t at = sp->acked_offset + sp->bytes_ahead;
	AUTO_FREE void *body = NULL;
	uint64_t len;

	if (pread(sp->fd, ret, sizeof(*ret), (off_t)at) != (ssize_t)sizeof(*ret) ||
	    !spool_files_is_packet(sp, ret, room))
		return 0;
	len = packet_body_bytes(ret);
	body = malloc(len + 1);
	if (!body)
		return -ENOMEM;
	if (pread(sp->fd, body, len, (off_t)(at + sizeof(*ret))) != (ssize_t)len ||
	    packet_checksum(ret, body, len) != ret->crc32c)
		return 0;
	*ret_body = TAKE(body);
	return SPOOLED_PACKET;
}

/* Return: as spooled_next(); 0: the file has nothing more that makes sense. */
static int read_packet(struct spooled *sp, struct packet_header *ret, void **ret_body)
{
	struct stat st;
	uint64_t room;
	int result;

	*ret = (struct packet_header){ 0 };
	if (fstat(sp->fd, &st) < 0)
		return -errno;
	room = (uint64_t)st.st_size - MIN((uint64_t)st.st_size, sp->acked_offset + sp->bytes_ahead);
	if (!room)
		return 0;
	result = read_whole(sp, room, ret, ret_body);
	if (result == 0 && spool_files_damaged(sp, room, ret))
		return SPOOLED_DAMAGED;
	return result;
}

int spooled_next(struct spooled *sp, struct packet_header *ret, void **ret_body)
{
	while (sp->file_number < sp->file.number) {
		int result = sp->fd < 0 ? spool_files_open_file(sp) : 0;

		if (result == 0)
			result = read_packet(sp, ret, ret_body);
		if (result > 0 || (result < 0 && result != -ENOENT))
			return result;
		if (sp->nr_ahead)
			return 0;
		leave_file(sp);
	}
	spooled_count(sp, -(int64_t)sp->waiting);
	return 0;
}

void spooled_step(struct spooled *sp, uint64_t bytes)
{
	struct stat st;

	sp->acked_offset += bytes;
	spooled_count(sp, -(int64_t)MIN(bytes, sp->waiting));
	if (fstat(sp->fd, &st) == 0 && (uint64_t)st.st_size <= sp->acked_offset)
		leave_file(sp);
	if (sp->file_number >= sp->file.number)
		spooled_count(sp, -(int64_t)sp->waiting);
}

struct spooled *spooled_free(struct spooled *sp, bool remove)
{
	struct note_name name;

	while (remove && sp->file_number < sp->file.number)
		leave_file(sp);
	if (remove && spool_files_note_name(sp, &name) == 0)
		unlinkat(sp->relay_config.trace->fd, name.text, 0);
	spooled_count(sp, -(int64_t)sp->waiting);
	list_remove(&sp->node);
	free(sp->body);
	close_fd(sp->fd);
	close_fd(sp->note_fd);
	chunk_stream_close(&sp->file);
	free(sp->relay_config.channel);
	free(sp);
	return NULL;
}
