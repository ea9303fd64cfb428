/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * seek.h - searches a stream's index file, as LTTng defines it (big-endian, version 1).
 * Entries are untrusted: the caller compares an entry with the packet itself.
 */
#ifndef READ_FEED_SEEK_H
#define READ_FEED_SEEK_H

#include "base/macros.h"
#include "read/decode/type.h"

struct seek_entry {
	uint64_t offset;
	uint64_t size; /* bytes */
	uint64_t begin;
	uint64_t end;
	uint64_t stream_id;
};

/** Outcomes of seek_index() beside 0: there is no index. */
enum {
	SEEK_FOUND = 1,
	SEEK_BEHIND = 2, /* by its index, which is complete, all of the file ends before the time */
};

/**
 * struct seek - a search.
 * @dir_fd, @name: the trace's directory, the stream's file in it; @file_size: its size.
 * @tc: has the clocks of the streams; @clock: replaces them, or NULL.
 */
struct seek {
	int dir_fd;
	const char *name;
	uint64_t file_size;
	const struct ctf_trace_class *tc;
	const struct ctf_clock *clock;
	int64_t begin_ns;
};

/**
 * seek_index() - the first packet that does not end before a time, or the last one in the index. A
 * file that ends before costs one read.
 * Return: an outcome: @ret_entry is set if it is not 0; negative errno.
 */
int seek_index(const struct seek *seek, struct seek_entry *ret_entry) MUST_CHECK;
/** The last whole entry of an index that is being written. Return: 1; 0: there is none. */
int seek_last(int fd, struct seek_entry *ret_entry) MUST_CHECK;

#endif
