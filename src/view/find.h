/* SPDX-License-Identifier: GPL-2.0-only */
/* find.h - finds traces below a directory: directories that contain `metadata`. */
#ifndef VIEW_FIND_H
#define VIEW_FIND_H

#include "report.h"

/**
 * struct find_ops - callbacks for the found traces. Each returns 0, or negative errno to stop.
 * @trace: called for a trace, with ownership of @dir_fd. @listed: it is the requested directory, or
 *         a parent directory has a list of its traces (trace/streamlist.h).
 * @list: called for a directory with such a list; may be NULL. @dir_fd is owned by the caller.
 */
struct find_ops {
	int (*trace)(void *priv, int dir_fd, const char *label, bool listed);
	int (*list)(void *priv, int dir_fd, const char *label);
};

/**
 * find_traces() - find traces at or below @dir. Symbolic links below @dir are not followed,
 * and directories nested too deep are ignored.
 * @ret_found: number of traces.
 */
int find_traces(const char *dir, struct reporter *reporter, const struct find_ops *ops, void *priv,
		uint64_t *ret_found) MUST_CHECK;

#endif
