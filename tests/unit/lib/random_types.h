/* SPDX-License-Identifier: GPL-2.0-only */
/* random_types.h - random structs in TSDL and random bytes for them, for differential tests. */
#ifndef TESTS_RANDOM_TYPES_H
#define TESTS_RANDOM_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

struct text {
	char at[64 << 10];
	size_t len;
};

/** A number below @below; the same ones in each run. */
uint32_t rnd(uint32_t below);

void say(struct text *t, const char *fmt, ...) PRINTF(2, 3);

/** A struct of up to 6 members, structs in it up to @depth. */
void say_struct(struct text *t, uint32_t depth);

/** Small numbers are often lengths, and often end a string. */
void random_bytes(uint8_t *bytes, size_t len);

#endif
