/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * symbols.h - names addresses by the symbols and line tables of programs and libraries on this
 * machine, and by separate debug files, through elfutils' libdw. Files whose build id is not the
 * recorded one are not used. Used by one thread.
 */
#ifndef CTL_SYMBOLS_H
#define CTL_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct ctl;
struct object;
struct symbol;
struct symbols;

/** @demangle: C++ and Rust names as in the source (view/demangle.h). */
struct symbols *symbols_new(bool demangle);
void symbols_free(struct symbols *symbols);

/** symbols_name() - @priv: struct symbols. @address: as in the object's file. @ret: zero; its texts
 *  are valid until symbols_free(). */
void symbols_name(void *priv, const struct object *object, uint64_t address, struct symbol *ret);

/** A note for each object of which addresses have no name. */
void symbols_report(const struct symbols *symbols, struct ctl *ctl);

#endif
