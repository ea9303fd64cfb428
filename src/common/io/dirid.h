/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dirid.h - identity of a directory, by which it is recognised when its path is opened again: the
 * path may name another directory by then, or a symbolic link. The time of birth
 * distinguishes it from a later directory with the same inode number.
 */
#ifndef IO_DIRID_H
#define IO_DIRID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"

struct dirid {
	uint64_t dev, ino;
	uint64_t born_ns; /* 0: unknown to the file system */
};

static inline bool dirid_equal(const struct dirid *a, const struct dirid *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->born_ns == b->born_ns;
}

/** Read the identity of the directory, or memfd, @fd. Return: 0 or negative errno. */
int dirid_of(int fd, struct dirid *ret) MUST_CHECK;
/** Open the directory at @path if it is @wanted. Return: descriptor; -ESTALE: it is
 *  another one; other negative errno. */
int dirid_open(const char *path, const struct dirid *wanted) MUST_CHECK;

#endif
