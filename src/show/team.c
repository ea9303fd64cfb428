/* SPDX-License-Identifier: GPL-2.0-only */
#include "team.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "columns.h"
#include "read/deferred.h"
#include "read/feed/ahead.h"
#include "read/view_priv.h"

#define TEAM_EVENTS 4096u	       /* of a batch */
#define TEAM_BYTES ((uint64_t)1 << 20) /* of the parts of packets that a batch has, but for one */
#define TEAM_PARTS 256u		       /* of a batch */
#define TEAM_LINE 64u		       /* bytes that CPUs share or do not */
#define TEAM_MOST 16u		       /* threads */
/* Of all batches: little, so that their memory stays in caches. */
#define TEAM_QUEUED_MOST 4u	       /* for each thread */
#define TEAM_QUEUED_BYTES (2 * TEAM_BYTES)
#define TEAM_ALONE_MOST 4096u	       /* then most events are not for a team */
#define TEAM_MEMORY ((size_t)24 << 20) /* that the heap has at once; it gets pages by and by */
#define TEAM_HUGE ((size_t)2 << 20)    /* a page */
#define TEAM_LARGE ((uint64_t)512 << 10) /* bytes of a trace whose threads are started at once */

/** An event of a batch. @part: of the batch's; @at: in bits behind its begin. */
struct team_event {
	struct ctf_event_class *ec;
	int64_t ns;
	uint32_t at;
	uint32_t part;
};

enum team_state { TEAM_FREE, TEAM_QUEUED, TEAM_TAKEN, TEAM_DONE };

/** The memory of a batch's text. */
struct team_text {
	struct team_text *next;
	struct pen pen;
};

/**
 * struct team_batch - owned by the caller's thread until it is TEAM_QUEUED, by a thread while it is
 *	TEAM_TAKEN, and by that which writes it.
 * @last_ns, @any: of the event before it. @width, @ret_width: of the column of tasks, before it (as
 *	far as it was known then) and behind it. @before, @behind: no thread waits for lines of
 *	memory as another one fills the batch beside it.
 */
struct team_batch {
	char before[TEAM_LINE];
	struct team_batch *next;
	enum team_state state;
	uint32_t nr, nr_parts;
	struct team_event events[TEAM_EVENTS];
	struct deferred_part parts[TEAM_PARTS];
	uint64_t bytes;
	int64_t last_ns;
	bool any;
	uint32_t width, ret_width;
	struct team_text *text; /* NULL: not formatted yet */
	char behind[TEAM_LINE];
};

/** A thread's own printer, decoder and checker of packets. */
struct team_hand {
	struct team *team;
	struct printer printer;
	struct deferred_decoder decoder;
	struct ahead_checker checker;
	pthread_t thread;
};

/** The packet of a stream's last event, at byte @offset, and its part in the batch of number
 *  @batch. */
struct team_stream {
	struct deferred_packet *packet;
	uint64_t offset, batch;
	uint32_t part;
};

/**
 * struct team
 * @lock: protects the list of batches from @first to @last, in their order, their states, and all
 *	up to @texts; all else is the caller's.
 * @ahead: packets that the threads check for the caller, under the same lock; NULL: none yet.
 * @writes: a thread writes the batch that was the first one; only it uses the printer's pen then.
 * @nr_batches, @bytes: of those that are not written yet. @free, @texts: unused ones.
 * @filled: the batch that is being filled; @number: of it. @events, @parts: its; they go to it at
 *	once, as other CPUs have its memory, and each line of that is waited for.
 */
struct team {
	struct printer *printer;
	print_fn *print;
	pthread_mutex_t lock;
	pthread_cond_t queued, done;
	struct ahead *ahead;
	struct team_batch *first, *last;
	bool ends, writes;
	uint32_t nr_batches;
	uint64_t bytes;
	int error;
	struct team_batch *free;
	struct team_text *texts;
	struct team_batch *filled;
	uint64_t number;
	bool failed;
	struct team_event events[TEAM_EVENTS];
	struct deferred_part parts[TEAM_PARTS];
	struct team_hand hands[TEAM_MOST]; /* the first one is the caller's */
	uint32_t nr_hands, nr_wanted;
	struct team_stream *streams;
	uint32_t nr_streams;
	uint64_t nr_alone;
};

bool team_can_print(const struct view *view, const struct view_select *select,
		    const struct view_style *style)
{
	bool is_short = style->brief && style->tasks && !style->table &&
			style->format != VIEW_JSON; /* for a terminal */

	return style->threads > 1 && !view->live && !view->guests && !select->pairs &&
	       !style->longest && !style->names && !is_short &&
	       (!style->table || columns_are_csv(style->table));
}

