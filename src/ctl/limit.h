/* SPDX-License-Identifier: GPL-2.0-only */
/* limit.h - the end of a recording after a number of events, for `lttctl record`. Of lttctl's only
 * thread. */
#ifndef CTL_LIMIT_H
#define CTL_LIMIT_H

#include "ctl.h"

#define LIMIT_PERIOD_MS 100 /* between two checks */

/**
 * struct limit
 * @events: the number; events of state dumps do not count. 0: there is no limit.
 * @session, @output: of the recording.
 * @state_dump: events of state dumps, as far as they have been counted.
 * @at_ns: the time at which it was reached; 0: it was not.
 */
struct limit {
	uint64_t events;
	const char *session, *output;
	uint64_t state_dump;
	uint64_t at_ns;
};

/** Parse the option --limit. Return: 0 or the code in @err. */
int limit_take(struct limit *limit, const char *text, struct err *err) MUST_CHECK;
/** Whether the session has recorded this number now. Return: false also if that is unknown. */
bool limit_check(struct ctl *ctl, struct limit *limit) MUST_CHECK;

#endif
