/* SPDX-License-Identifier: GPL-2.0-only */
#include "stream.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "proto/relay.h"
#include "store/append.h"
#include "trace/crc32c.h"

#define COPY_BYTES (256u << 10) /* of a packet that was received in parts, at once */

/* --- life ------------------------------------------------------------------------- */

static char *part_name(const struct relstream *s)
{
	return xasprintf(".%s_%u.part", s->config.channel, s->file.cpu);
}

/* The parts that an earlier connection has left. */
static void find_parts(struct relstream *s)
{
	const struct packet_stream stream = stream_config_packets(&s->config, s->file.cpu);
	AUTO_FREE char *name = part_name(s);
	AUTO_FD int fd = chunk_open_file(s->config.trace->fd, name);
	struct packet_header *h = &s->incoming;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && pread(fd, h, sizeof(*h), 0) == (ssize_t)sizeof(*h) &&
	    packet_check(h, &stream, UINT64_MAX) == PACKET_FITS &&
	    (uint64_t)st.st_size < h->packet_size / 8 &&
	    !(packet_is_set(&s->last) && h->packet_seq_num <= s->last.packet_seq_num))
		s->received = (uint64_t)st.st_size - sizeof(*h);
}

int relstream_new(uint32_t id, const struct stream_config *config, uint32_t cpu,
		  struct relstream **ret, struct err *err)
{
	struct relstream *s = xalloc(sizeof(*s));
	uint64_t cut = 0;
	int found;

	list_init(&s->node);
	s->part_fd = -1;
	s->id = id;
	s->config = *config;
	s->config.channel = xstrdup(config->channel);
	chunk_stream_init(&s->file, &s->config, cpu);
	found = chunk_stream_continue(&s->file, &s->last, &cut);
	if (found < 0) {
		err_errno(err, ERR_OUTPUT, -found, "can't continue the files of stream %s_%u",
			  config->channel, cpu);
		relstream_free(s);
		return err->code;
	}
	if (!found)
		s->last = (struct packet_header){ 0 };
	find_parts(s);
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

void relstream_leave(struct relstream *s)
{
	relstream_drop_parts(s);
	chunk_stream_note(&s->file);
	chunk_stream_close(&s->file);
}

int relstream_resume(struct relstream *s)
{
	struct packet_header last;
	uint64_t cut = 0;
	int found;

	chunk_stream_init(&s->file, &s->config, s->file.cpu);
	found = chunk_stream_continue(&s->file, &last, &cut);
	if (found == 0 && packet_is_set(&s->last))
		return -ENODATA;
	if (found > 0)
		s->last = last;
	return MIN(found, 0);
}

void relstream_show(struct relstream *s, struct live_session *session)
{
	if (!chunk_is_beside(s->config.trace->path))
		s->live = live_stream_open(session, &s->file, &s->last);
}

/* --- packets ---------------------------------------------------------------------- */

static int relay_stream_refuse(const struct relstream *s, const char *why, struct err *err)
{
	return err_set(err, ERR_INVALID, "a packet of stream %s_%u %s", s->config.channel,
		       s->file.cpu, why);
}

void relstream_drop_parts(struct relstream *s)
{
	AUTO_FREE char *name = part_name(s);

	s->part_fd = close_fd(s->part_fd);
	unlinkat(s->config.trace->fd, name, 0);
	s->received = 0;
}

void relstream_undo(struct relstream *s)
{
	if (s->part_fd >= 0) {
		s->part_fd = close_fd(s->part_fd);
		return;
	}
	(void)!chunk_stream_undo(&s->file); /* else the next packet is written over it */
	s->received = 0;
}

static int relay_stream_fail(const struct relstream *s, int error, struct err *err)
{
	if (error == -EDQUOT && s->config.disk->limit == DISK_KEEP_FREE)
		return err_set(err, ERR_OUTPUT,
			       "the free space of its disk has reached the limit (--keep-free)");
	return err_errno(err, ERR_OUTPUT, -error, "can't write stream %s_%u", s->config.channel,
			 s->file.cpu);
}

int relstream_begin(struct relstream *s, const struct packet_header *header, struct err *err)
{
	const struct packet_stream stream = stream_config_packets(&s->config, s->file.cpu);
	enum packet_kind kind = packet_check(header, &stream, UINT64_MAX);
	int ret;

	if (kind == PACKET_INVALID)
		return relay_stream_refuse(s, "has an invalid header", err);
	if (kind == PACKET_FOREIGN)
		return relay_stream_refuse(s, "belongs to another stream", err);
	if (packet_is_set(&s->last) && header->packet_seq_num <= s->last.packet_seq_num)
		return relay_stream_refuse(s, "is stored already", err);
	ret = chunk_stream_begin(&s->file, header);
	if (ret < 0)
		return relay_stream_fail(s, ret, err);
	s->incoming = *header;
	s->received = 0;
	s->checksum_follows = false;
	s->crc = packet_checksum(header, NULL, 0);
	return 0;
}

static int open_parts(struct relstream *s, const struct packet_header *header, uint64_t at)
{
	AUTO_FREE char *name = part_name(s);
	int ret;

	if (!at)
		relstream_drop_parts(s);
	ret = (at ? chunk_open_file : chunk_create_file)(s->config.trace->fd, name);
	if (ret < 0)
		return ret;
	s->part_fd = ret;
	s->incoming = *header;
	return at ? 0 : append_bytes(s->part_fd, header, sizeof(*header), 0);
}

int relstream_begin_part(struct relstream *s, const struct packet_header *header, uint64_t at,
			 struct err *err)
{
	int ret;