/* --- formatting ---------------------------------------------------------------------------- */

static void team_format(struct team_hand *hand, struct team_batch *batch)
{
	struct printer *p = &hand->printer;
	const uint8_t *bases[PLAN_BASES];
	struct event event;

	p->pen = batch->text->pen;
	p->pen.used = 0;
	p->any = batch->any;
	p->last_ns = batch->last_ns;
	p->task_width = batch->width;
	deferred_decoder_forget(&hand->decoder);
	for (const struct team_event *of = batch->events; of < batch->events + batch->nr; of++) {
		struct deferred_part *part = &batch->parts[of->part];
		uint64_t at = part->from * 8 + of->at;

		if ((mold_is_placed(of->ec) &&
		     deferred_locate(&hand->decoder, part, at, of->ec, of->ns, bases, &event)) ||
		    deferred_decode(&hand->decoder, part, at, of->ec, of->ns, &event))
			hand->team->print(p, &event);
	}
	batch->ret_width = p->task_width;
	batch->text->pen = p->pen;
	for (uint32_t i = 0; i < batch->nr_parts; i++)
		deferred_part_release(&hand->decoder, &batch->parts[i]);
}

/* The lock is held, as by all below. */
static struct team_text *team_take_text(struct team *team)
{
	struct team_text *text = team->texts;

	if (text) {
		team->texts = text->next;
		return text;
	}
	text = xalloc(sizeof(*text));
	pen_init(&text->pen, NULL);
	return text;
}

static void team_write(struct team_hand *hand, struct team_batch *batch)
{
	struct printer *p = hand->team->printer;
	const struct pen *text = &batch->text->pen;

	if (batch->width != p->task_width) { /* one before it has a wider task */
		batch->width = p->task_width;
		team_format(hand, batch);
	}
	pen_write(&p->pen, text->buf, text->used);
	for (uint32_t i = 0; i < batch->nr_parts; i++)
		deferred_packet_unref(batch->parts[i].packet);
}

/* Write those that are done, but not while another thread does; it goes on then. */
static void team_write_done(struct team_hand *hand)
{
	struct team *team = hand->team;
	struct team_batch *batch;

	while (!team->writes && (batch = team->first) && batch->state == TEAM_DONE) {
		team->first = batch->next;
		team->writes = true;
		pthread_mutex_unlock(&team->lock);
		team_write(hand, batch);
		pthread_mutex_lock(&team->lock);
		team->writes = false;
		team->printer->task_width = batch->ret_width;
		team->error = team->printer->pen.error;
		team->nr_batches--;
		team->bytes -= batch->bytes;
		batch->text->next = team->texts;
		team->texts = TAKE(batch->text);
		batch->next = team->free;
		team->free = batch;
		pthread_cond_signal(&team->done);
	}
}

/* The oldest one that no thread has taken. */
static struct team_batch *team_take(struct team *team)
{
	struct team_batch *batch = team->first;

	while (batch && batch->state != TEAM_QUEUED)
		batch = batch->next;
	if (batch) {
		batch->state = TEAM_TAKEN;
		batch->text = team_take_text(team);
	}
	return batch;
}

/* The lock is not held while the batch is formatted. */
static void team_work(struct team_hand *hand, struct team_batch *batch)
{
	struct team *team = hand->team;

	pthread_mutex_unlock(&team->lock);
	team_format(hand, batch);
	pthread_mutex_lock(&team->lock);
	batch->state = TEAM_DONE;
	team_write_done(hand);
}

static void *team_run(void *priv)
{
	struct team_hand *hand = priv;
	struct team *team = hand->team;
	struct team_batch *batch;

	pthread_mutex_lock(&team->lock);
	while (!team->ends) {
		if (team->ahead && ahead_work(team->ahead, &hand->checker))
			continue;
		batch = team_take(team);
		if (batch)
			team_work(hand, batch);
		else
			pthread_cond_wait(&team->queued, &team->lock);
	}
	pthread_mutex_unlock(&team->lock);
	return NULL;
}

static void team_hand_init(struct team *team, struct team_hand *hand)
{
	const struct printer *of = team->printer;

	hand->team = team;
	hand->printer.style = of->style;
	hand->printer.several_hosts = of->several_hosts;
	pen_init(&hand->printer.task, NULL);
	if (of->style.table)
		hand->printer.style.table = columns_copy(of->style.table);
}

static void team_hand_fini(struct team_hand *hand)
{
	pen_fini(&hand->printer.task);
	memo_fini(&hand->printer.memo);
	columns_free(hand->printer.style.table);
	deferred_decoder_fini(&hand->decoder);
	ahead_checker_fini(&hand->checker);
}

