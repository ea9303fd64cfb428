/* SPDX-License-Identifier: GPL-2.0-only */
/* fuzz_loop.h - one loop for all inputs of a target. It never waits. */
#ifndef FUZZ_LOOP_H
#define FUZZ_LOOP_H

#include "../must_hold.h"
#include "io/loop.h"

/** The only one. */
extern struct loop *fuzz_loop;
/** Always readable: ends a round of the loop. */
extern struct loop_fd fuzz_tick;

/** Run the loop for a few rounds without waiting. */
void fuzz_pump(void);

/** Make the loop. */
void fuzz_loop_begin(void);

#endif
