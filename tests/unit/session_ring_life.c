/* SPDX-License-Identifier: GPL-2.0-only */
/* session_ring_life.c - the table of ring sets' states, over all pairs of state and event. */
#include <stdbool.h>

#include "check.h"
#include "sessiond/domain/rec/life.h"

#define BIT(n) (1u << (n))
#define MEMORY_STATES                                                                       \
	(BIT(RING_STARTING) | BIT(RING_READY) | BIT(RING_CLOSING) | RING_UNADOPTED_STATES | \
	 BIT(RING_OFFERED) | BIT(RING_FOUND) | BIT(RING_RESUMING))

static bool in(uint32_t states, unsigned int state)
{
	return states >> state & 1;
}

/* States that are reached from @state, itself included. */
static uint32_t reached_from(unsigned int state)
{
	uint32_t reached = BIT(state), before;

	do {
		before = reached;
		for (unsigned int s = RING_NEW; s < RING_NR_STATES; s++)
			for (unsigned int e = 0; in(reached, s) && e < RING_NR_EVENTS; e++)
				reached |= BIT(ring_after(s, e));
	} while (reached != before);
	return reached & ~1u;
}

/* The events that can bring memory, and those that can take it away. A ring set that is closed
 * before the consumer has answered has memory when the consumer closes it. */
static void check_memory(unsigned int from, unsigned int event, unsigned int to)
{
	bool brings = event == RING_ON_MEMORY || event == RING_ON_OFFER ||
		      event == RING_ON_RESTORE || to == RING_CLOSING;
	bool takes = event == RING_ON_CLOSED || event == RING_ON_GIVE_UP;

	if (!in(MEMORY_STATES, from))
		CHECK(in(MEMORY_STATES, to) == brings);
	else
		CHECK(in(MEMORY_STATES, to) == !takes);
}

/* The events that end the wait for an application, which the recording counts (want_ended()). */
static void check_wanted(unsigned int from, unsigned int event, unsigned int to)
{
	if (in(RING_WANTED_STATES, from) && !in(RING_WANTED_STATES, to))
		CHECK(event == RING_ON_GIVE_UP || to == RING_FOUND);
	if (!in(RING_WANTED_STATES, from) && in(RING_WANTED_STATES, to))
		CHECK(event == RING_ON_RESTORE_LOST);
}

static void check_repair(unsigned int from, unsigned int event, unsigned int to)
{
	if (event == RING_ON_REPAIR)
		CHECK(in(RING_LOST_STATES, from) && in(RING_REPAIRING_STATES, to));
	if (event == RING_ON_REPAIRED)
		CHECK(in(RING_REPAIRING_STATES, from) && !in(RING_REPAIRING_STATES, to));
	if (in(RING_REPAIRING_STATES, from) && event != RING_ON_REPAIRED)
		CHECK(in(RING_REPAIRING_STATES, to));
}

static void check_request(unsigned int from, unsigned int event, unsigned int to)
{
	bool requests = event == RING_ON_REQUEST || event == RING_ON_RESUME;

	if (from != to && in(RING_REQUESTED_STATES, to))
		CHECK(requests);
	if (requests)
		CHECK(in(RING_REQUESTED_STATES, to));
	if (event == RING_ON_CONSUMER_END)
		CHECK(in(RING_REQUESTED_STATES, from) && !in(RING_REQUESTED_STATES, to));
}

static void check_pairs(void)
{
	for (unsigned int from = RING_NEW; from < RING_NR_STATES; from++)
		for (unsigned int event = 0; event < RING_NR_EVENTS; event++) {
			unsigned int to = ring_after(from, event);

			if (!to)
				continue;
			CHECK(to < RING_NR_STATES);
			CHECK(from != RING_CLOSED);
			CHECK(to != RING_NEW || event == RING_ON_CONSUMER_END);
			CHECK((event == RING_ON_RESTORE || event == RING_ON_RESTORE_LOST ||
			       event == RING_ON_RESTORE_GONE) <= (from == RING_NEW));
			check_memory(from, event, to);
			check_wanted(from, event, to);
			check_repair(from, event, to);
			check_request(from, event, to);
		}
}

static void check_states(void)
{
	for (unsigned int s = RING_NEW; s < RING_NR_STATES; s++) {
		CHECK(in(reached_from(RING_NEW), s));
		/* a lost ring set is freed without a close, when its files are repaired */
		CHECK(in(reached_from(s), RING_CLOSED) || in(RING_MISSING_STATES, s));
		CHECK(!in(RING_LOST_STATES, s) || ring_after(s, RING_ON_REPAIR));
		CHECK(!in(RING_LOST_STATES, s) || in(reached_from(s), RING_GONE));
		CHECK(!in(RING_REQUESTED_STATES, s) ||
		      (ring_after(s, RING_ON_MEMORY) == RING_STARTING &&
		       ring_after(s, RING_ON_CONSUMER_END) &&
		       (ring_after(s, RING_ON_REFUSAL) || ring_after(s, RING_ON_UNADOPTED))));
		/* the end of an application finds its ring set in any state but these */
		CHECK(!ring_after(s, RING_ON_CLOSE) ==
		      (s == RING_CLOSING || s == RING_CLOSED || in(RING_LOST_STATES, s)));
	}
}

/* A close while the consumer can't write the last packet is not forgotten, see
 * struct ring.abandoned. */
static void check_late_close(void)
{
	CHECK(ring_after(RING_UNADOPTED, RING_ON_CLOSE) == RING_UNADOPTED);
	CHECK(ring_after(RING_READOPTING, RING_ON_CLOSE) == RING_READOPTING);
	CHECK(ring_after(RING_FOUND, RING_ON_CLOSE) == RING_FOUND);
	CHECK(ring_after(RING_NEW, RING_ON_CLOSE) == RING_CLOSED);
	CHECK(ring_after(RING_FAILED, RING_ON_CLOSE) == RING_CLOSED);
}

int main(void)
{
	check_pairs();
	check_states();
	check_late_close();
	return 0;
}