/* Threads are started when there is work for them. */
static void team_grow(struct team *team)
{
	struct team_hand *hand = &team->hands[team->nr_hands];

	if (team->nr_hands == team->nr_wanted)
		return;
	team_hand_init(team, hand);
	if (!team->nr_hands || pthread_create(&hand->thread, NULL, team_run, hand) == 0) {
		team->nr_hands++;
		return;
	}
	team_hand_fini(hand);
	team->nr_wanted = team->nr_hands;
}

/* --- batches ------------------------------------------------------------------------------- */

static struct team_batch *team_new_batch(struct team *team)
{
	struct team_batch *batch;

	pthread_mutex_lock(&team->lock);
	batch = team->free;
	if (batch)
		team->free = batch->next;
	pthread_mutex_unlock(&team->lock);
	if (!batch) /* most of it is written before it is read */
		batch = xrealloc(NULL, sizeof(*batch));
	batch->next = NULL;
	batch->text = NULL;
	batch->nr = batch->nr_parts = 0;
	batch->bytes = 0;
	batch->last_ns = team->printer->last_ns;
	batch->any = team->printer->any;
	team->number++;
	return batch;
}

/* Until at most @most are left, help or wait. */
static void team_settle(struct team *team, uint32_t most)
{
	struct team_batch *batch;

	pthread_mutex_lock(&team->lock);
	while (team->nr_batches > most || (team->nr_batches && team->bytes > TEAM_QUEUED_BYTES)) {
		batch = team_take(team);
		if (batch)
			team_work(&team->hands[0], batch);
		else
			pthread_cond_wait(&team->done, &team->lock);
	}
	team->failed = team->error != 0;
	pthread_mutex_unlock(&team->lock);
}

static void team_submit(struct team *team)
{
	struct team_batch *batch = TAKE(team->filled);

	if (!batch)
		return;
	team_grow(team);
	memcpy(batch->events, team->events, batch->nr * sizeof(*batch->events));
	memcpy(batch->parts, team->parts, batch->nr_parts * sizeof(*batch->parts));
	pthread_mutex_lock(&team->lock);
	batch->width = team->printer->task_width;
	batch->state = TEAM_QUEUED;
	if (team->first)
		team->last->next = batch;
	else
		team->first = batch;
	team->last = batch;
	team->nr_batches++;
	team->bytes += batch->bytes;
	pthread_cond_signal(&team->queued);
	pthread_mutex_unlock(&team->lock);
	team_settle(team, TEAM_QUEUED_MOST * team->nr_wanted);
}

/* The part of the event's packet in the batch. */
static void team_add_part(struct team *team, struct view *view, struct team_stream *stream,
			  print_packet_fn *packet)
{
	struct feed *feed = view->current;
	uint64_t from = feed->payload_at >> 3;

	if (!stream->packet || stream->offset != feed->packet.offset) {
		packet(&feed->packet, feed->source);
		deferred_packet_unref(stream->packet);
		stream->packet = deferred_packet_new(view);
		stream->offset = feed->packet.offset;
	}
	stream->batch = team->number;
	stream->part = team->filled->nr_parts++;
	team->parts[stream->part] =
		(struct deferred_part){ .packet = deferred_packet_ref(stream->packet),
					.from = from,
					.last = from };
}

static struct team_stream *team_stream(struct team *team, uint32_t order)
{
	if (order >= team->nr_streams) {
		team->streams = xrealloc(team->streams, (order + 1) * sizeof(*team->streams));
		memset(&team->streams[team->nr_streams], 0,
		       (order + 1 - team->nr_streams) * sizeof(*team->streams));
		team->nr_streams = order + 1;
	}
	return &team->streams[order];
}

/* Packets are checked ahead once there are threads, and more than a few events. */
static void team_read_ahead(struct team *team, struct view *view, const struct view_select *select)
{
	const struct ahead_threads threads = { &team->lock, &team->queued, &team->done };
	struct ahead *ahead;

	if (team->ahead || team->nr_hands < 2)
		return;
	ahead = view_read_ahead(view, select, &threads);
	pthread_mutex_lock(&team->lock);
	team->ahead = ahead;
	pthread_cond_broadcast(&team->queued);
	pthread_mutex_unlock(&team->lock);
}

