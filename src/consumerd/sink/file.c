/* SPDX-License-Identifier: GPL-2.0-only */
/* file.c - the sink of outputs in a directory on this host. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sink.h"

struct file_stream {
	struct sink_stream out;
	struct chunk_stream file;
};

static struct file_stream *file_of(struct sink_stream *out)
{
	return container_of(out, struct file_stream, out);
}

struct chunk_stream *file_sink_file(struct sink_stream *out)
{
	return &file_of(out)->file;
}

static int file_start(struct sink *sink, const struct sink_start *start, struct err *err)
{
	int ret = start->place ? chunk_store(sink->chunk, start->place) : 0;

	if (ret == -EEXIST && sink->chunk->fd < 0)
		return err_set(err, ERR_OUTPUT,
			       "'%s' in the output directory is in the way, and can't be removed; "
			       "move it away",
			       start->place->hidden);
	return ret < 0 ? err_set(err, ERR_OUTPUT, "%s", strerror(-ret)) : 0;
}

/* Its directory has its name as a whole, or not at all. */
static void file_end(struct sink *sink, enum sink_end how, struct err *err)
{
	struct chunk *chunk = sink->chunk;
	int ret = how == SINK_ENDED && !sink->failed ? chunk_close(chunk) : 0;

	if (ret < 0)
		err_set(err, ERR_OUTPUT, "%s", strerror(-ret));
	if (chunk->place.name && (ret < 0 || how == SINK_ABANDONED))
		chunk_discard(&chunk->place);
}

static int file_sync(struct sink *sink)
{
	struct sink_stream *out;
	int ret = 0;

	list_for_each(out, &sink->streams, node)
		ret = ret ? ret : chunk_stream_sync(&file_of(out)->file);
	return ret;
}

/* The next packets make new files, in the directories that the traces have then. */
static int file_turn(struct sink *sink, const char *name, bool clear)
{
	int ret = file_sync(sink);
	struct sink_stream *out;

	(void)name;
	(void)clear;
	if (ret < 0)
		return ret;
	list_for_each(out, &sink->streams, node)
		if (out->config->trace->next.fd >= 0)
			chunk_stream_turn(&file_of(out)->file);
	return 0;
}

/* --- streams -------------------------------------------------------------------- */

static struct sink_stream *file_open(struct sink *sink, const struct stream_config *config,
				     uint32_t cpu)
{
	struct file_stream *stream = xalloc(sizeof(*stream));

	(void)sink;
	chunk_stream_init(&stream->file, config, cpu);
	return &stream->out;
}

static int file_place(struct sink_stream *out, const struct ring_reader *old,
		      struct packet_header *ret_last, uint64_t *cut)
{
	struct chunk_stream *file = file_sink_file(out);
	struct packet_header moved, first;
	int turned, ret;

	if (!old)
		return SINK_SAME;
	turned = chunk_stream_continue_moved(file, &moved, cut);
	ret = turned < 0 ? turned : chunk_stream_continue(file, ret_last, cut);
	file->dirty |= ret > 0;
	if (ret > 0 && out->config->trace->moved.fd >= 0 && chunk_stream_first(file, &first) &&
	    !packet_body_bytes(&first))
		moved = first;
	else if (turned <= 0)
		moved = (struct packet_header){ 0 };
	out->archived = moved.events_recorded - MIN(moved.lost_output, moved.events_recorded);
	if (ret < 0)
		return ret;
	if (ret > 0)
		return SINK_AFTER;
	*ret_last = moved;
	return turned ? SINK_TURNED : SINK_BEGIN;
}

static int file_write(struct sink_stream *out, const struct packet_header *header,
		      const uint8_t *body)
{
	uint64_t len = packet_body_bytes(header);
	struct packet_header whole = *header;
	int ret;

	disk_progress(out->config->disk);
	whole.crc32c = packet_checksum(header, NULL, 0);
	ret = chunk_stream_append_sum(file_sink_file(out), &whole, body, len,
				      sink_stream_source(out));
	return ret < 0 ? ret : SINK_STORED;
}

static int file_close(struct sink_stream *out, enum sink_end how)
{
	struct file_stream *stream = file_of(out);
	int ret = how == SINK_ENDED ? chunk_stream_sync(&stream->file) : 0;

	if (how == SINK_ENDED)
		chunk_stream_note(&stream->file);
	chunk_stream_close(&stream->file);
	free(stream);
	return ret;
}

static const struct sink_ops file_ops = {
	.way = SINK_LOCAL,
	.start = file_start,
	.sync = file_sync,
	.turn = file_turn,
	.end = file_end,
	.open = file_open,
	.place = file_place,
	.write = file_write,
	.close = file_close,
};

struct sink *file_sink_new(void)
{
	struct sink *sink = xalloc(sizeof(*sink));

	sink->ops = &file_ops;
	return sink;
}
