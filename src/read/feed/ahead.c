/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ahead.h"

#include <stdlib.h>

#include "base/mem.h"
#include "priv.h"
#include "read/source.h"

#define AHEAD_PACKETS 4u		   /* of a stream, */
#define AHEAD_STREAMS 8u		   /* if there are no more than these; else one */
#define AHEAD_UNOPENED 64u		   /* streams that the reader has not got to yet */
#define AHEAD_FIRST ((uint64_t)4096)	   /* bytes that are read to find the size of a packet */
#define AHEAD_WINDOW ((uint64_t)1 << 20)   /* a checker's; packets are read in parts of it */
#define AHEAD_LARGEST ((uint64_t)16 << 20) /* packet: no thread is busy with it for long */
/* Of all packets that are checked, and of those that the reader has taken. */
#define AHEAD_MARKS ((uint64_t)(24u << 20) / sizeof(struct feed_mark))
#define AHEAD_MARKS_MOST ((uint64_t)1 << 17) /* of a packet */

enum ahead_state { AHEAD_IDLE, AHEAD_QUEUED, AHEAD_TAKEN };

/**
 * struct ahead_stream - the packets of a stream that were checked, from @first to @last.
 * @offset: of the packet that is checked next, or now. @refused: of one that was not whole, plus 1.
 * @size: of the next packet, as it is supposed.
 * @lent: marks that the feed has of this.
 * @begun: the reader has got to it; @early: its file was opened before that.
 */
struct ahead_stream {
	struct ahead *ahead;
	struct feed *feed;
	struct window_file *file;
	uint64_t limit;
	struct ahead_stream *next;
	enum ahead_state state;
	uint64_t offset, refused, size;
	struct ahead_packet *first, *last;
	uint32_t nr;
	uint32_t lent;
	bool begun, early;
};

/**
 * struct ahead
 * @streams: in the order in which the reader gets to them; the first @nr_opened were opened early,
 *	unless it had got to them.
 * @first, @last: those whose packets are to be checked, in their order. @free: unused packets.
 * @marks_left: that may be allocated.
 */
struct ahead {
	struct ahead_threads threads;
	const int64_t *begin_ns;
	struct ahead_stream *streams;
	size_t nr_streams, nr_opened, nr_early;
	struct ahead_stream *first, *last;
	struct ahead_packet *free;
	uint64_t marks_left;
};

/* --- the queue of streams ------------------------------------------------------------------ */

static void ahead_queue(struct ahead_stream *s)
{
	struct ahead *a = s->ahead;
	uint32_t most = a->nr_streams > AHEAD_STREAMS ? 1 : AHEAD_PACKETS;

	if (s->state != AHEAD_IDLE || s->nr >= most || s->offset >= s->limit ||
	    s->refused == s->offset + 1)
		return;
	s->state = AHEAD_QUEUED;
	s->next = NULL;
	if (a->first)
		a->last->next = s;
	else
		a->first = s;
	a->last = s;
	pthread_cond_signal(a->threads.work);
}

static void ahead_unqueue(struct ahead_stream *s)
{
	struct ahead_stream **at = &s->ahead->first, *before = NULL;

	for (; *at != s; at = &before->next)
		before = *at;
	*at = s->next;
	if (s->ahead->last == s)
		s->ahead->last = before;
	s->state = AHEAD_IDLE;
}

static void ahead_put(struct ahead *a, struct ahead_packet *packet)
{
	packet->next = a->free;
	a->free = packet;
}

static void ahead_drop_first(struct ahead_stream *s)
{
	struct ahead_packet *packet = s->first;

	s->first = packet->next;
	s->nr--;
	ahead_put(s->ahead, packet);
}

/* --- by the threads ------------------------------------------------------------------------ */

void ahead_checker_fini(struct ahead_checker *checker)
{
	window_fini(&checker->feed.window);
	packet_fini(&checker->feed.packet);
	free(checker->feed.reader.slots);
}

static void ahead_checker_set(struct ahead_checker *checker, const struct ahead_stream *s,
			      struct ahead_packet *packet, uint64_t marks_most)
{
	struct feed *f = &checker->feed;
	uint32_t nr_slots = s->feed->source->tc->nr_slots + 1;

	if (checker->nr_slots < nr_slots) {
		checker->nr_slots = nr_slots;
		f->reader.slots = xrealloc(f->reader.slots, nr_slots * sizeof(*f->reader.slots));
	}
	f->source = s->feed->source;
	f->window.file = s->file;
	f->window.limit = s->limit;
	f->window.preferred = (size_t)MIN(s->size, AHEAD_WINDOW);
	f->window.len = 0;
	f->marks = packet->marks;
	f->size_marks = packet->size_marks;
	f->marks_most = (uint32_t)MIN(marks_most, AHEAD_MARKS_MOST);
}

