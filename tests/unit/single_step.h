/* SPDX-License-Identifier: GPL-2.0-only */
/* single_step.h - for tests that go through the producer an instruction at a time. */
#ifndef TESTS_SINGLE_STEP_H
#define TESTS_SINGLE_STEP_H

#include <sys/auxv.h>

/* Stepping through a load-exclusive loop never ends, in any program. */
static inline int steps_through_atomics(void)
{
#if defined(__aarch64__)
	return (getauxval(AT_HWCAP) & HWCAP_ATOMICS) != 0;
#else
	return 1;
#endif
}

#endif
