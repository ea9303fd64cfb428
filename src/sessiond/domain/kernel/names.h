/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * names.h - values at a function's beginning by the names of its parameters, as the
 * kernel's BTF has them: `count`, `file->f_pos`, `name->name:string`. They are translated to the
 * language of fetch.h when a rule is created: the stored rule has no names any more.
 */
#ifndef DOMAIN_KERNEL_NAMES_H
#define DOMAIN_KERNEL_NAMES_H

#include <stdbool.h>

#include "base/err.h"
#include "base/macros.h"

/** Whether a word contains such a name. */
bool kernel_names_any(const char *fetch);

/** @function: whose parameters. @btf: path. Return: 0, and an allocated text; or the code set
 *  in @err. */
int kernel_names_resolve(const char *btf, const char *function, const char *fetch, char **ret,
			 struct err *err) MUST_CHECK;

#endif