/* Return: whether it is whole. */
static bool ahead_check(struct feed *f, const int64_t *begin_ns, struct ahead_packet *packet)
{
	const struct packet *head = &f->packet;

	f->nr_marks = 0;
	if (feed_head(f, packet->offset) != PACKET_OK ||
	    head->size > f->window.limit - packet->offset || head->size > AHEAD_LARGEST ||
	    feed_ends_before(f, begin_ns))
		return false;
	f->window.preferred = (size_t)MIN(MAX(head->size, AHEAD_FIRST), AHEAD_WINDOW);
	f->reader.clock = head->begin;
	if (feed_check_alone(f, &packet->events) != READ_OK || (packet->events && !f->nr_marks))
		return false;
	packet->next_offset = packet->offset + head->size;
	packet->last_clock = f->reader.clock;
	packet->walked_at = f->walked_at;
	packet->walked_clock = f->walked_clock;
	packet->head_len = (head->head_bits + 7) / 8;
	packet->head = xrealloc(packet->head, packet->head_len + 1);
	memcpy(packet->head, head->head, packet->head_len);
	return true;
}

/* Packets of a stream have similar numbers of events: leave some room. */
static void ahead_keep_marks(struct feed *f, struct ahead_packet *packet)
{
	uint32_t size = f->nr_marks + f->nr_marks / 8 + 1;

	if (f->size_marks > size + size / 4) {
		f->size_marks = size;
		f->marks = xrealloc(f->marks, size * sizeof(*f->marks));
	}
	packet->marks = f->marks;
	packet->nr_marks = f->nr_marks;
	packet->size_marks = f->size_marks;
}

bool ahead_work(struct ahead *a, struct ahead_checker *checker)
{
	struct ahead_stream *s = a->first;
	struct ahead_packet *packet = a->free;
	uint64_t reserved = a->marks_left / 2, before;
	bool is_whole;

	before = packet ? packet->size_marks : 0;
	if (!s || before + reserved < MAX(MARKS_LEAST, s->lent)) /* as many as the one before */
		return false;
	if (packet)
		a->free = packet->next;
	else
		packet = xalloc(sizeof(*packet));
	ahead_unqueue(s);
	s->state = AHEAD_TAKEN;
	a->marks_left -= reserved;
	packet->offset = s->offset;
	ahead_checker_set(checker, s, packet, before + reserved);
	pthread_mutex_unlock(a->threads.lock);

	is_whole = ahead_check(&checker->feed, a->begin_ns, packet);
	ahead_keep_marks(&checker->feed, packet);
	checker->feed.window.file = NULL;

	pthread_mutex_lock(a->threads.lock);
	a->marks_left += reserved + before - packet->size_marks;
	s->state = AHEAD_IDLE;
	if (is_whole) {
		packet->next = NULL;
		if (s->first)
			s->last->next = packet;
		else
			s->first = packet;
		s->last = packet;
		s->nr++;
		s->offset = packet->next_offset;
		s->size = packet->next_offset - packet->offset;
		ahead_queue(s);
	} else {
		s->refused = packet->offset + 1;
		ahead_put(a, packet);
	}
	pthread_cond_signal(a->threads.done);
	return true;
}

/* --- by the reader ------------------------------------------------------------------------- */

static void ahead_open(struct ahead_stream *s)
{
	s->limit = feed_dense(s->feed);
	if (s->limit)
		s->file = window_file_ref(s->feed->window.file);
}

static void ahead_open_more(struct ahead *a)
{
	while (a->nr_early < AHEAD_UNOPENED && a->nr_opened < a->nr_streams) {
		struct ahead_stream *s = &a->streams[a->nr_opened++];

		if (s->begun)
			continue;
		s->early = true;
		a->nr_early++;
		ahead_open(s);
		s->offset = s->feed->entry.size ? s->feed->entry.offset : 0;
		ahead_queue(s);
	}
}

/* The reader has got to the stream. */
static void ahead_note_begun(struct ahead_stream *s)
{
	if (s->begun)
		return;
	s->begun = true;
	if (s->early)
		s->ahead->nr_early--;
	else
		ahead_open(s);
	ahead_open_more(s->ahead);
}

struct ahead *ahead_new(const struct ahead_threads *threads, size_t nr, const int64_t *begin_ns)
{
	struct ahead *a = xalloc(sizeof(*a));

	a->threads = *threads;
	a->begin_ns = begin_ns;
	a->streams = xalloc((nr + 1) * sizeof(*a->streams));
	a->marks_left = AHEAD_MARKS;
	return a;
}

