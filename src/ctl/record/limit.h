/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * limit.h - the end of a recording after a number of events or a time, for `lttctl record`. Of
 * lttctl's only thread.
 */
#ifndef CTL_RECORD_LIMIT_H
#define CTL_RECORD_LIMIT_H

#include "ctl/ctl.h"

#define LIMIT_PERIOD_MS 100 /* between two checks */

/**
 * struct limit
 * @events: the number; events of state dumps do not count. 0: there is no limit.
 * @after_ns: the time since the program's start; 0: there is no limit.
 * @session, @output: of the recording.
 * @state_dump: events of state dumps, as far as they have been counted.
 * @at_ns: the time at which it was reached; 0: it was not.
 */
struct limit {
	uint64_t events, after_ns;
	const char *session, *output;
	uint64_t state_dump;
	uint64_t at_ns;
};

/** Parse the option --limit. Return: 0 or the code in @err. */
int limit_take(struct limit *limit, const char *text, struct err *err) MUST_CHECK;
/** Whether there is one. */
static inline bool limit_is_set(const struct limit *limit)
{
	return limit->events || limit->after_ns;
}

/** Whether one is reached, @elapsed_ns after the start. Return: false also if that is unknown. */
bool limit_check(struct ctl *ctl, struct limit *limit, uint64_t elapsed_ns) MUST_CHECK;

#endif
