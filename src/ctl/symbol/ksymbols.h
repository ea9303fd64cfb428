/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ksymbols.h - names addresses of kernels by the files that traces carry (trace/kallsyms.h), which
 * are untrusted. Owned by symbols.h; used by one thread.
 */
#ifndef CTL_SYMBOL_KSYMBOLS_H
#define CTL_SYMBOL_KSYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

struct ctl;
struct ksymbols;
struct object;
struct symbol;

struct ksymbols *ksymbols_new(void);
void ksymbols_free(struct ksymbols *all);

/** ksymbols_name() - @object: of a kernel. @ret: untouched if the address has no name; its texts
 *  are valid until ksymbols_free(). */
void ksymbols_name(struct ksymbols *all, const struct object *object, uint64_t address,
		   struct symbol *ret);

/** A note for each kernel of which addresses have no name. */
void ksymbols_report(const struct ksymbols *all, struct ctl *ctl);

/** ksymbols_unpack() - the text of the file @fd. @ret: allocated. Return: 0; -EPROTO: it is
 *  damaged; -EFBIG; other negative errno. */
int ksymbols_unpack(int fd, char **ret, size_t *ret_len) MUST_CHECK;

#endif