void ahead_add(struct ahead *a, struct feed *feed)
{
	a->streams[a->nr_streams++] = (struct ahead_stream){
		.ahead = a, .feed = feed, .size = AHEAD_FIRST, .begun = feed->open
	};
}

static int ahead_compare(const void *a, const void *b)
{
	const struct feed *x = ((const struct ahead_stream *)a)->feed;
	const struct feed *y = ((const struct ahead_stream *)b)->feed;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void ahead_begin(struct ahead *a)
{
	qsort(a->streams, a->nr_streams, sizeof(*a->streams), ahead_compare);
	pthread_mutex_lock(a->threads.lock);
	for (size_t i = 0; i < a->nr_streams; i++) {
		struct ahead_stream *s = &a->streams[i];

		s->feed->ahead = s;
		if (!s->begun)
			continue;
		ahead_open(s);
		s->offset = s->feed->next_packet;
		ahead_queue(s);
	}
	ahead_open_more(a);
	pthread_mutex_unlock(a->threads.lock);
}

struct ahead *ahead_free(struct ahead *a)
{
	struct ahead_packet *packet;

	if (!a)
		return NULL;
	for (size_t i = 0; i < a->nr_streams; i++)
		ahead_close(a->streams[i].feed);
	while ((packet = a->free)) {
		a->free = packet->next;
		free(packet->marks);
		free(packet->head);
		free(packet);
	}
	free(a->streams);
	free(a);
	return NULL;
}

struct ahead_packet *ahead_take(struct feed *feed, uint64_t offset)
{
	struct ahead_stream *s = feed->ahead;
	struct ahead_packet *packet = NULL;

	if (!s)
		return NULL;
	pthread_mutex_lock(s->ahead->threads.lock);
	ahead_note_begun(s);
	while (s->first && s->first->offset < offset)
		ahead_drop_first(s);
	while (!s->first && s->state == AHEAD_TAKEN && s->offset == offset)
		pthread_cond_wait(s->ahead->threads.done, s->ahead->threads.lock);
	if (s->first && s->first->offset == offset) {
		packet = s->first;
		s->first = packet->next;
		s->nr--;
	} else if (s->state == AHEAD_QUEUED && s->offset <= offset) {
		ahead_unqueue(s);
	}
	pthread_mutex_unlock(s->ahead->threads.lock);
	return packet;
}

/* Unless those that were checked are behind it. */
void ahead_continue(struct feed *feed)
{
	struct ahead_stream *s = feed->ahead;

	if (!s)
		return;
	pthread_mutex_lock(s->ahead->threads.lock);
	if (!s->first && s->state == AHEAD_IDLE)
		s->offset = feed->next_packet;
	ahead_queue(s);
	pthread_mutex_unlock(s->ahead->threads.lock);
}

/* Marks that the feed has allocated itself before are not counted. */
void ahead_take_marks(struct feed *feed, struct ahead_packet *packet)
{
	struct ahead_stream *s = feed->ahead;
	struct feed_mark *marks = feed->marks;
	uint32_t size = feed->size_marks;

	pthread_mutex_lock(s->ahead->threads.lock);
	s->ahead->marks_left += s->lent;
	s->lent = packet->size_marks;
	s->ahead->marks_left -= MIN(s->ahead->marks_left, size);
	pthread_mutex_unlock(s->ahead->threads.lock);
	feed->marks = packet->marks;
	feed->nr_marks = packet->nr_marks;
	feed->size_marks = packet->size_marks;
	packet->marks = marks;
	packet->nr_marks = 0;
	packet->size_marks = size;
}

void ahead_release(struct feed *feed, struct ahead_packet *packet)
{
	struct ahead_stream *s = feed->ahead;

	if (!packet)
		return;
	pthread_mutex_lock(s->ahead->threads.lock);
	ahead_put(s->ahead, packet);
	pthread_mutex_unlock(s->ahead->threads.lock);
}

void ahead_close(struct feed *feed)
{
	struct ahead_stream *s = TAKE(feed->ahead);

	if (!s)
		return;
	pthread_mutex_lock(s->ahead->threads.lock);
	s->limit = 0; /* none is queued any more */
	if (s->state == AHEAD_QUEUED)
		ahead_unqueue(s);
	while (s->state == AHEAD_TAKEN)
		pthread_cond_wait(s->ahead->threads.done, s->ahead->threads.lock);
	while (s->first)
		ahead_drop_first(s);
	s->ahead->marks_left += s->lent;
	pthread_mutex_unlock(s->ahead->threads.lock);
	s->file = window_file_unref(s->file);
}
