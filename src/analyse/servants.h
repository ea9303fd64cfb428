/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * servants.h - functions that only serve those that call them: allocators and the usual functions
 * around them, and the headers of the C and C++ libraries. The function of interest is the one
 * that called them.
 */
#ifndef ANALYSE_SERVANTS_H
#define ANALYSE_SERVANTS_H

#include <stdbool.h>

/** @function: demangled or not. @file: of the code in it; NULL: unknown. */
bool is_servant(const char *function, const char *file);

#endif
