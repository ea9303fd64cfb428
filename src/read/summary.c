/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Totals of a trace: names, streams, losses. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>

#include "base/mem.h"
#include "view_priv.h"

static const struct {
	const char *name, *key;
} view_causes[VIEW_NR_LOST] = {
	[VIEW_LOST_FULL] = { "buffer full", "buffer_full" },
	[VIEW_LOST_SIZE] = { "too large", "too_large" },
	[VIEW_LOST_BUSY] = { "buffer busy", "buffer_busy" },
	[VIEW_LOST_OUTPUT] = { "output failed", "output_failed" },
	[VIEW_LOST_OTHER] = { "discarded by the tracer", "other" },
};

const char *view_lost_name(enum view_lost cause)
{
	return (unsigned)cause < VIEW_NR_LOST ? view_causes[cause].name : "?";
}

const char *view_lost_key(enum view_lost cause)
{
	return (unsigned)cause < VIEW_NR_LOST ? view_causes[cause].key : "?";
}

/* --- collecting ----------------------------------------------------------- */

static void view_summary_add_stream(struct view_summary *sum, const struct view_stream *stream)
{
	for (int i = 0; i < VIEW_NR_LOST; i++) {
		sum->lost_by[i] += stream->lost[i];
		sum->lost += stream->lost[i];
	}
	sum->lost_before += stream->lost_before;
	sum->before += stream->before;
	sum->lost_packets += stream->lost_packets;
	sum->damaged_packets += stream->damaged_packets;
	sum->damaged_events += stream->damaged_events;
	sum->packets += stream->packets;
	sum->bytes += stream->bytes;
}

static void collect_streams(const struct view *view, struct view_summary *sum)
{
	struct view_stream *streams;
	size_t max = 0;

	for (size_t i = 0; i < view->nr_sources; i++) {
		max += view->sources[i]->nr_feeds;
		sum->lost_buffers += view->sources[i]->remarks.lost_buffers;
		sum->not_sampled += view->sources[i]->remarks.not_sampled;
		sum->unlisted += view->sources[i]->list_incomplete;
		for (uint32_t k = 0; k < view->sources[i]->nr_feeds; k++)
			sum->skipped_bytes += view->sources[i]->feeds[k]->skipped_bytes;
	}
	sum->clock_changes = view->clock_changes;
	streams = xalloc((max + 1) * sizeof(*streams));
	sum->streams = streams;
	for (size_t i = 0; i < view->nr_sources; i++) {
		for (struct tally *t = view->sources[i]->tallies; t; t = t->next) {
			if (!t->sum.name)
				continue;
			streams[sum->nr_streams++] = t->sum;
			view_summary_add_stream(sum, &t->sum);
		}
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct view_name *)a)->name, ((const struct view_name *)b)->name);
}

static int by_events(const void *a, const void *b)
{
	const struct view_name *x = a, *y = b;

	return x->events != y->events ? (x->events < y->events ? 1 : -1) : by_text(a, b);
}

/* Facts that both share remain. */
static void view_summary_join(struct view_name *to, const struct view_name *from)
{
	bool known = to->about && from->about;

	to->events += from->events;
	to->about = known ? to->about + from->about : 0;
	if (to->one_in != from->one_in)
		to->one_in = 0;
	if (!to->sampled != !from->sampled ||
	    (to->sampled && strcmp(to->sampled, from->sampled) != 0))
		to->sampled = "";
}

static struct view_name view_summary_name(const struct source *source,
					  const struct ctf_event_class *ec)
{
	const struct metadata_sampling *sampling =
		metadata_sampling_of(&source->remarks, ec->stream_id, ec->id);

	return (struct view_name){
		.name = ec->name,
		.events = *ec->count,
		.sampled = sampling ? sampling->how : NULL,
		.about = sampling ? *ec->count * sampling->one_in : *ec->count,
		.one_in = sampling ? sampling->one_in : 1,
	};
}

/* Traces of several processes, and the classes of one event in the course of time, have the same
 * names. */
static size_t merge_names(struct view_name *names, size_t nr)
{
	size_t out = 0;

	if (nr)
		qsort(names, nr, sizeof(*names), by_text);
	for (size_t i = 0; i < nr; i++) {
		if (out && !strcmp(names[out - 1].name, names[i].name))
			view_summary_join(&names[out - 1], &names[i]);
		else
			names[out++] = names[i];
	}
	if (out)
		qsort(names, out, sizeof(*names), by_events);
	return out;
}

static void collect_names(const struct view *view, struct view_summary *sum)
{
	struct view_name *names = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < view->nr_sources; i++) {
		const struct ctf_trace_class *tc = view->sources[i]->tc;
		const struct ctf_event_class *ec = tc->is_shared ? NULL : tc->events;

		for (; ec; ec = ec->next) {
			if (!*ec->count)
				continue;
			if (!(nr & (nr - 1))) /* full at each power of two */
				names = xrealloc(names, MAX(2 * nr, 1u) * sizeof(*names));
			names[nr++] = view_summary_name(view->sources[i], ec);
		}
	}
	sum->nr_names = merge_names(names, nr);
	sum->names = names;
}

bool view_conflict_same(const struct view_conflict *one, const struct view_conflict *other)
{
	return strcmp(one->name, other->name) == 0 && strcmp(one->refused, other->refused) == 0 &&
	       strcmp(one->armed, other->armed) == 0;
}

/* Traces of several processes, and channels, have the same ones. */
static void collect_conflicts(const struct view *view, struct view_summary *sum)
{
	struct view_conflict *conflicts = xalloc(VIEW_MAX_CONFLICTS * sizeof(*conflicts));
	size_t nr = 0;

	for (size_t i = 0; i < view->nr_sources; i++) {
		const struct metadata_remarks *remarks = &view->sources[i]->remarks;

		for (size_t k = 0; k < remarks->nr_conflicts && nr < VIEW_MAX_CONFLICTS; k++) {
			size_t known = 0;

			while (known < nr &&
			       !view_conflict_same(&conflicts[known], &remarks->conflicts[k]))
				known++;
			conflicts[known] = remarks->conflicts[k];
			nr = MAX(nr, known + 1);
		}
	}
	sum->conflicts = conflicts;
	sum->nr_conflicts = nr;
}

int view_summary(struct view *view, const struct view_summary **ret_summary)
{
	struct view_summary *sum = &view->summary;

	free((void *)sum->streams);
	free((void *)sum->names);
	free((void *)sum->conflicts);
	*sum = (struct view_summary){
		.events = view->events,
		.hidden = view->hidden,
		.without_task = view->tasks.nr_unknown,
		.where_never = where_never(&view->where),
		.relay_clock_unknown = view->relay_clock_unknown,
		.first_ns = view->first_ns,
		.last_ns = view->last_ns,
		.problems = view->reporter.count,
		.nr_traces = view->nr_sources,
		.nr_unended = view->nr_unended,
		.unended = view->unended,
	};
	collect_streams(view, sum);
	collect_names(view, sum);
	collect_conflicts(view, sum);
	*ret_summary = sum;
	return 0;
}
