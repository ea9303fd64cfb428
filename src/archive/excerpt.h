/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * excerpt.h - which packets of a session are fetched for the events of a time: those in which such
 * events may be, and of each stream the next ones, as readers read on to the first event after that
 * time. Of a trace whose clock can't tell, all.
 */
#ifndef ARCHIVE_EXCERPT_H
#define ARCHIVE_EXCERPT_H

#include "base/macros.h"
#include "proto/segment.h"

/**
 * struct excerpt - all 0: all packets.
 * @begins: of each stream, those up to its first event.
 * @begin_ns, @end_ns: nanoseconds since 1970, inclusive; used where has_* is set.
 */
struct excerpt {
	bool begins, has_begin, has_end;
	int64_t begin_ns, end_ns;
};

/** A part, and in which segment it is. */
struct fetch_part {
	const struct msg_seg_part *is;
	const char *object;
	uint32_t trace; /* in struct fetch */
};

struct source;

bool excerpt_is_all(const struct excerpt *excerpt);

/** The clocks of a trace. @metadata: of its file. Return: to be released by source_free(); NULL:
 *  they are not known. */
struct source *excerpt_clocks(const void *metadata, size_t len);

/** Select of a stream's parts, in the order of their packets, those from @ret_from to before
 *  @ret_to. @clocks: of its trace, or NULL. @ended: all packets of the session are archived. */
void excerpt_select(const struct excerpt *excerpt, const struct source *clocks,
		    const struct fetch_part *parts, uint32_t nr, bool ended, uint32_t *ret_from,
		    uint32_t *ret_to);

#endif
