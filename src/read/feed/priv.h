/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* feed_priv.h - shared declarations of the feed's files: reading, checking, finding. */
#ifndef READ_FEED_PRIV_H
#define READ_FEED_PRIV_H

#include "feed.h"

struct ahead_packet;

/* Smallest read into the window, in bytes. */
#define FILL_LEAST ((size_t)4096)

/** feed_read.c: outcomes are READ_OK, READ_DAMAGED (reason in feed->why), or a
 *  negative errno. */
int feed_fill(struct feed *feed, uint64_t bit, size_t want) MUST_CHECK;
int feed_header(struct feed *feed, uint64_t at) MUST_CHECK;
int feed_payload(struct feed *feed, uint64_t at, struct values *values, bool has_fields,
		 struct feed_scopes *ret_scopes) MUST_CHECK;
/** The same of some values only. Return: also READ_UNPLANNED. */
int feed_payload_some(struct feed *feed, uint64_t at, const struct plan_pick *pick,
		      struct value *values) MUST_CHECK;
/** The same, but values are only found. */
int feed_payload_locate(struct feed *feed, uint64_t at, const struct plan_pick *skipped,
			const uint8_t **bases) MUST_CHECK;
/** The same of none: feed->next_at is set. Return: as feed_payload(). */
int feed_payload_skip(struct feed *feed, uint64_t at) MUST_CHECK;
/** Why bytes of a packet can't be read: @error of window_get(). */
const char *feed_read_error(int error);
int feed_damaged(struct feed *feed, const char *fmt, ...) PRINTF(2, 3);

/** feed_check.c: check the whole packet, and mark its first events. Return: as above. */
int feed_check(struct feed *feed, uint64_t *ret_events) MUST_CHECK;
/** The part of it that needs nothing but the packet. */
int feed_check_alone(struct feed *feed, uint64_t *ret_events) MUST_CHECK;
/** The other part, after feed_check_alone() by another feed. Return: whether the packet is good,
 *  and its marks are taken; else nothing has changed. */
bool feed_check_ahead(struct feed *feed, struct ahead_packet *ahead) MUST_CHECK;
/** Mark the events behind the last marks; none is left if the packet ends there. */
int feed_mark_more(struct feed *feed) MUST_CHECK;

/** feed_find.c: make the next packet the current one.
 *  Return: 1, 0 (end of the file), negative errno. */
int feed_find(struct feed *feed, const int64_t *begin_ns) MUST_CHECK;
/** Parse the head of the packet at @offset; @len bytes of it. Return: PACKET_*, negative errno. */
int feed_parse(struct feed *feed, uint64_t offset, const uint8_t *bytes, size_t len) MUST_CHECK;
/** The same; they are read. */
int feed_head(struct feed *feed, uint64_t offset) MUST_CHECK;

#endif
