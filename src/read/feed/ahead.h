/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ahead.h - packets are checked by other threads before the reader of the streams gets to them.
 * Only a packet without any fault is handed over; another one is checked again by the reader, so
 * faults are reported by it alone, in their order. The lock and the conditions are those of the
 * threads' owner.
 */
#ifndef READ_FEED_AHEAD_H
#define READ_FEED_AHEAD_H

#include <pthread.h>

#include "feed.h"

struct ahead;

/**
 * struct ahead_packet - a packet that is whole by its own bytes: its head, and the marks of its
 *	first events. Owned by the thread that checks it, then by its stream, then by the reader.
 * @next_offset: of the packet behind it.
 * @walked_at, @walked_clock: as of struct feed. @last_clock: of the last event.
 */
struct ahead_packet {
	struct ahead_packet *next;
	uint64_t offset, next_offset;
	uint64_t events, last_clock;
	uint64_t walked_at, walked_clock;
	struct feed_mark *marks;
	uint32_t nr_marks, size_marks;
	uint8_t *head;
	size_t head_len;
};

/** struct ahead_checker - the memory of checking: owned by one thread. All zero: not used yet. */
struct ahead_checker {
	struct feed feed;
	uint32_t nr_slots;
};

void ahead_checker_fini(struct ahead_checker *checker);

/** struct ahead_threads - of the owner. @work: a packet can be checked; @done: one was. */
struct ahead_threads {
	pthread_mutex_t *lock;
	pthread_cond_t *work, *done;
};

/** No packet is checked yet. @nr: the most streams. @begin_ns: as of feed_next(), which stays. */
struct ahead *ahead_new(const struct ahead_threads *threads, size_t nr, const int64_t *begin_ns);
/** Have packets of a stream checked from ahead_begin() on. */
void ahead_add(struct ahead *ahead, struct feed *feed);
void ahead_begin(struct ahead *ahead);
/** When no other thread uses it any more. */
struct ahead *ahead_free(struct ahead *ahead);

/** ahead_work() - check a packet, by any of the threads, which holds the lock but for the time of
 *  the check. Return: whether there was one. */
bool ahead_work(struct ahead *ahead, struct ahead_checker *checker);

/** ahead_take() - the reader gets to a packet: if it is being checked, wait. Return: NULL: it was
 *  not checked, or has a fault. */
struct ahead_packet *ahead_take(struct feed *feed, uint64_t offset);
/** Have the packet behind the current one checked. */
void ahead_continue(struct feed *feed);
/** The feed has the marks of the packet from now on. */
void ahead_take_marks(struct feed *feed, struct ahead_packet *packet);
/** @packet: NULL, or taken; it is not used any more. */
void ahead_release(struct feed *feed, struct ahead_packet *packet);
/** No more packets of the feed are checked. */
void ahead_close(struct feed *feed);

#endif
