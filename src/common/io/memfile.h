/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * memfile.h - shared memory that can be accessed safely: a memfd whose pages are allocated and
 * whose size is sealed, so that no access to it causes SIGBUS, regardless of the applications that
 * have its descriptor.
 */
#ifndef IO_MEMFILE_H
#define IO_MEMFILE_H

#include <stdint.h>

#include "base/macros.h"

/**
 * memfile_new() - zeroed memory of @bytes, mode 0600, close-on-exec, with all pages.
 * Return: 0 or negative errno; -ENOMEM: the machine has not enough memory; -EDQUOT: the limit of a
 * control group of this process is reached (memgroup.h).
 */
int memfile_new(const char *name, uint64_t bytes, int *ret_fd) MUST_CHECK;
/** The same without pages: the first access to each allocates it, at the expense of the process
 *  that accesses it, which the kernel ends where there is no memory. */
int memfile_new_sparse(const char *name, uint64_t bytes, int *ret_fd) MUST_CHECK;

/** Return: available memory in bytes, including caches that the kernel can drop;
 *  UINT64_MAX: unknown. */
uint64_t memfile_available(void);

/** Check that @fd is a memfd of @bytes, with a sealed size. Return: 0 or negative errno. */
int memfile_check(int fd, uint64_t bytes) MUST_CHECK;

/** A read-only descriptor of the same file. Return: descriptor or negative errno. */
int memfile_read_only(int fd) MUST_CHECK;

/** Check that @fd is a file [ltt-KIND] of the kernel module. Return: 0 or negative errno. */
int memfile_check_module(int fd, const char *kind) MUST_CHECK;

#endif
