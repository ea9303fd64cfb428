/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * seek.h - searches a stream's index file, as LTTng defines it (big-endian, version 1).
 * Entries are untrusted: the caller compares an entry with the packet itself.
 */
#ifndef VIEW_SEEK_H
#define VIEW_SEEK_H

#include "base/macros.h"
#include "type.h"

struct seek_entry {
	uint64_t offset;
	uint64_t size; /* bytes */
	uint64_t begin;
	uint64_t end;
};

/**
 * seek_index() - the first packet that does not end before a time, or the last one in the index.
 * @dir_fd, @name: the trace's directory, the stream's file in it.
 * @file_size: size of the stream's file.
 * Return: 1: @ret_entry is set; 0: there is no index; negative errno.
 */
int seek_index(int dir_fd, const char *name, uint64_t file_size, const struct ctf_clock *clock,
	       int64_t begin_ns, struct seek_entry *ret_entry) MUST_CHECK;

#endif
