/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * want.c - ring sets whose memory the daemons have lost, as all processes that held it were
 * killed. Applications may still record into it and return it, if their domain can request it
 * (user/trace.c). Meanwhile their files are valid, whether or not an application reconnects.
 */
#include <stdio.h>

#include "recording.h"

#define ENOUGH_US 1000000u /* an application comes in much less, if it runs */

void ring_identify(struct ring *ring)
{
	if (dirid_of(ring->data, &ring->data_id) < 0 || dirid_of(ring->ctl_rw, &ring->ctl_id) < 0)
		ring->data_id = ring->ctl_id = (struct dirid){ 0 };
}

static void report_lost(const struct ring *ring)
{
	struct recording *rec = ring->trace_channel->trace->rec;
	char text[256];

	snprintf(text, sizeof(text), "a buffer is lost: %.100s died with %s", ring->name,
		 ring->wanted ? "the daemons; a program that records into it still has the "
				"unwritten data, and it is recovered when the program reconnects" :
				"every process that held it; its unwritten data is lost and not "
				"counted");
	rec->recorder->config.trouble(rec->session, TROUBLE_LOST, text);
}

void ring_want(struct ring *ring)
{
	struct recording *rec = ring->trace_channel->trace->rec;

	ring->wanted = rec->ops->wanted_done && ring->data_id.ino && ring->ctl_id.ino;
	report_lost(ring);
	if (!ring->wanted)
		return;
	note_find(rec, ring->id)->wanted = true;
	rec->nr_wanted++;
	rec->recorder->nr_wanted++;
	if (!rec->enough.at_ns)
		loop_timer_set(&rec->enough, ENOUGH_US);
}

void ring_unwant(struct ring *ring)
{
	struct recording *rec = ring->trace_channel->trace->rec;

	if (!ring->wanted)
		return;
	ring->wanted = false;
	note_find(rec, ring->id)->wanted = false;
	rec->recorder->nr_wanted--;
	if (--rec->nr_wanted)
		return;
	loop_timer_cancel(&rec->enough);
	rec->ops->wanted_done(rec);
	if (ring->offered)
		rec->recorder->config.trouble(rec->session, TROUBLE_LOST, "");
}

void ring_give_up(struct ring *ring)
{
	ring_unwant(ring);
	report_lost(ring);
	if (!ring->repairing)
		ring_free(ring);
}

void ring_offered(struct ring *ring)
{
	ring->offered = true;
	ring->closing = false;
	ring->state = RING_OPENING; /* applications that want to record into it wait */
	if (!ring->repairing)
		ring_resume(ring);
}
