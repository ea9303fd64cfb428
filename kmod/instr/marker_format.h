/* SPDX-License-Identifier: GPL-2.0-only */
/* marker_format.h - the fields that a marker's format describes. Pure. */
#ifndef KMOD_MARKER_FORMAT_H
#define KMOD_MARKER_FORMAT_H

#include "event.h"

#define MARKER_VALUES_MAX 16
#define MARKER_NAME_MAX	  32

/** struct marker_format - the @nr fields of a format. @names: memory for the fields' names. */
struct marker_format {
	u32 nr;
	struct field fields[MARKER_VALUES_MAX];
	char names[MARKER_VALUES_MAX][MARKER_NAME_MAX];
};

/** Return: 0, or -EINVAL if it can't be recorded. */
int marker_format_parse(const char *text, struct marker_format *ret);

#endif
