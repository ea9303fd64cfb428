/* SPDX-License-Identifier: GPL-2.0-only */
/* symbols.h - addresses of kernel symbols that are not exported. Process context only. */
#ifndef KMOD_SYMBOLS_H
#define KMOD_SYMBOLS_H

/** Return: the address of a function or a variable of the kernel itself, or NULL. */
void *ltt_symbol_find(const char *name);
/** The place from which ftrace is called for the function @name, or, if that is NULL, for the one
 *  at @at. Return: 0: for none. */
unsigned long ltt_function_location(const char *name, unsigned long at);

#endif
