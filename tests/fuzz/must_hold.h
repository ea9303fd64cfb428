/* SPDX-License-Identifier: GPL-2.0-only */
/* must_hold.h - what a fuzz target asserts: a finding where it does not hold. */
#ifndef MUST_HOLD_H
#define MUST_HOLD_H

#define MUST_HOLD(cond)                   \
	do {                              \
		if (!(cond))              \
			__builtin_trap(); \
	} while (0)

#endif
