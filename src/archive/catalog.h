/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * catalog.h - which parts of a session an archive has: read from the footers of its segments, and
 * continued while segments are made. If a segment can't be put, it is read again. One thread.
 */
#ifndef ARCHIVE_CATALOG_H
#define ARCHIVE_CATALOG_H

#include <sys/types.h>

#include "segment.h"

struct catalog_stream {
	struct catalog_trace *trace;
	uint32_t stream_class, instance;
	uint64_t next;	   /* number after that of the last packet; 0: there is none */
	uint64_t turned;   /* packets before this number are in an archive of the session */
	uint64_t reported; /* the value of @next that was reported; a caller's */
	/* where the next packet will be looked for; a file of no size: unknown */
	dev_t device;
	ino_t inode;
	uint64_t at;
	uint64_t file_next; /* number after that of the packet before @at; 0: there is none */
};

struct catalog_trace {
	char *path;
	uint8_t uuid[16];
	uint64_t metadata; /* bytes */
	struct catalog_stream **streams;
	uint32_t nr_streams;
};

struct catalog_file {
	char *path;
	uint64_t size, time_ns;
};

struct catalog {
	struct catalog_trace **traces;
	uint32_t nr_traces;
	struct catalog_file *files;
	uint32_t nr_files;
	uint8_t (*contents)[SEGMENT_CONTENT_BYTES]; /* of files */
	uint32_t nr_contents;
	char **archives; /* names of those that this process has read whole */
	uint32_t nr_archives;
	uint64_t number; /* of the next segment */
	bool ended;
};

/** Read the footers of the segments whose names begin with @prefix. Return: 0 or the code in
 *  @err. */
int catalog_read(struct catalog *catalog, struct bucket *bucket, const char *prefix,
		 struct err *err) MUST_CHECK;
void catalog_fini(struct catalog *catalog);

struct catalog_trace *catalog_trace(struct catalog *catalog, const char *path,
				    const uint8_t uuid[16]);
struct catalog_stream *catalog_stream(struct catalog_trace *trace, uint32_t stream_class,
				      uint32_t instance);
struct catalog_file *catalog_file(struct catalog *catalog, const char *path);
/** @content: SEGMENT_CONTENT_BYTES. */
bool catalog_has_content(const struct catalog *catalog, const uint8_t content[]);
void catalog_add_content(struct catalog *catalog, const uint8_t content[]);
bool catalog_has_archive(const struct catalog *catalog, const char *name);
void catalog_add_archive(struct catalog *catalog, const char *name);

#endif
