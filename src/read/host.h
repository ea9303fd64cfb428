/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* host.h - the program that shows a trace: it receives sentences, and names addresses. */
#ifndef READ_HOST_H
#define READ_HOST_H

#include <stdint.h>

struct object;

#define SYMBOL_INLINED_MOST 64u /* within one function */

/** struct symbol_inline - a function whose code is in that of its caller. @file, @line: in it. */
struct symbol_inline {
	const char *function, *file;
	uint32_t line;
};

/**
 * struct symbol - the name of an address. @function: NULL: unknown.
 * @offset: in bytes from the function's begin, or from that of the object's file.
 * @module: of the kernel that @function is in; NULL: none.
 * @file, @line: of the source, in @function; NULL and 0: unknown.
 * @inlined, @nr_inlined: functions within it that have the address, the innermost one first.
 */
struct symbol {
	const char *function, *module, *file;
	uint64_t offset;
	uint32_t line, nr_inlined;
	const struct symbol_inline *inlined;
};

/**
 * struct view_host - receivers of sentences; the trace's words in them are not escaped.
 * @name: NULL: addresses can't be named. It names an address of an object's file for @names_priv;
 *      the texts are valid while the trace is shown.
 */
struct view_host {
	void (*warn)(void *priv, const char *sentence);
	void (*note)(void *priv, const char *sentence);
	void *priv;
	void (*name)(void *priv, const struct object *object, uint64_t address, struct symbol *ret);
	void *names_priv;
};

#endif
