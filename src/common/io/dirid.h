/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dirid.h - identity of a directory, to find it again by its path after its descriptor
 * was lost: another directory may be at that path by now, or a symbolic link. The time of birth
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

/** Also for a memory file. Return: 0 or negative errno. */
int dirid_of(int fd, struct dirid *ret) MUST_CHECK;
/** Open the directory at @path if it is that one. Return: descriptor; -ESTALE: it is
 *  another; other negative errno. */
int dirid_open(const char *path, const struct dirid *wanted) MUST_CHECK;

#endif
