/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * note.c - facts about ring sets that are saved: their owners and their counters.
 */
#include <search.h>

#include "base/mem.h"
#include "proto/counters.h"
#include "recording.h"

static int compare_notes(const void *a, const void *b)
{
	uint64_t x = ((const struct ring_note *)a)->id, y = ((const struct ring_note *)b)->id;

	return (x > y) - (x < y);
}

struct ring_note *note_find(const struct recording *rec, uint64_t id)
{
	struct ring_note probe = { .id = id };
	void **found = tfind(&probe, &rec->rings, compare_notes);

	return found ? *found : NULL;
}

static void note_free(struct recording *rec, struct ring_note *note)
{
	tdelete(note, &rec->rings, compare_notes);
	free(note);
}

void note_count(struct ring_note *note, const struct msg_con_stream *stream)
{
	COUNTERS_ADD(&note->sum, stream);
	note->sum.unreported += stream->unreported;
}

void note_finish(struct recording *rec, struct ring_note *note)
{
	struct ring_note *first;

	note->final = true;
	list_for_each(first, &rec->finals, node) {
		if (first->channel != note->channel)
			continue;
		note_count(first, &note->sum);
		note_free(rec, note);
		return;
	}
	note->sum.ring = note->id;
	list_append(&rec->finals, &note->node);
}

void note_drop(struct recording *rec, uint64_t id)
{
	struct ring_note *note = note_find(rec, id);

	if (note)
		note_free(rec, note);
}

void notes_free(struct recording *rec)
{
	list_init(&rec->finals);
	while (rec->rings) {
		struct ring_note *note = *(struct ring_note **)rec->rings;

		note_free(rec, note);
	}
}

bool recording_find_ring(struct domain_tracer *domain, const struct session *session, uint64_t ring,
			 struct domain_ring *ret)
{
	const struct recording *rec = recording_find(domain, session);
	const struct ring_note *note = rec ? note_find(rec, ring) : NULL;

	if (!note)
		return false;
	*ret = (struct domain_ring){ note->channel, note->owner, note->open, note->final };
	return true;
}

struct final_walk {
	void (*fn)(const struct msg_con_stream *sum, void *data);
	void *data;
};

static void show_final(const void *node, VISIT visit, void *data)
{
	const struct ring_note *note = *(struct ring_note *const *)node;
	const struct final_walk *walk = data;

	if ((visit == postorder || visit == leaf) && note->final)
		walk->fn(&note->sum, walk->data);
}

void note_add(struct recording *rec, const struct ring_note *facts)
{
	struct ring_note *note;

	if (note_find(rec, facts->id))
		return;
	note = xalloc(sizeof(*note));
	*note = *facts;
	list_init(&note->node);
	tsearch(note, &rec->rings, compare_notes);
	if (note->final)
		note_finish(rec, note);
}

void recording_each_final(struct domain_tracer *domain, const struct session *session,
			  void (*fn)(const struct msg_con_stream *sum, void *data), void *data)
{
	const struct recording *rec = recording_find(domain, session);
	struct final_walk walk = { fn, data };

	if (rec)
		twalk_r(rec->rings, show_final, &walk);
}
