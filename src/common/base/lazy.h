/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lazy.h - loads a shared library when it is first used: one that few runs of a program need makes
 * no start slower. A table of pointers is expanded from a list of its functions, with their types
 * from its header. Nothing may be loaded behind confine().
 */
#ifndef BASE_LAZY_H
#define BASE_LAZY_H

#include <stddef.h>

#include "err.h"

/** Expand a list of functions: members of a struct of pointers; names. */
#define LAZY_POINTER(name) __typeof__(&name) name;
#define LAZY_NAME(name) #name,

/**
 * lazy_load() - load a library, unless it is loaded, and find its functions. It stays loaded.
 * @file: file name, as the dynamic linker searches for it.
 * @ret_functions: a struct of pointers, in the order of @names.
 */
int lazy_load(const char *file, const char *const *names, size_t nr, void *ret_functions,
	      struct err *err) MUST_CHECK;

#endif
