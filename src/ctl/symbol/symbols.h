/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * symbols.h - names addresses by the symbols and line tables of programs and libraries on this
 * machine, and by separate debug files, through elfutils' libdw, else by the table that the trace
 * carries (analyse/symbol/symtable.h). Files whose build id is not the recorded one are not used.
 * Used by one thread.
 */
#ifndef CTL_SYMBOL_SYMBOLS_H
#define CTL_SYMBOL_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct ctl;
struct embedded;
struct object;
struct show_options;
struct symbol;
struct symbols;

/** @options: of names: demangled or not, and where files are; they outlive the symbols. @trace: the
 *  directory whose table is used; or NULL. */
struct symbols *symbols_new(const struct show_options *options, const char *trace);
void symbols_free(struct symbols *symbols);

/** symbols_name() - @priv: struct symbols. @address: as in the object's file. @ret: zero; its texts
 *  are valid until symbols_free(). */
void symbols_name(void *priv, const struct object *object, uint64_t address, struct symbol *ret);

/** symbols_write() - write the table of all addresses that were named, of files with a build id,
 *  beside the trace @dir. @ret: their numbers. Return: 0, or the code in @err. */
int symbols_write(const struct symbols *symbols, const char *dir, struct embedded *ret,
		  struct err *err) MUST_CHECK;

/** Whether addresses that are named from now on are of those that symbols_report() reports. */
void symbols_count(struct symbols *symbols, bool counts);

/** A note for each object of which addresses have no name. */
void symbols_report(const struct symbols *symbols, struct ctl *ctl);

#endif
