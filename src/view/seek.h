/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * seek.h - a stream's index file, as LTTng defines it (big-endian, version 1).
 * Read entry by entry, without loading it: nothing in it is trusted;
 * a search compares the entry with the packet itself.
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
 * seek_index() - the first packet that does not end before a time.
 * @dir_fd, @name: the trace's directory, the stream's file in it.
 * @file_size: no packet can be behind this.
 * Return: 1: @ret_entry is it; 0: no index, or none that makes sense, or all
 * packets end before; negative errno.
 */
int seek_index(int dir_fd, const char *name, uint64_t file_size, const struct ctf_clock *clock,
	       int64_t begin_ns, struct seek_entry *ret_entry) MUST_CHECK;

#endif
