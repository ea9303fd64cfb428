/* SPDX-License-Identifier: GPL-2.0-only */
/* fuzz_top.h - a directory for all inputs of a target, gone at its end; on no disk, since
 * there are thousands of them. */
#ifndef FUZZ_TOP_H
#define FUZZ_TOP_H

#include <stdio.h>
#include <stdlib.h>

#include "must_hold.h"

static char top[] = "/dev/shm/fuzz-XXXXXX";

static void top_remove(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", top);
	(void)!system(command);
}

static void top_make(void)
{
	MUST_HOLD(mkdtemp(top) != NULL);
	atexit(top_remove);
}

#endif
