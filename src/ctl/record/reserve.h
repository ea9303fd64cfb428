/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reserve.h - the space of the disk that lttctl record leaves free: a program that emits without
 * end must not fill the disk. The consumer keeps it (--keep-free of lttctl create); this chooses
 * its size and reports once that it is reached. Of lttctl's only thread.
 */
#ifndef CTL_RECORD_RESERVE_H
#define CTL_RECORD_RESERVE_H

#include "ctl/ctl.h"

/**
 * struct reserve - of one recording.
 * @output: directory of the trace.
 * @bytes: 0: none.
 */
struct reserve {
	struct ctl *ctl;
	const char *session;
	const char *output;
	uint64_t bytes;
	bool reported;
};

/** Choose the size for a trace that will be in @output; NULL: in the default directory. Return: 0,
 *  or the code in @err: the file system hangs. */
int reserve_choose(const char *output, uint64_t *ret, struct err *err) MUST_CHECK;
/** Report with a warning that the reserve is reached. @priv: struct reserve. Return: whether to
 *  check again. */
bool reserve_check(void *priv);
/** The daemon's sentence about a problem, with the remedy if it is the reserve; allocated. */
char *reserve_explain(const struct reserve *reserve, const char *problem);

#endif
