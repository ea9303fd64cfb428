/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * armed_set.h - for tests of libltt: a ring set of their own that sites record
 * into, where a session's would be.
 */
#ifndef TESTS_ARMED_SET_H
#define TESTS_ARMED_SET_H

#include "ring_reader.h"
#include "tracer/site/site.h"

/** Make @t and arm @nr points with it, their event ids 0, 1, ... */
static inline struct ring_set *testset_arm(struct testset *t, uint32_t session, int exclusive,
					   const uint32_t *points, uint32_t nr)
{
	struct ring_set *set;

	testset_make(t, test_nr_cpus(), 4, 1 << 20, LTT_RING_OVERWRITE, TEST_CLOCK);
	set = testset_producer(t, exclusive);
	for (uint32_t i = 0; i < nr; i++)
		CHECK(site_arm(points[i], set, session, i, NULL) == 0, "arm");
	return set;
}

static inline void testset_disarm(struct testset *t, struct ring_set *set)
{
	site_disarm_all(set);
	reader_synchronize();
	ring_set_unmap(set);
	testset_free(t);
}

#endif
