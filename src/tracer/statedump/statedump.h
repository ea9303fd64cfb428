/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * statedump.h - records the state of the process for a session that starts: the loaded
 * libraries, then the dumps that the program registered (ltt/statedump.h).
 */
#ifndef TRACER_STATEDUMP_STATEDUMP_H
#define TRACER_STATEDUMP_STATEDUMP_H

#include <stdbool.h>
#include <stdint.h>

/** The events of state dumps are registered when a daemon is there, or when the program lists
 *  points or registers a probe. A program that has libltt.a has registered them with its own. */
void statedump_init(void);
/** Run all dumps into one session. Helper thread, with no lock of libltt's held. */
void statedump_run(uint32_t session);

/** Record the loaded libraries. The calling thread must be muted. */
void statedump_libraries(void);
/** Record those that came or went since the last look, in all sessions. The calling thread must be
 *  muted. It takes one call of the loader if there are none. */
void statedump_libraries_look(void);
/** Changes whenever a look finds that some came or went. */
uint32_t statedump_libraries_changes(void);
/** Whether a session records that. */
bool statedump_libraries_are_wanted(void);
void statedump_libraries_after_fork_child(void);

/* Fork handlers. No other lock is taken while the registrations of dumps are locked. */
void statedump_before_fork(void);
void statedump_after_fork_parent(void);
void statedump_after_fork_child(void);

#endif
