// SPDX-License-Identifier: GPL-2.0-only
/* sites.c - call sites of other objects: one with other arguments, and one that is there twice. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "every.h"

#include <stdio.h>

static struct lttng_ust_tracepoint same = { sizeof(same), "every", "left", 0, NULL, NULL,
					    "int, x, uint32_t, y" };
static struct lttng_ust_tracepoint other = { sizeof(other), "every", "left", 0, NULL, NULL,
					     "int, x, const char *, y" };
static struct lttng_ust_tracepoint *const first[] = { &same, &other }, *const second[] = { &same };

static void show(const char *when)
{
	printf("%s: same %s %d, other %s %d\n", when, same.probes ? "joined" : "apart", same.state,
	       other.probes ? "joined" : "apart", other.state);
}

int main(void)
{
	show("before");
	lttng_ust_tracepoint_module_register(first, 2);
	lttng_ust_tracepoint_module_register(second, 1);
	show("registered");
	lttng_ust_tracepoint_module_unregister(first);
	show("one left");
	lttng_ust_tracepoint_module_unregister(second);
	show("none left");
	return 0;
}
