/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * embed.h - writes the names of the addresses in a trace beside it (analyse/symbol/symtable.h), so
 * that it can be read after its programs were built anew, and on other machines.
 */
#ifndef CTL_SYMBOL_EMBED_H
#define CTL_SYMBOL_EMBED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define EMBED_NS_MOST 5000000000ull /* at the end of a recording */

struct show_options;

/** @left_out: addresses for which the file has no room. @cut: the trace was not read to its end. */
struct embedded {
	uint64_t names, left_out;
	bool cut;
};

/** embed_symbols() - @options: for the places of programs, with mangled names. @most_ns: the time
 *  that the reading may take; 0: any. Return: 0, or the code in @err. */
int embed_symbols(const char *trace, const struct show_options *options, uint64_t most_ns,
		  struct embedded *ret, struct err *err) MUST_CHECK;

#endif
