/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * statedump.h - records the state of the process for a session that starts: the loaded
 * libraries, then the dumps that the program registered (ltt/statedump.h).
 */
#ifndef TRACER_STATEDUMP_STATEDUMP_H
#define TRACER_STATEDUMP_STATEDUMP_H

#include <stdint.h>

/** Run all dumps into one session. Helper thread, with no lock of libltt's held. */
void statedump_run(uint32_t session);

/** Record the loaded libraries. The calling thread must be muted. */
void statedump_libraries(void);

/* Fork handlers. No other lock is taken while the registrations of dumps are locked. */
void statedump_before_fork(void);
void statedump_after_fork_parent(void);
void statedump_after_fork_child(void);

#endif
