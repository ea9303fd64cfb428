/* SPDX-License-Identifier: GPL-2.0-only */
#include "team.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "columns.h"
#include "read/deferred.h"
#include "read/view_priv.h"

#define TEAM_EVENTS 1024u	       /* of a batch */
#define TEAM_BYTES ((uint64_t)1 << 20) /* of the parts of packets that a batch has, but for one */
#define TEAM_MOST 16u		       /* threads */
#define TEAM_BATCHES 3u		       /* batches at a time, for each thread */
#define TEAM_ALONE_MOST 4096u	       /* then most events are not for a team */

/** An event of a batch. @part: of the batch's. */
struct team_event {
	struct ctf_event_class *ec;
	int64_t ns;
	uint64_t at;
	uint32_t part;
};

enum team_state { TEAM_FREE, TEAM_QUEUED, TEAM_TAKEN, TEAM_DONE };

/**
 * struct team_batch - owned by the caller's thread, but for the time in which it is TEAM_TAKEN.
 * @last_ns, @any: of the event before it. @width, @ret_width: of the column of tasks, before it (as
 *	far as it was known then) and behind it.
 */
struct team_batch {
	struct team_batch *next;
	enum team_state state;
	uint32_t nr, nr_parts, size_parts;
	struct team_event events[TEAM_EVENTS];
	struct deferred_part *parts;
	uint64_t bytes;
	int64_t last_ns;
	bool any;
	uint32_t width, ret_width;
	struct pen text;
};

/** A thread's own printer and decoder. */
struct team_hand {
	struct team *team;
	struct printer printer;
	struct deferred_decoder decoder;
	pthread_t thread;
};

/** The packet of a stream's last event, and its part in the batch of number @batch. */
struct team_stream {
	struct deferred_packet *packet;
	uint64_t batch;
	uint32_t part;
};

/**
 * struct team
 * @lock: protects the list of batches from @first to @last, in their order, their states, and
 *	@ends; all else is the caller's.
 * @filled: the batch that is being filled; @number: of it. @free: unused ones.
 */
struct team {
	struct printer *printer;
	print_fn *print;
	pthread_mutex_t lock;
	pthread_cond_t queued, done;
	struct team_batch *first, *last;
	bool ends;
	struct team_batch *filled, *free;
	uint64_t number;
	uint32_t nr_batches;
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
	struct event event;

	p->pen = batch->text;
	p->pen.used = 0;
	p->any = batch->any;
	p->last_ns = batch->last_ns;
	p->task_width = batch->width;
	deferred_decoder_forget(&hand->decoder);
	for (const struct team_event *at = batch->events; at < batch->events + batch->nr; at++)
		if (deferred_decode(&hand->decoder, &batch->parts[at->part], at->at, at->ec, at->ns,
				    &event))
			hand->team->print(p, &event);
	batch->ret_width = p->task_width;
	batch->text = p->pen;
	for (uint32_t i = 0; i < batch->nr_parts; i++) {
		free(batch->parts[i].bytes);
		batch->parts[i].bytes = NULL;
		batch->parts[i].len = 0;
	}
}

/* The oldest one that no thread has taken; the lock is held. */
static struct team_batch *team_take(struct team *team)
{
	struct team_batch *batch = team->first;

	while (batch && batch->state != TEAM_QUEUED)
		batch = batch->next;
	if (batch)
		batch->state = TEAM_TAKEN;
	return batch;
}

/* The lock is held, but not while the batch is formatted. */
static void team_work(struct team_hand *hand, struct team_batch *batch)
{
	struct team *team = hand->team;

	pthread_mutex_unlock(&team->lock);
	team_format(hand, batch);
	pthread_mutex_lock(&team->lock);
	batch->state = TEAM_DONE;
	pthread_cond_signal(&team->done);
}

