// SPDX-License-Identifier: GPL-2.0-only
/* The way of an event into the rings, compiled as one: see Kbuild. */
#include "../ring.c"
#include "../ring_memory.c"
#include "../counters.c"
#include "../context.c"
#include "../stacks.c"
#include "../filter.c"
#include "../stats.c"
#include "../fires.c"
