/* SPDX-License-Identifier: GPL-2.0-only */
/* outdir.h - a directory that is whole or not there: it takes its name at the end only. */
#ifndef CTL_OUTDIR_H
#define CTL_OUTDIR_H

#include "base/err.h"

/**
 * struct outdir
 * @fd: to write below; -1: it is not open. @name: as given. @path: that it gets at the end; @temp:
 * that it has until then.
 */
struct outdir {
	int fd;
	const char *name;
	char *path, *temp;
};

/** outdir_open() - @name: outlives it; a directory of this name must be empty. Return: 0, or the
 *  code in @err. */
int outdir_open(struct outdir *out, const char *name, struct err *err) MUST_CHECK;
/** outdir_commit() - all is written: give it its name. Return: 0, or the code in @err. */
int outdir_commit(struct outdir *out, struct err *err) MUST_CHECK;
/** outdir_drop() - leave nothing. Fine after outdir_commit(), and if it was not opened. */
void outdir_drop(struct outdir *out);

#endif
