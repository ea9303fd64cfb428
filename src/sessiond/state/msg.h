/* SPDX-License-Identifier: GPL-2.0-only */
/* msg.h - structs, encoders and decoders of state.def. */
#ifndef SESSIOND_STATE_MSG_H
#define SESSIOND_STATE_MSG_H

#include "gen/proto_state.h"

/**
 * struct state_space - memory in which nested lists are encoded: one encoder for each list that may
 * be unfinished at the same time. All have the same capacity.
 */
enum state_list {
	STATE_CLOCK,
	STATE_CHANNELS,
	STATE_RULES,
	STATE_TRACES,
	STATE_TRACE_CHANNELS,
	STATE_CLASSES,
	STATE_RINGS,
	STATE_FINALS,
	STATE_APPS,
	STATE_TRACKS,
	STATE_MAPS,
	STATE_GROUPS,
	STATE_LISTS,
};

struct state_space {
	struct encoder lists[STATE_LISTS];
	uint8_t *buf[STATE_LISTS];
	size_t cap;
	uint64_t save;	     /* number of this save, */
	uint64_t saved;	     /* of the last one that succeeded */
	uint32_t classes_file; /* to which classes are appended that it does not have yet */
};

/** Begin a list. */
struct encoder *state_list(struct state_space *space, enum state_list which);
/** The completed list. */
struct list state_end(struct state_space *space, enum state_list which);

#endif
