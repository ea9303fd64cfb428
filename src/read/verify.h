/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * verify.h - compares a stream's index with its packets, for view_verify(). Missing entries at the
 * end are no fault, as readers do not need them; a wrong entry is damage, and entries of packets
 * that the file lacks show that the file was truncated. The lists of streams and traces
 * (trace/streamlist.h) show which are missing.
 */
#ifndef READ_VERIFY_H
#define READ_VERIFY_H

#include "read/feed/feed.h"

struct verify_index {
	int fd; /* -1: there is none */
	uint32_t entry_bytes;
	uint64_t nr, at; /* number of entries; the next one to be compared */
	bool wrong;	 /* a wrong entry was reported */
	bool has_hole;	 /* behind the last entry */
};

/** find_ops.list() of a view: store the list, and whether the session has ended. */
int verify_list(void *view, int dir_fd, const char *label);
/** When all are found: store the traces of all lists that do not exist. */
void verify_lists(struct view *view);
/** The same for a part of a session, whose list is in a directory above. */
void verify_find_session(struct view *view);
/** When all are found. */
void verify_sort_sessions(struct view *view);
/** Report each trace that a list has and that is missing. */
void verify_report_missing(struct view *view);

/** Compare the next entry with the feed's current packet, which is good. */
void verify_index_packet(struct verify_index *index, struct feed *feed);
/** Check the remaining entries, after the last packet. */
void verify_index_end(struct verify_index *index, struct feed *feed);

#endif
