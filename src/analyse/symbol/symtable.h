/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * symtable.h - the names of addresses that a trace carries, in the file SYMTABLE_FILE beside it.
 * They count for files with the recorded build id only. The file is text, and untrusted:
 *
 *     ltt-symbols 1
 *     file BUILD_ID                               of the rows below it
 *     ADDRESS OFFSET LINE<tab>FUNCTION<tab>FILE   in that file; the offset in the function
 *     +LINE<tab>FUNCTION<tab>FILE                 inlined there, the innermost one first
 *
 * Of a file that the kernel's events name, which have no build id, it is the end of its path: at
 * most 64 bytes. Numbers and build ids are in base 16. A file that is damaged anywhere is not used
 * at all. Used by one thread.
 */
#ifndef ANALYSE_SYMBOL_SYMTABLE_H
#define ANALYSE_SYMBOL_SYMTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

struct symbol;
struct symtable;

/* Hidden, as other files of a trace's directory are streams. */
#define SYMTABLE_FILE ".symbols"
#define SYMTABLE_MAGIC "ltt-symbols 1\n"
#define SYMTABLE_BYTES_MOST (16u << 20)
#define SYMTABLE_LINES_MOST (1u << 18)

/** symtable_parse() - @text: of @len bytes; it is copied. Return: 0; -EPROTO: it is damaged. */
int symtable_parse(const char *text, size_t len, struct symtable **ret) MUST_CHECK;
/** symtable_read() - that of the trace below @dir. Return: 0, with NULL if there is none; -EPROTO:
 *  it is damaged; -EFBIG; other negative errno. */
int symtable_read(const char *dir, struct symtable **ret) MUST_CHECK;
void symtable_free(struct symtable *table);

/** symtable_find() - the name of an address, with texts that are valid until symtable_free().
 *  @ret: untouched if there is none. Return: whether there is one. */
bool symtable_find(const struct symtable *table, const uint8_t *build_id, uint32_t build_id_len,
		   uint64_t address, struct symbol *ret);

#endif
