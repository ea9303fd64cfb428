/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* memory.h - where no memory is left, a call of the library ends with -ENOMEM, in place of the
 * program (base/mem.h), and its reader is used no more. */
#ifndef LIBREAD_MEMORY_H
#define LIBREAD_MEMORY_H

/** memory_guard() - run @fn. Return: its result; -ENOMEM: memory was exhausted within it. */
int memory_guard(int (*fn)(void *priv), void *priv);

#endif
