/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* find.h - finds traces below a directory: directories that contain `metadata`. */
#ifndef READ_FIND_H
#define READ_FIND_H

#include "report.h"

/** struct find_names - names of files, each with its end, in @len bytes. All zero: none. */
struct find_names {
	char *text;
	size_t len, size;
};

void find_names_add(struct find_names *names, const char *name);
/** The name behind @name; NULL: the first one. Return: NULL: there are no more. */
const char *find_names_next(const struct find_names *names, const char *name);
void find_names_fini(struct find_names *names);

/**
 * struct find_ops - callbacks for the found traces. Each returns 0, or negative errno to stop.
 * @trace: called for a trace, with ownership of @dir_fd. @files: those that may be streams.
 * @list: called for a directory with a list of its traces (trace/streamlist.h); may be NULL.
 *        @dir_fd is owned by the caller.
 * @empty: called for the directory of a snapshot without traces: the buffers had no events, or were
 *         not made yet; may be NULL.
 */
struct find_ops {
	int (*trace)(void *priv, int dir_fd, const char *label, const struct find_names *files);
	int (*list)(void *priv, int dir_fd, const char *label);
	void (*empty)(void *priv);
};

enum trace_state {
	TRACE_NONE,	   /* the directory is no trace */
	TRACE_WHOLE,	   /* it has metadata */
	TRACE_NO_METADATA, /* it has streams, but no file with their metadata */
};

enum trace_state find_trace_state(int dir_fd) MUST_CHECK;

/**
 * find_traces() - find traces at or below @dir. Symbolic links below @dir are not followed,
 * directories nested too deep are ignored, a trace that is moved meanwhile is found once,
 * and a trace without its metadata is reported.
 * @ret_found: number of traces, with those without metadata.
 */
int find_traces(const char *dir, struct reporter *reporter, const struct find_ops *ops, void *priv,
		uint64_t *ret_found) MUST_CHECK;

#endif
