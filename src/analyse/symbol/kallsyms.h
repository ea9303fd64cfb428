/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kallsyms.h - the functions of the kernel that a trace carries (trace/kallsyms.h). The text is
 * untrusted, and not used at all if it is damaged anywhere. Used by one thread.
 */
#ifndef ANALYSE_SYMBOL_KALLSYMS_H
#define ANALYSE_SYMBOL_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "trace/kallsyms.h"

struct kallsyms;
struct symbol;

/** kallsyms_parse() - @text: of @len bytes, ownership is passed. Return: 0; -EPROTO: it is
 *  damaged; -EFBIG. */
int kallsyms_parse(char *text, size_t len, struct kallsyms **ret) MUST_CHECK;
void kallsyms_free(struct kallsyms *table);

/** kallsyms_find() - the function at an address, with texts that are valid until kallsyms_free().
 *  @ret: untouched if there is none. Return: whether there is one. */
bool kallsyms_find(const struct kallsyms *table, uint64_t address, struct symbol *ret);

/** Whether the kernel had hidden its addresses. */
bool kallsyms_are_hidden(const struct kallsyms *table);

#endif
