/* SPDX-License-Identifier: GPL-2.0-only */
/* destination.h - options that name the output of snapshots: a directory, or a relay. */
#ifndef CTL_DESTINATION_H
#define CTL_DESTINATION_H

#include "base/err.h"
#include "base/macros.h"

/** Values of the options; NULL: not given. */
struct destination {
	const char *path, *url, *ctrl_url, *data_url;
};

/** A path, file:///PATH, or the URL of a relay. @ret: a path, or the URL; NULL: none is given.
 *  Return: 0 or the code in @err. */
int destination_take(const struct destination *given, const char **ret, struct err *err) MUST_CHECK;

#endif
