/* SPDX-License-Identifier: GPL-2.0-only */
/* find.h - traces below a directory: those directories that hold `metadata`. */
#ifndef VIEW_FIND_H
#define VIEW_FIND_H

#include "report.h"

/** Takes over @dir_fd. Return: 0, or negative errno to stop. */
typedef int (*find_fn)(void *priv, int dir_fd, const char *label);

/**
 * find_traces() - call @fn for each trace at or below @dir. Links below @dir are
 * not followed, and directories nested very deep are left alone.
 * @ret_found: how many there were.
 */
int find_traces(const char *dir, struct reporter *reporter, find_fn fn, void *priv,
		uint64_t *ret_found) MUST_CHECK;

#endif
