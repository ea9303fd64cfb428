/* SPDX-License-Identifier: GPL-2.0-only */
#include "stream.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "trace/crc32c.h"
#include "trace/index.h"

#define CHECK_BYTES (256u << 10) /* of a body, at once */

/* A power failure may have left the space of a packet without its contents. */
static bool is_damaged(const struct relstream *s)
{
	uint64_t left = packet_body_bytes(&s->last);
	uint64_t at = s->file.bytes - left;
	AUTO_FREE uint8_t *buf = malloc(CHECK_BYTES);
	uint32_t crc = packet_checksum(&s->last, NULL, 0);

	while (buf && left) {
		ssize_t n = pread(s->file.fd, buf, MIN(left, CHECK_BYTES), (off_t)at);

		if (n <= 0)
			return true;
		crc = crc32c(crc, buf, (size_t)n);
		at += (uint64_t)n;
		left -= (uint64_t)n;
	}
	return buf && crc != s->last.crc32c;
}

/* Remove the last packet and its index entry, by which the next search would find it again. */
static int relay_stream_cut_last(struct relstream *s)
{
	s->file.bytes -= s->last.packet_size / 8;
	s->file.index_bytes -= sizeof(struct index_entry);
	if (ftruncate(s->file.index_fd, (off_t)s->file.index_bytes) < 0 ||
	    ftruncate(s->file.fd, (off_t)s->file.bytes) < 0)
		return -errno;
	chunk_stream_close(&s->file);
	return 0;
}

/* The checksum of the last packet is not verified for files that were written since this relay
 * started: their contents are in the page cache.
 * Return: as chunk_stream_continue(). */
static int relay_stream_adopt(struct relstream *s, uint64_t since_ns)
{
	uint64_t cut = 0;

	for (;;) {
		int ret = chunk_stream_continue(&s->file, &s->last, &cut);
		struct stat st;

		if (ret <= 0)
			return ret;
		if (fstat(s->file.fd, &st) < 0)
			return -errno;
		if ((uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec >=
			    since_ns ||
		    !is_damaged(s))
			return ret;
		log_warn("%s_%u: its last packet is damaged, and is removed", s->config.channel,
			 s->file.cpu);
		ret = relay_stream_cut_last(s);
		if (ret < 0)
			return ret;
	}
}

int relstream_new(uint32_t id, const struct stream_config *config, uint32_t cpu, uint64_t since_ns,
		  struct relstream **ret, struct err *err)
{
	struct relstream *s = xalloc(sizeof(*s));
	int found;

	list_init(&s->node);
	s->part_fd = -1;
	s->id = id;
	s->config = *config;
	s->config.channel = xstrdup(config->channel);
	chunk_stream_init(&s->file, &s->config, cpu);
	found = relay_stream_adopt(s, since_ns);
	if (found < 0) {
		err_errno(err, ERR_OUTPUT, -found, "can't continue the files of stream %s_%u",
			  config->channel, cpu);
		relstream_free(s);
		return err->code;
	}
	s->has_last = found > 0;
	relstream_part_find(s);
	*ret = s;
	return 0;
}

void relstream_free(struct relstream *s)
{
	if (!s)
		return;
	list_remove(&s->node);
	chunk_stream_note(&s->file);
	chunk_stream_close(&s->file);
	close_fd(s->part_fd);
	free(s->config.channel);
	free(s);
}

static const struct packet_header *last_of(const struct relstream *s)
{
	return s->has_last ? &s->last : NULL;
}

void relstream_show(struct relstream *s, struct live_session *session)
{
	s->live = live_stream_open(session, &s->file, last_of(s));
}

static int relay_stream_refuse(const struct relstream *s, const char *why, struct err *err)
{
	return err_set(err, ERR_INVALID, "a packet of stream %s_%u %s", s->config.channel,
		       s->file.cpu, why);
}

static int relay_stream_check(const struct relstream *s, const struct packet_header *h,
			      struct err *err)
{
	const struct packet_stream stream = stream_config_packets(&s->config, s->file.cpu);
	enum packet_kind kind = packet_check(h, &stream, UINT64_MAX);

	if (kind == PACKET_INVALID)
		return relay_stream_refuse(s, "has an invalid header", err);
	if (kind == PACKET_FOREIGN)
		return relay_stream_refuse(s, "belongs to another stream", err);
	if (s->has_last && h->packet_seq_num <= s->last.packet_seq_num)
		return relay_stream_refuse(s, "is stored already", err);
	return 0;
}

static int relay_stream_fail(struct relstream *s, int error, struct err *err)
{
	if (error == -EDQUOT && s->config.disk->limit == DISK_KEEP_FREE)
		return err_set(err, ERR_OUTPUT,
			       "the free space of its disk has reached the limit (--keep-free)");
	return err_errno(err, ERR_OUTPUT, -error, "can't write stream %s_%u", s->config.channel,
			 s->file.cpu);
}

int relstream_begin(struct relstream *s, const struct packet_header *header, struct err *err)
{
	int ret;

	if (relay_stream_check(s, header, err))
		return err->code;
	ret = chunk_stream_begin(&s->file, header);
	if (ret < 0)
		return relay_stream_fail(s, ret, err);
	s->incoming = *header;
	s->received = 0;
	s->checksum_follows = false;
	s->crc = packet_checksum(header, NULL, 0);
	return 0;
}

void relstream_undo(struct relstream *s)
{
	(void)!chunk_stream_undo(&s->file); /* else the next packet is written over it */
}

int relstream_body(struct relstream *s, const void *data, size_t len, struct err *err)
{
	int ret = chunk_stream_body(&s->file, s->received, data, len);

	if (ret < 0) {
		relstream_undo(s);
		return relay_stream_fail(s, ret, err);
	}
	s->crc = crc32c(s->crc, data, len);
	s->received += len;
	return 0;
}

void relstream_sum(struct relstream *s, uint32_t sum)
{
	s->incoming.crc32c = sum;
	s->checksum_follows = true;
}

int relstream_finish(struct relstream *s, struct err *err)
{
	int ret = 0;

	if (s->crc != s->incoming.crc32c) {
		relstream_undo(s);
		return relay_stream_refuse(s, "arrived damaged", err);
	}
	if (s->checksum_follows)
		ret = chunk_stream_sum(&s->file, &s->incoming);
	if (ret == 0)
		ret = chunk_stream_finish(&s->file, &s->incoming);
	if (ret < 0) {
		relstream_undo(s);
		return relay_stream_fail(s, ret, err);
	}
	s->last = s->incoming;
	s->has_last = true;
	live_stored(s->live, &s->file, &s->last);
	return 0;
}
