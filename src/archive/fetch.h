/* SPDX-License-Identifier: GPL-2.0-only */
/* fetch.h - makes plain traces of a session in an archive. */
#ifndef ARCHIVE_FETCH_H
#define ARCHIVE_FETCH_H

#include "bucket.h"
#include "excerpt.h"
#include "listing.h"

struct fetch_counts {
	uint64_t packets, bytes;
	uint64_t copies; /* packets that were there already */
	bool ended;	 /* the archive has all of the session */
};

/** Fetch the session of the segments @names, of its packets the excerpt, into the directory @fd,
 *  which is empty. Return: 0 or the code in @err. */
int fetch_session(struct bucket *bucket, char *const *names, uint32_t nr,
		  const struct excerpt *excerpt, int fd, struct fetch_counts *ret,
		  struct err *err) MUST_CHECK;

#endif
