/* SPDX-License-Identifier: GPL-2.0-only */
#include "fuzz_loop.h"

#include <sys/eventfd.h>

struct loop *fuzz_loop;
struct loop_fd fuzz_tick;

static void fuzz_loop_ticked(struct loop_fd *source, uint32_t events)
{
	(void)source, (void)events;
	loop_stop(fuzz_loop);
}

void fuzz_pump(void)
{
	for (int i = 0; i < 3; i++)
		MUST_HOLD(loop_run(fuzz_loop) == 0);
}

void fuzz_loop_begin(void)
{
	MUST_HOLD(loop_new(&fuzz_loop) == 0);
	MUST_HOLD(loop_fd_init(&fuzz_tick, fuzz_loop, eventfd(1, EFD_CLOEXEC), EPOLLIN,
			       fuzz_loop_ticked) == 0);
}