/* Return: false: the event can't be deferred. */
static bool team_defer(struct team *team, struct view *view, const struct view_select *select,
		       print_packet_fn *packet)
{
	const struct feed *feed = view->current;
	struct ctf_event_class *ec = feed->ec;
	uint64_t at = feed->payload_at;
	struct team_stream *stream;
	struct team_batch *batch;
	struct deferred_part *part;

	if (!ec->mold || !ec->mold->text || !deferred_can_be(view))
		return false;
	if (!team->filled)
		team->filled = team_new_batch(team);
	batch = team->filled;
	stream = team_stream(team, feed->order);
	if (stream->batch != team->number || stream->offset != feed->packet.offset)
		team_add_part(team, view, stream, packet);
	part = &team->parts[stream->part];
	batch->bytes += (at >> 3) - part->last;
	part->last = at >> 3;
	team->events[batch->nr++] = (struct team_event){
		ec, feed->ns, (uint32_t)(at - part->from * 8), stream->part
	};
	team->printer->any = true;
	team->printer->last_ns = feed->ns;
	if (batch->nr == TEAM_EVENTS || batch->nr_parts == TEAM_PARTS ||
	    batch->bytes > TEAM_BYTES) {
		team_submit(team);
		team_read_ahead(team, view, select);
	}
	return true;
}

/* A fault for each page of memory that is given back and allocated again would cost a tenth of all:
 * the heap is kept, by one arena of all threads, and grows in huge pages where they can be had. */
static void team_keep_memory(void)
{
#ifdef M_ARENA_MAX
	char *memory;

	(void)mallopt(M_ARENA_MAX, 1);
	(void)mallopt(M_MMAP_THRESHOLD, (int)TEAM_MEMORY + (int)TEAM_HUGE);
	(void)mallopt(M_TRIM_THRESHOLD, (int)TEAM_MEMORY * 4);
	memory = malloc(TEAM_MEMORY);
	if (memory)
		(void)madvise((void *)align_up((uintptr_t)memory, TEAM_HUGE),
			      TEAM_MEMORY - TEAM_HUGE, MADV_HUGEPAGE);
	free(memory);
#endif
}

/* The first packets of many streams are much of a trace: if that is large, they are checked by all
 * threads, too. */
static int team_begin(struct team *team, struct view *view, const struct view_select *select)
{
	int r = view_peek(view, select->has_begin ? &select->begin_ns : NULL);

	team_grow(team);
	if (r || select->limit || view->reporter.bytes < TEAM_LARGE)
		return r;
	team_keep_memory();
	for (uint32_t i = 1; i < team->nr_wanted; i++)
		team_grow(team);
	team_read_ahead(team, view, select);
	return 0;
}

/* --- all ----------------------------------------------------------------------------------- */

/* By the caller's thread, behind all before it. */
static int team_print_alone(struct team *team, struct view *view, const struct view_select *select)
{
	struct event event;
	int r = event_decode(view, select, &event);

	team->nr_alone++;
	team_submit(team);
	team_settle(team, 0);
	if (r > 0)
		team->print(team->printer, &event);
	team->failed = team->printer->pen.error != 0;
	return MIN(r, 0);
}

static void team_fini(struct team *team)
{
	struct team_batch *batch;
	struct team_text *text;

	pthread_mutex_lock(&team->lock);
	team->ends = true;
	pthread_cond_broadcast(&team->queued);
	pthread_mutex_unlock(&team->lock);
	for (uint32_t i = 1; i < team->nr_hands; i++)
		pthread_join(team->hands[i].thread, NULL);
	ahead_free(team->ahead);
	for (uint32_t i = 0; i < team->nr_hands; i++)
		team_hand_fini(&team->hands[i]);
	while ((batch = team->free)) {
		team->free = batch->next;
		free(batch);
	}
	while ((text = team->texts)) {
		team->texts = text->next;
		pen_fini(&text->pen);
		free(text);
	}
	for (uint32_t i = 0; i < team->nr_streams; i++)
		deferred_packet_unref(team->streams[i].packet);
	free(team->streams);
	pthread_cond_destroy(&team->queued);
	pthread_cond_destroy(&team->done);
	pthread_mutex_destroy(&team->lock);
	free(team);
}

int team_print(struct view *view, const struct view_select *select, struct printer *printer,
	       print_fn *print, print_packet_fn *packet)
{
	struct team *team = xalloc(sizeof(*team));
	int r;

	team->printer = printer;
	team->print = print;
	team->nr_wanted = MIN(printer->style.threads, TEAM_MOST);
	pthread_mutex_init(&team->lock, NULL);
	pthread_cond_init(&team->queued, NULL);
	pthread_cond_init(&team->done, NULL);
	r = team_begin(team, view, select);
	while (!r && !team->failed && (r = event_next(view, select, NULL)) > 0) {
		r = 0;
		if (team->nr_alone >= TEAM_ALONE_MOST || !team_defer(team, view, select, packet))
			r = team_print_alone(team, view, select);
	}
	team_submit(team);
	team_settle(team, 0);
	team_fini(team);
	return printer->pen.error ? printer->pen.error : MIN(r, 0);
}
