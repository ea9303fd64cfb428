/* SPDX-License-Identifier: GPL-2.0-only */
#include "fuzz_top.h"

#include <stdio.h>
#include <stdlib.h>

#include "../must_hold.h"

char fuzz_top[] = "/dev/shm/fuzz-XXXXXX";

static void fuzz_top_remove(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", fuzz_top);
	(void)!system(command);
}

void fuzz_top_make(void)
{
	MUST_HOLD(mkdtemp(fuzz_top) != NULL);
	atexit(fuzz_top_remove);
}
