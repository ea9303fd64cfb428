/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fetch_names.h - translates names of a function's parameters in --fetch (`count`, `file->f_pos`,
 * `name->name:string`) to the syntax of fetch.h, by the kernel's BTF, when a rule is created. The
 * stored rule contains no names.
 */
#ifndef DOMAIN_KERNEL_FETCH_NAMES_H
#define DOMAIN_KERNEL_FETCH_NAMES_H

#include <stdbool.h>

#include "base/err.h"
#include "base/macros.h"

/** Whether a word contains such a name. */
bool kernel_names_any(const char *fetch);

/** @function: the owner of the parameters. @btf: path. Return: 0, and an allocated text; or the
 *  code set in @err. */
int kernel_names_resolve(const char *btf, const char *function, const char *fetch, char **ret,
			 struct err *err) MUST_CHECK;

#endif
