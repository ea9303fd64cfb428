/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * listing.h - names of segments: HOST/SESSION/ID/NUMBER-CHECKSUM.seg, with the id in base 16, and
 * lists of them. Sorted, those of a session are in their order.
 */
#ifndef ARCHIVE_LISTING_H
#define ARCHIVE_LISTING_H

#include "segment.h"

struct listing {
	char **all;
	uint32_t nr;
};

/** The segments whose names begin with @prefix, sorted; other objects are ignored. Return: 0 or the
 *  code in @err. */
int listing_read(struct listing *ret, struct bucket *bucket, const char *prefix,
		 struct err *err) MUST_CHECK;
void listing_fini(struct listing *names);

/** HOST/SESSION/ID/, allocated. */
char *listing_prefix(const struct segment_session *session);
/** The name of a segment whose footer has this checksum, allocated. */
char *listing_segment(const char *prefix, uint64_t number, uint32_t checksum);
/** Bytes of HOST/SESSION/ID/ at the begin of the name of a segment. */
size_t listing_prefix_len(const char *name);

#endif
