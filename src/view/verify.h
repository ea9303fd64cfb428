/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * verify.h - a stream's index beside its packets, for view_verify(). An index that
 * is short costs readers nothing; one that says what is not so is damage, and one
 * that knows packets that the file has not shows that the file was cut. Lists of streams and of
 * traces show which are missing.
 */
#ifndef VIEW_VERIFY_H
#define VIEW_VERIFY_H

#include "feed.h"

struct verify_index {
	int fd; /* -1: there is none */
	uint32_t entry_bytes;
	uint64_t nr, at; /* entries; the next one to be compared */
	bool wrong;	 /* has been said */
};

/** Of find_ops, on a view: remember the traces that the list has and that are not there. */
int verify_list(void *view, int dir_fd, const char *label);
/** Report each trace that a list has and that is missing. */
void verify_report_missing(struct view *view);

/** A good packet: the feed's present one. */
void verify_index_packet(struct verify_index *index, struct feed *feed);
/** All packets have been met. */
void verify_index_end(struct verify_index *index, struct feed *feed);

#endif
