/* SPDX-License-Identifier: GPL-2.0-only */
#include "armed_set.h"

struct ring_set *armed_set_make(struct testset *t, uint32_t session, int exclusive,
				const uint32_t *points, uint32_t nr)
{
	struct ring_set *set;

	testset_make(t, testset_nr_cpus(), 4, 1 << 20, LTT_RING_OVERWRITE, TEST_CLOCK);
	set = testset_producer(t, exclusive);
	for (uint32_t i = 0; i < nr; i++)
		CHECK(site_arm(points[i], set, session, i, 0, NULL) == 0, "arm");
	return set;
}

void armed_set_free(struct testset *t, struct ring_set *set)
{
	site_disarm_all(set);
	reader_synchronize();
	ring_set_unmap(set);
	testset_free(t);
}
