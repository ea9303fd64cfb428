/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fuzz_loop.h - for targets whose subject lives on a loop: one for all inputs, which goes
 * round as often as the target says and never waits.
 */
#ifndef FUZZ_LOOP_H
#define FUZZ_LOOP_H

#include <sys/eventfd.h>

#include "io/loop.h"
#include "must_hold.h"

static struct loop *loop;
static struct loop_fd tick; /* always readable: ends a round of the loop */

static void ticked(struct loop_fd *source, uint32_t events)
{
	(void)source, (void)events;
	loop_stop(loop);
}

static void pump(void)
{
	for (int i = 0; i < 3; i++)
		MUST_HOLD(loop_run(loop) == 0);
}

static void loop_begin(void)
{
	MUST_HOLD(loop_new(&loop) == 0);
	MUST_HOLD(loop_fd_init(&tick, loop, eventfd(1, EFD_CLOEXEC), EPOLLIN, ticked) == 0);
}

#endif
