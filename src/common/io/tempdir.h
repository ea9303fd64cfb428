/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tempdir.h - a directory for the time of this process: a process of its own removes it when this
 * one has ended, also by SIGKILL. */
#ifndef IO_TEMPDIR_H
#define IO_TEMPDIR_H

#include "base/err.h"

/** A new directory NAME-XXXXXX in $TMPDIR, else in /tmp. @ret: its path, allocated. Return: 0 or
 *  the code in @err. */
int tempdir_new(const char *name, char **ret, struct err *err) MUST_CHECK;

#endif
