/* SPDX-License-Identifier: GPL-2.0-only */
/* arg_type.h - the size of a C type, by its name. Pure. */
#ifndef KMOD_ARG_TYPE_H
#define KMOD_ARG_TYPE_H

#include <linux/types.h>

/**
 * arg_type() - size and signedness of an integer type or a pointer, with or without `const`.
 * Return: bytes, or 0 for a type that isn't known; then @ret_signed is untouched.
 */
u32 arg_type(const char *name, u8 *ret_signed);

#endif
