/* SPDX-License-Identifier: GPL-2.0-only */
/* fuzz_top.h - a directory for all inputs of a target, in memory since there are thousands. */
#ifndef FUZZ_TOP_H
#define FUZZ_TOP_H

extern char fuzz_top[sizeof("/dev/shm/fuzz-XXXXXX")];

/** Make the directory; it is removed when the program exits. */
void fuzz_top_make(void);

#endif
