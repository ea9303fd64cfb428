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
		 ring_in(ring, RING_WANTED_STATES) ?
			 "the daemons; a program that records into it still has the "
			 "unwritten data, and it is recovered when the program reconnects" :
			 "every process that held it; its unwritten data is lost and not "
			 "counted");
	rec->recorder->config.trouble(rec->session, TROUBLE_LOST, text);
}

void ring_restore_lost(struct ring *ring)
{
	struct recording *rec = ring->trace_channel->trace->rec;
	bool wanted = rec->ops->wanted_done && ring->data_id.ino && ring->ctl_id.ino;

	ring_step(ring, wanted ? RING_ON_RESTORE_LOST : RING_ON_RESTORE_GONE);
	report_lost(ring);
	if (!wanted)
		return;
	note_find(rec, ring->id)->wanted = true;
	rec->nr_wanted++;
	rec->recorder->nr_wanted++;
	if (!rec->enough.at_ns)
		loop_timer_set(&rec->enough, ENOUGH_US);
}

void want_ended(struct ring *ring)
{
	struct recording *rec = ring->trace_channel->trace->rec;

	note_find(rec, ring->id)->wanted = false;
	rec->recorder->nr_wanted--;
	if (--rec->nr_wanted)
		return;
	loop_timer_cancel(&rec->enough);
	rec->ops->wanted_done(rec);
	if (ring->offered)
		rec->recorder->config.trouble(rec->session, TROUBLE_LOST, "");
}

void ring_unwant(struct ring *ring)
{
	if (!ring_in(ring, RING_WANTED_STATES))
		return;
	ring_step(ring, RING_ON_GIVE_UP);
	want_ended(ring);
}

void ring_give_up(struct ring *ring)
{
	ring_unwant(ring);
	report_lost(ring);
	if (ring->state == RING_GONE)
		ring_free(ring);
}

void ring_offered(struct ring *ring)
{
	ring->offered = true;
	ring_step(ring, RING_ON_OFFER); /* applications that want to record into it wait */
	if (ring->state != RING_FOUND)
		return;
	ring_resume(ring);
	want_ended(ring);
}
