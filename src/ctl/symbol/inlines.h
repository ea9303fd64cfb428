/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * inlines.h - files and lines of addresses, and the functions that a compiler put into the code of
 * others, by the DWARF of one program or library. The DWARF may be damaged: work on it is bounded.
 * Owned by symbols.c; the functions of libdw that both use are listed here. Used by one thread.
 */
#ifndef CTL_SYMBOL_INLINES_H
#define CTL_SYMBOL_INLINES_H

#include <elfutils/libdwfl.h>

#include "base/lazy.h"
#include "read/host.h"

#define LIBDW_FUNCTIONS(X)             \
	X(dwarf_attr_integrate)        \
	X(dwarf_child)                 \
	X(dwarf_diename)               \
	X(dwarf_filesrc)               \
	X(dwarf_formstring)            \
	X(dwarf_formudata)             \
	X(dwarf_getsrc_die)            \
	X(dwarf_getsrcfiles)           \
	X(dwarf_lineno)                \
	X(dwarf_linesrc)               \
	X(dwarf_ranges)                \
	X(dwarf_siblingof)             \
	X(dwarf_tag)                   \
	X(dwfl_begin)                  \
	X(dwfl_build_id_find_elf)      \
	X(dwfl_end)                    \
	X(dwfl_module_addrdie)         \
	X(dwfl_module_addrinfo)        \
	X(dwfl_module_build_id)        \
	X(dwfl_module_getelf)          \
	X(dwfl_module_info)            \
	X(dwfl_module_nextcu)          \
	X(dwfl_module_report_build_id) \
	X(dwfl_report_begin)           \
	X(dwfl_report_elf)             \
	X(dwfl_report_end)             \
	X(dwfl_report_module)          \
	X(dwfl_standard_find_debuginfo)

struct libdw {
	LIBDW_FUNCTIONS(LAZY_POINTER)
};

struct inlines;

/** @lib, @module outlive it. */
struct inlines *inlines_new(const struct libdw *lib, Dwfl_Module *module);
void inlines_free(struct inlines *inlines);

/** Fill in file and line of an address, if they are known: valid as long as the module. */
void inlines_line(struct inlines *inlines, uint64_t address, struct symbol *symbol);

/**
 * inlines_find() - the functions that were inlined at an address, the innermost one first.
 * @symbol: file and line of the address; they become those in the function around all of them.
 * Return: number of functions in @ret, whose texts are valid as long as the module.
 */
uint32_t inlines_find(struct inlines *inlines, uint64_t address, struct symbol *symbol,
		      struct symbol_inline ret[SYMBOL_INLINED_MOST]);

#endif
