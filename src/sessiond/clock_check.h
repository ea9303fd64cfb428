/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * clock_check.h - compares the cycle counter with CLOCK_MONOTONIC_RAW every few seconds while a
 * session records whose clock it is. A change begins a new segment of the clock of each session.
 * Where the time of day is set, it is noted in the traces of all sessions.
 * Part of struct sessiond; runs on the daemon's loop.
 */
#ifndef SESSIOND_CLOCK_CHECK_H
#define SESSIOND_CLOCK_CHECK_H

#include "sessiond.h"

void clock_check_init(struct sessiond *sd);
void clock_check_fini(struct sessiond *sd);
/** Compare now, and from now on, if a session records and comparing has not begun. */
void clock_check_begin(struct sessiond *sd);
/** Continue from the last reading of an earlier daemon of this boot. @facts: a session's clock. */
void clock_check_restore(struct sessiond *sd, const struct clock_facts *facts,
			 const struct watch_reading *last);
/** All sessions of an earlier daemon are there: the time of day may have been set meanwhile. */
void clock_check_restored(struct sessiond *sd);
/** The last change of a session's clock as a sentence without a subject; "": there was none. */
void clock_check_sentence(const struct clock_facts *facts, char *buf, size_t len);

#endif
