/* SPDX-License-Identifier: GPL-2.0-only */
/* fuzz_fds.h - descriptors that are left open, which no sanitizer detects. */
#ifndef FUZZ_FDS_H
#define FUZZ_FDS_H

#define FUZZ_FDS 256

/** The number of open descriptors among the first FUZZ_FDS. */
int fuzz_open_fds(void);

#endif