static void *team_run(void *priv)
{
	struct team_hand *hand = priv;
	struct team *team = hand->team;
	struct team_batch *batch;

	pthread_mutex_lock(&team->lock);
	while (!team->ends) {
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
	columns_free(hand->printer.style.table);
	deferred_decoder_fini(&hand->decoder);
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
	struct team_batch *batch = team->free;

	if (batch) {
		team->free = batch->next;
	} else {
		batch = xalloc(sizeof(*batch));
		pen_init(&batch->text, NULL);
	}
	batch->next = NULL;
	batch->nr = batch->nr_parts = 0;
	batch->bytes = 0;
	batch->last_ns = team->printer->last_ns;
	batch->any = team->printer->any;
	team->number++;
	return batch;
}

static void team_free_batch(struct team_batch *batch)
{
	pen_fini(&batch->text);
	free(batch->parts);
	free(batch);
}

/* Write the first one, which is done and not in the list any more. */
static void team_write(struct team *team, struct team_batch *batch)
{
	struct printer *p = team->printer;

	if (batch->width != p->task_width) { /* one before it has a wider task */
		batch->width = p->task_width;
		team_format(&team->hands[0], batch);
	}
	p->task_width = batch->ret_width;
	pen_write(&p->pen, batch->text.buf, batch->text.used);
	for (uint32_t i = 0; i < batch->nr_parts; i++)
		deferred_packet_unref(batch->parts[i].packet);
	team->nr_batches--;
	batch->next = team->free;
	team->free = batch;
}

/* Write those that are done; until at most @most are left, help or wait. */
static void team_settle(struct team *team, uint32_t most)
{
	struct team_batch *batch;

	pthread_mutex_lock(&team->lock);
	while ((batch = team->first)) {
		if (batch->state == TEAM_DONE) {
			team->first = batch->next;
			pthread_mutex_unlock(&team->lock);
			team_write(team, batch);
			pthread_mutex_lock(&team->lock);
		} else if (team->nr_batches <= most) {
			break;
		} else {
			batch = team_take(team);
			if (batch)
				team_work(&team->hands[0], batch);
			else
				pthread_cond_wait(&team->done, &team->lock);
		}
	}
	pthread_mutex_unlock(&team->lock);
}

static void team_submit(struct team *team)
{
	struct team_batch *batch = TAKE(team->filled);

	if (!batch)
		return;
	team_grow(team);
	batch->width = team->printer->task_width;
	pthread_mutex_lock(&team->lock);
	batch->state = TEAM_QUEUED;
	if (team->first)
		team->last->next = batch;
	else
		team->first = batch;
	team->last = batch;
	team->nr_batches++;
	pthread_cond_signal(&team->queued);
	pthread_mutex_unlock(&team->lock);
	team_settle(team, TEAM_BATCHES * team->nr_hands);
}

/* The part of the event's packet in the batch. Return: false: its file can't be opened. */
static bool team_find_part(struct team *team, struct view *view, print_packet_fn *packet,
			   uint64_t at, uint32_t *ret)
{
	uint32_t order = deferred_stream(view);
	struct team_batch *batch = team->filled;
	struct team_stream *stream;

	if (order >= team->nr_streams) {
		team->streams = xrealloc(team->streams, (order + 1) * sizeof(*team->streams));
		memset(&team->streams[team->nr_streams], 0,
		       (order + 1 - team->nr_streams) * sizeof(*team->streams));
		team->nr_streams = order + 1;
	}
	stream = &team->streams[order];
	if (!deferred_is_packet(stream->packet, view)) {
		packet(&view->current->packet);
		deferred_packet_unref(stream->packet);
		stream->packet = deferred_packet_new(view);
		stream->batch = 0;
		if (!stream->packet)
			return false;
	}
	if (stream->batch != team->number) {
		if (batch->nr_parts == batch->size_parts) {
			batch->size_parts = 2 * batch->size_parts + 4;
			batch->parts =
				xrealloc(batch->parts, batch->size_parts * sizeof(*batch->parts));
		}
		stream->batch = team->number;
		stream->part = batch->nr_parts++;
		batch->parts[stream->part] =
			(struct deferred_part){ .packet = deferred_packet_ref(stream->packet),
						.from = at >> 3 };
		batch->parts[stream->part].last = at >> 3;
	}
	*ret = stream->part;
	return true;
}

/* Return: false: the event can't be deferred. */
static bool team_defer(struct team *team, struct view *view, const struct event *event,
		       print_packet_fn *packet)
{
	uint64_t at = deferred_at(view);
	struct team_batch *batch;
	struct deferred_part *part;
	uint32_t number;

	if (!event->ec->mold || !event->ec->mold->text || !deferred_can_be(view))
		return false;
	if (!team->filled)
		team->filled = team_new_batch(team);
	batch = team->filled;
	if (!team_find_part(team, view, packet, at, &number))
		return false;
	part = &batch->parts[number];
	batch->bytes += (at >> 3) - part->last;
	part->last = at >> 3;
	batch->events[batch->nr++] = (struct team_event){ event->ec, event->ns, at, number };
	team->printer->any = true;
	team->printer->last_ns = event->ns;
	if (batch->nr == TEAM_EVENTS || batch->bytes > TEAM_BYTES)
		team_submit(team);
	return true;
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
	return MIN(r, 0);
}

static void team_fini(struct team *team)
{
	struct team_batch *batch;

	pthread_mutex_lock(&team->lock);
	team->ends = true;
	pthread_cond_broadcast(&team->queued);
	pthread_mutex_unlock(&team->lock);
	for (uint32_t i = 1; i < team->nr_hands; i++)
		pthread_join(team->hands[i].thread, NULL);
	for (uint32_t i = 0; i < team->nr_hands; i++)
		team_hand_fini(&team->hands[i]);
	while ((batch = team->free)) {
		team->free = batch->next;
		team_free_batch(batch);
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
	struct view_select brief = *select;
	struct event event;
	int r = 0;

	team->printer = printer;
	team->print = print;
	team->nr_wanted = MIN(printer->style.threads, TEAM_MOST);
	pthread_mutex_init(&team->lock, NULL);
	pthread_cond_init(&team->queued, NULL);
	pthread_cond_init(&team->done, NULL);
	team_grow(team);
	brief.brief = true;
	while (!printer->pen.error && (r = event_next(view, &brief, &event)) > 0) {
		if (team->nr_alone < TEAM_ALONE_MOST && team_defer(team, view, &event, packet))
			continue;
		r = team_print_alone(team, view, select);
		if (r < 0)
			break;
	}
	team_submit(team);
	team_settle(team, 0);
	team_fini(team);
	return printer->pen.error ? printer->pen.error : MIN(r, 0);
}
