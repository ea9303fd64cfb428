/* SPDX-License-Identifier: GPL-2.0-only */
#include "catalog.h"

#include <string.h>

#include "base/mem.h"
#include "listing.h"

/* Lists of pointers: callers keep what they have found. */
static void *catalog_push(void *list, uint32_t nr, void *item)
{
	void **items = nr % 16 ? list : xrealloc(list, (nr + 16) * sizeof(*items));

	items[nr] = item;
	return items;
}

struct catalog_trace *catalog_trace(struct catalog *catalog, const char *path,
				    const uint8_t uuid[16])
{
	struct catalog_trace *trace;

	for (uint32_t i = 0; i < catalog->nr_traces; i++) {
		trace = catalog->traces[i];
		if (strcmp(trace->path, path) == 0 && memcmp(trace->uuid, uuid, 16) == 0)
			return trace;
	}
	trace = xalloc(sizeof(*trace));
	trace->path = xstrdup(path);
	memcpy(trace->uuid, uuid, 16);
	catalog->traces = catalog_push(catalog->traces, catalog->nr_traces++, trace);
	return trace;
}

struct catalog_stream *catalog_stream(struct catalog_trace *trace, uint32_t stream_class,
				      uint32_t instance)
{
	struct catalog_stream *stream;

	for (uint32_t i = 0; i < trace->nr_streams; i++) {
		stream = trace->streams[i];
		if (stream->stream_class == stream_class && stream->instance == instance)
			return stream;
	}
	stream = xalloc(sizeof(*stream));
	stream->trace = trace;
	stream->stream_class = stream_class;
	stream->instance = instance;
	trace->streams = catalog_push(trace->streams, trace->nr_streams++, stream);
	return stream;
}

struct catalog_file *catalog_file(struct catalog *catalog, const char *path)
{
	struct catalog_file *file;

	for (uint32_t i = 0; i < catalog->nr_files; i++)
		if (strcmp(catalog->files[i].path, path) == 0)
			return &catalog->files[i];
	catalog->files =
		xrealloc(catalog->files, (catalog->nr_files + 1) * sizeof(*catalog->files));
	file = &catalog->files[catalog->nr_files++];
	*file = (struct catalog_file){ .path = xstrdup(path) };
	return file;
}

bool catalog_has_content(const struct catalog *catalog, const uint8_t content[])
{
	for (uint32_t i = 0; i < catalog->nr_contents; i++)
		if (memcmp(catalog->contents[i], content, SEGMENT_CONTENT_BYTES) == 0)
			return true;
	return false;
}

void catalog_add_content(struct catalog *catalog, const uint8_t content[])
{
	if (catalog->nr_contents % 16 == 0)
		catalog->contents = xrealloc(catalog->contents, (catalog->nr_contents + 16) *
									sizeof(*catalog->contents));
	memcpy(catalog->contents[catalog->nr_contents++], content, SEGMENT_CONTENT_BYTES);
}

bool catalog_has_archive(const struct catalog *catalog, const char *name)
{
	for (uint32_t i = 0; i < catalog->nr_archives; i++)
		if (strcmp(catalog->archives[i], name) == 0)
			return true;
	return false;
}

void catalog_add_archive(struct catalog *catalog, const char *name)
{
	catalog->archives = catalog_push(catalog->archives, catalog->nr_archives++, xstrdup(name));
}

static void take_part(struct catalog *catalog, const struct segment_footer *footer,
		      const struct msg_seg_part *part)
{
	const struct msg_seg_trace *in = footer->traces + part->trace;
	struct catalog_trace *trace;
	struct catalog_stream *stream;
	struct catalog_file *file;

	if (part->kind == SEGMENT_FILE) {
		file = catalog_file(catalog, part->name);
		*file = (struct catalog_file){ file->path, part->last, part->begin };
		if (part->content.len && part->bytes &&
		    !catalog_has_content(catalog, part->content.data))
			catalog_add_content(catalog, part->content.data);
		return;
	}
	trace = catalog_trace(catalog, in->path, in->uuid.data);
	if (part->kind == SEGMENT_METADATA) {
		trace->metadata = MAX(trace->metadata, part->first + part->bytes);
		return;
	}
	stream = catalog_stream(trace, part->stream_class, part->instance);
	if (part->kind == SEGMENT_PACKETS)
		stream->next = MAX(stream->next, part->last + 1);
	else
		stream->turned = MAX(stream->turned, part->first);
}

int catalog_read(struct catalog *catalog, struct bucket *bucket, const char *prefix,
		 struct err *err)
{
	struct listing names = { 0 };
	int ret = listing_read(&names, bucket, prefix, err);

	for (uint32_t i = 0; ret == 0 && i < names.nr; i++) {
		struct segment_footer footer;

		ret = segment_read(bucket, names.all[i], &footer, err);
		if (ret)
			break;
		catalog->number = MAX(catalog->number, footer.is.number + 1);
		catalog->ended = catalog->ended || footer.is.ended;
		for (uint32_t j = 0; j < footer.nr_parts; j++)
			take_part(catalog, &footer, &footer.parts[j]);
		segment_footer_fini(&footer);
	}
	listing_fini(&names);
	return ret;
}

void catalog_fini(struct catalog *catalog)
{
	for (uint32_t i = 0; i < catalog->nr_traces; i++) {
		struct catalog_trace *trace = catalog->traces[i];

		for (uint32_t j = 0; j < trace->nr_streams; j++)
			free(trace->streams[j]);
		free(trace->streams);
		free(trace->path);
		free(trace);
	}
	for (uint32_t i = 0; i < catalog->nr_files; i++)
		free(catalog->files[i].path);
	for (uint32_t i = 0; i < catalog->nr_archives; i++)
		free(catalog->archives[i]);
	free(catalog->archives);
	free(catalog->traces);
	free(catalog->files);
	free(catalog->contents);
	*catalog = (struct catalog){ 0 };
}
