/* SPDX-License-Identifier: GPL-2.0-only */
/* binaries.h - programs that were built for LTTng-UST: own libraries of its names record them. */
#ifndef CTL_RECORD_BINARIES_H
#define CTL_RECORD_BINARIES_H

#include <stdbool.h>

/**
 * binaries_environment() - "LD_LIBRARY_PATH=..." with the directory of those libraries in front of
 * the current value; allocated. NULL: the program needs none of them, or they are not installed.
 *
 * A program needs them if it, or a library that it is linked to, contains the name; then it is
 * certain, and libltt is to be preloaded. A script may start such a program.
 */
char *binaries_environment(const char *program, bool *ret_certain);

#endif
