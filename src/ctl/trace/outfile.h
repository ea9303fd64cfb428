/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * outfile.h - a file or directory that is whole or not there: it takes its name at the end only, in
 * place of an older file. The next writer of the name removes that of a process that was killed. A
 * name that is no regular file, as /dev/null or a FIFO, is written directly.
 */
#ifndef CTL_TRACE_OUTFILE_H
#define CTL_TRACE_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

/**
 * struct outfile
 * @file: to write to. @name: as given; NULL: standard output. @path: of the file that it becomes,
 * @temp: of the file until then; NULL: it has no name, or is written directly.
 * @is_dir: it is a directory, @dir_fd.
 */
struct outfile {
	FILE *file;
	bool is_dir;
	int dir_fd;
	const char *name;
	char *path, *temp;
};

/** outfile_open() - @name: outlives it; NULL: standard output. Return: 0, or the code in @err. */
int outfile_open(struct outfile *out, const char *name, struct err *err) MUST_CHECK;
/** outfile_open_named() - the same, for a writer that needs a path: @out->temp, of an empty file.
 *  @out->file is NULL. A name that is no regular file is refused. */
int outfile_open_named(struct outfile *out, const char *name, struct err *err) MUST_CHECK;
/** outfile_open_dir() - the same, for a directory; one of this name must be empty. */
int outfile_open_dir(struct outfile *out, const char *name, struct err *err) MUST_CHECK;
/** outfile_commit() - all is written: close it, and give it its name. Return: 0, or the code in
 *  @err; nothing is left then. */
int outfile_commit(struct outfile *out, struct err *err) MUST_CHECK;
/** outfile_drop() - close it, and leave nothing. Fine after outfile_commit(), and if it is zero. */
void outfile_drop(struct outfile *out);

#endif
