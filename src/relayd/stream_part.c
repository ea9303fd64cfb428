/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stream_part.c - a packet that is received in parts, over a slow connection: the parts are stored
 * in a hidden file of the stream, after the header, so that they are not lost if the connection
 * breaks. When all were received, the packet is appended to the stream's file like any other.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "proto/relay.h"
#include "store/append.h"
#include "stream.h"

struct part_name {
	char text[NAME_MAX + 1];
};

static int part_name(const struct relstream *s, struct part_name *ret)
{
	int len = snprintf(ret->text, sizeof(ret->text), ".%s_%u.part", s->config.channel,
			   s->file.cpu);

	return len >= (int)sizeof(ret->text) ? -ENAMETOOLONG : 0;
}

void relstream_part_close(struct relstream *s)
{
	s->part_fd = close_fd(s->part_fd);
}

void relstream_part_drop(struct relstream *s)
{
	struct part_name name;

	relstream_part_close(s);
	if (s->begun_bytes && part_name(s, &name) == 0)
		unlinkat(s->config.trace->fd, name.text, 0);
	s->begun_bytes = 0;
}

static int part_fail(struct relstream *s, int error, struct err *err)
{
	relstream_part_drop(s);
	return err_errno(err, ERR_OUTPUT, -error, "can't keep a part of a packet of %s_%u",
			 s->config.channel, s->file.cpu);
}

static int part_open(struct relstream *s)
{
	struct part_name name;
	int ret = part_name(s, &name);

	if (ret == 0)
		ret = chunk_open_file(s->config.trace->fd, name.text);
	if (ret >= 0)
		s->part_fd = ret;
	return ret < 0 ? ret : 0;
}

/* How much of it there is; 0: it makes no sense. */
static uint64_t part_found(struct relstream *s)
{
	const struct packet_stream stream = stream_config_packets(&s->config, s->file.cpu);
	struct packet_header *h = &s->begun;
	struct stat st;

	if (pread(s->part_fd, h, sizeof(*h), 0) != (ssize_t)sizeof(*h) ||
	    packet_check(h, &stream, UINT64_MAX) != PACKET_FITS || fstat(s->part_fd, &st) < 0 ||
	    (uint64_t)st.st_size >= h->packet_size / 8 ||
	    (s->has_last && h->packet_seq_num <= s->last.packet_seq_num))
		return 0;
	return (uint64_t)st.st_size - sizeof(*h);
}

void relstream_part_find(struct relstream *s)
{
	if (part_open(s) < 0)
		return;
	s->begun_bytes = part_found(s);
	relstream_part_close(s);
}

static int part_create(struct relstream *s, const struct packet_header *header)
{
	struct part_name name;
	int ret = part_name(s, &name);

	if (ret < 0)
		return ret;
	unlinkat(s->config.trace->fd, name.text, 0);
	s->begun = *header;
	s->begun_bytes = 0;
	ret = chunk_create_file(s->config.trace->fd, name.text);
	if (ret < 0)
		return ret;
	s->part_fd = ret;
	return append_bytes(s->part_fd, header, sizeof(*header), 0);
}

int relstream_part_begin(struct relstream *s, const struct packet_header *header, uint64_t at,
			 struct err *err)
{
	int ret;

	if (header->packet_size / 8 > RELAY_PARTS_MAX)
		return err_set(err, ERR_INVALID, "the packet is too large to be sent in parts");
	if (at && (s->begun_bytes != at || memcmp(&s->begun, header, sizeof(*header)) != 0))
		return err_set(err, ERR_INVALID, "a part of a packet of %s_%u is out of sequence",
			       s->config.channel, s->file.cpu);
	ret = at ? part_open(s) : part_create(s, header);
	return ret < 0 ? part_fail(s, ret, err) : 0;
}

int relstream_part(struct relstream *s, const void *data, size_t len, struct err *err)
{
	int ret = append_bytes(s->part_fd, data, len, sizeof(s->begun) + s->begun_bytes);

	if (ret < 0)
		return part_fail(s, ret, err);
	s->begun_bytes += len;
	return 0;
}

static int copy_body(struct relstream *s, struct err *err)
{
	const size_t room = 256u << 10;
	AUTO_FREE uint8_t *buf = xalloc(room);
	uint64_t at = 0, all = packet_body_bytes(&s->begun);

	while (at < all) {
		size_t len = (size_t)MIN(all - at, (uint64_t)room);
		ssize_t n = pread(s->part_fd, buf, len, (off_t)(sizeof(s->begun) + at));

		if (n <= 0) {
			relstream_undo(s);
			return err_set(err, ERR_OUTPUT, "a part of a packet of %s_%u is gone",
				       s->config.channel, s->file.cpu);
		}
		if (relstream_body(s, buf, (size_t)n, err))
			return err->code;
		at += (uint64_t)n;
	}
	return 0;
}

int relstream_part_finish(struct relstream *s, struct err *err)
{
	if (s->begun_bytes < packet_body_bytes(&s->begun)) {
		relstream_part_close(s);
		return 0;
	}
	if (relstream_begin(s, &s->begun, err) == 0 && copy_body(s, err) == 0)
		(void)!relstream_finish(s, err);
	relstream_part_drop(s);
	return err->code;
}
