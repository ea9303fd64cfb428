/* SPDX-License-Identifier: GPL-2.0-only */
/* function.h - names of functions in the tables of `report`, `calls` and `latency`. */
#ifndef CTL_PRINT_FUNCTION_H
#define CTL_PRINT_FUNCTION_H

#include <stddef.h>

/** Set by the option --raw, before the first table is printed. */
extern int function_names_whole;

#define OPTION_WHOLE_NAMES \
	OPTION_FLAG("raw", 0, &function_names_whole, "C++ and Rust names with their templates")

/** The name as tables have it: brief, of less than @most bytes; or whole. Return: allocated. */
char *function_name(const char *name, size_t most);

#endif
