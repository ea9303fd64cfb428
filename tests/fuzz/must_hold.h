/* SPDX-License-Identifier: GPL-2.0-only */
/* must_hold.h - the assertion of fuzz targets: a finding where it does not hold. */
#ifndef MUST_HOLD_H
#define MUST_HOLD_H

#include <stdio.h>

#define MUST_HOLD(cond)                                                                           \
	do {                                                                                      \
		if (!(cond)) {                                                                    \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #cond); \
			__builtin_trap();                                                         \
		}                                                                                 \
	} while (0)

#endif
