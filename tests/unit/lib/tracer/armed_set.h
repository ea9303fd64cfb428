/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * armed_set.h - for tests of libltt: a ring set that sites record into, in place of a session's.
 */
#ifndef TESTS_ARMED_SET_H
#define TESTS_ARMED_SET_H

#include "testset.h"
#include "tracer/site/site.h"

/** Make @t and arm @nr points with it, their event ids 0, 1, ... */
struct ring_set *armed_set_make(struct testset *t, uint32_t session, int exclusive,
				const uint32_t *points, uint32_t nr);

/** Disarm all points of the set, then unmap and free it. */
void armed_set_free(struct testset *t, struct ring_set *set);

#endif