	if (header->packet_size / 8 > RELAY_PARTS_MAX)
		return err_set(err, ERR_INVALID, "the packet is too large to be sent in parts");
	if (at && (s->received != at || memcmp(&s->incoming, header, sizeof(*header)) != 0))
		return err_set(err, ERR_INVALID, "a part of a packet of %s_%u is out of sequence",
			       s->config.channel, s->file.cpu);
	ret = open_parts(s, header, at);
	if (ret == 0)
		return 0;
	relstream_drop_parts(s);
	return relay_stream_fail(s, ret, err);
}

int relstream_body(struct relstream *s, const void *data, size_t len, struct err *err)
{
	bool part = s->part_fd >= 0;
	int ret = part ? append_bytes(s->part_fd, data, len, sizeof(s->incoming) + s->received) :
			 chunk_stream_body(&s->file, s->received, data, len);

	if (ret < 0) {
		(part ? relstream_drop_parts : relstream_undo)(s);
		return relay_stream_fail(s, ret, err);
	}
	if (!part)
		s->crc = crc32c(s->crc, data, len);
	s->received += len;
	return 0;
}

void relstream_sum(struct relstream *s, uint32_t sum)
{
	s->incoming.crc32c = sum;
	s->checksum_follows = true;
}

static int store_parts(struct relstream *s, int fd, struct err *err)
{
	const struct packet_header header = s->incoming;
	AUTO_FREE uint8_t *buf = xalloc(COPY_BYTES);
	uint64_t all = packet_body_bytes(&header);
	int ret = relstream_begin(s, &header, err);

	while (ret == 0 && s->received < all) {
		ssize_t n = pread(fd, buf, MIN(all - s->received, COPY_BYTES),
				  (off_t)(sizeof(header) + s->received));

		if (n <= 0) {
			ret = relay_stream_fail(s, n < 0 ? -errno : -ENODATA, err);
			relstream_undo(s);
		} else {
			ret = relstream_body(s, buf, (size_t)n, err);
		}
	}
	return ret ? ret : relstream_finish(s, err);
}

int relstream_finish(struct relstream *s, struct err *err)
{
	int ret = 0;

	if (s->part_fd >= 0) {
		AUTO_FD int fd = TAKE_FD(s->part_fd);

		if (s->received < packet_body_bytes(&s->incoming))
			return 0;
		ret = store_parts(s, fd, err);
		relstream_drop_parts(s);
		return ret;
	}
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
	s->received = 0;
	live_stored(s->live, &s->file, &s->last);
	return 0;
}
