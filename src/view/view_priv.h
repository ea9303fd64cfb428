/* SPDX-License-Identifier: GPL-2.0-only */
/* view_priv.h - a view, as its own sources know it. */
#ifndef VIEW_PRIV_H
#define VIEW_PRIV_H

#include "event.h"
#include "merge.h"

/**
 * struct view
 * @relay_clock: times are to be a relay's.
 * @preferred: bytes that each feed reads at once.
 * @current: the feed whose event was last returned; it has not moved on yet.
 * @events, @first_ns, @last_ns: of selected events; @hidden: events that are not shown.
 */
struct view {
	struct reporter reporter;
	struct source **sources;
	size_t nr_sources;
	char **missing; /* traces that a list has; of view_verify() */
	size_t nr_missing;
	struct merge merge;
	bool started;
	bool relay_clock;
	size_t preferred;
	struct feed *current;
	struct values values;
	uint64_t events;
	uint64_t hidden;
	int64_t first_ns;
	int64_t last_ns;
	struct view_summary summary;
};

#endif
