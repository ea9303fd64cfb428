/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * demangle.h - C++ and Rust names, as they stand in the source, of the symbols that their compilers
 * made of them. Symbols come from files that a trace names: any text is safe. Thread-safe.
 */
#ifndef ANALYSE_SYMBOL_DEMANGLE_H
#define ANALYSE_SYMBOL_DEMANGLE_H

#include <stddef.h>

#define DEMANGLE_MOST 8192u /* bytes of a name: a symbol of 100 bytes can stand for any number */

/**
 * demangle() - the name behind a symbol.
 * Return: allocated; NULL: it is no C++ or Rust symbol, or too long or deep to be read.
 */
char *demangle(const char *symbol);

/**
 * demangle_brief() - a name that fits into a table: without the arguments of templates, and without
 * parameters where it would still be long: `std::map<...>::insert(...)`.
 * @buf: receives the name, cut to @len bytes with the final NUL.
 */
void demangle_brief(const char *name, char *buf, size_t len);

#endif
