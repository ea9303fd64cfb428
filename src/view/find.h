/* SPDX-License-Identifier: GPL-2.0-only */
/* find.h - traces below a directory: those directories that hold `metadata`. */
#ifndef VIEW_FIND_H
#define VIEW_FIND_H

#include "report.h"

/**
 * struct find_ops - callbacks for the found traces. Each returns 0, or negative errno to stop.
 * @trace: takes over @dir_fd. @listed: it is the directory that was asked for, or one above it has
 *         a list of its traces.
 * @list: a directory has such a list; NULL: ignored. @dir_fd is the caller's.
 */
struct find_ops {
	int (*trace)(void *priv, int dir_fd, const char *label, bool listed);
	int (*list)(void *priv, int dir_fd, const char *label);
};

/**
 * find_traces() - look for traces at or below @dir. Links below @dir are
 * not followed, and directories nested very deep are left alone.
 * @ret_found: how many there were.
 */
int find_traces(const char *dir, struct reporter *reporter, const struct find_ops *ops, void *priv,
		uint64_t *ret_found) MUST_CHECK;

#endif
