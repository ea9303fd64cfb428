/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "skim.h"

#include <stdlib.h>

#include "view_priv.h"

static bool skim_declares(const struct ctf_type *context, enum field_role role)
{
	for (uint32_t i = 0; context && i < context->nr_fields; i++)
		if (context->fields[i].role == role)
			return true;
	return false;
}

/* Packets of this tracer are in the order of time, as a whole one is checked for that. */
static bool skim_is_ordered(const struct ctf_trace_class *tc)
{
	for (const struct ctf_stream_class *sc = tc->streams; sc && !tc->hides; sc = sc->next)
		if (!skim_declares(sc->packet_context, ROLE_RECORDED))
			return false;
	return true;
}

bool skim_can_be(const struct view *view, const struct view_select *select)
{
	if (view->live || view->guests || select->has_begin || select->has_end || select->limit ||
	    select->names || select->processes || select->threads || select->pairs ||
	    select->where)
		return false;
	for (size_t i = 0; i < view->nr_sources; i++)
		if (!skim_is_ordered(view->sources[i]->tc))
			return false;
	return true;
}

static bool skim_shows(const struct skim *skim, const struct feed *feed, uint32_t number)
{
	return view_shows(skim->select, feed->packet.sc->sorted[number]);
}

/* An event, or several: of the view's @from is the first one, or @to the last one. */
static void skim_note(struct view *view, int64_t from, int64_t to)
{
	view->first_ns = view->events ? MIN(view->first_ns, from) : from;
	view->last_ns = view->events ? MAX(view->last_ns, to) : to;
}

/* Times of events that are hidden are none of the view's: that of the first or last one of a packet
 * does not matter if another packet has an earlier or a later one. */
static bool skim_take(struct skim *skim, struct feed *feed)
{
	const struct plan_counts *counts = &skim->counts;
	struct view *view = skim->view;
	int64_t first, last;

	if (!counts->nr || !packet_has(&feed->packet, ROLE_RECORDED))
		return false;
	first = clock_ns(feed->clock, counts->first);
	last = clock_ns(feed->clock, counts->last);
	if ((!skim_shows(skim, feed, counts->first_of) &&
	     (!view->events || first < view->first_ns)) ||
	    (!skim_shows(skim, feed, counts->last_of) &&
	     (!view->events || last > view->last_ns)))
		return false;
	feed_set_time(feed, counts->first);
	feed_set_time(feed, counts->last);
	skim_note(view, skim_shows(skim, feed, counts->first_of) ? first : last,
		  skim_shows(skim, feed, counts->last_of) ? last : first);
	for (uint32_t i = 0; i < feed->packet.sc->nr_sorted; i++) {
		if (counts->of[i] && skim_shows(skim, feed, i)) {
			*feed->packet.sc->sorted[i]->count += counts->of[i];
			view->events += counts->of[i];
		} else {
			view->hidden += counts->of[i];
		}
	}
	return true;
}

/* One event of a packet that was not taken as a whole. */
static void skim_event(struct skim *skim, struct feed *feed)
{
	struct view *view = skim->view;

	if (view_shows(skim->select, feed->ec)) {
		skim_note(view, feed->ns, feed->ns);
		view->events++;
		++*feed->ec->count;
	} else {
		view->hidden++;
	}
}

static void skim_set(struct view *view, struct skim *skim)
{
	for (size_t i = 0; i < view->merge.nr; i++)
		view->merge.heap[i].feed->skim = skim;
}

int skim_scan(struct view *view, const struct view_select *select)
{
	struct skim skim = { .take = skim_take, .view = view, .select = select };
	struct feed *feed, *taken = TAKE(view->current);
	int r = view_peek(view, NULL);

	skim_set(view, &skim);
	while (!r && (feed = merge_first(&view->merge))) {
		if (feed->in_packet && !feed->skimmed && feed != taken)
			skim_event(&skim, feed);
		taken = NULL;
		r = view_advance(view, select);
	}
	skim_set(view, NULL);
	free(skim.counts.of);
	return r;
}
