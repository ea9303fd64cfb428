/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * durable.h - syncs the files of a trace to the disk, so that they survive a loss of power. For
 * any user that may read the trace; needs no daemon.
 */
#ifndef CTL_TRACE_DURABLE_H
#define CTL_TRACE_DURABLE_H

#include <stdint.h>

#include "base/err.h"

struct durable {
	uint64_t files;
	uint64_t bytes;
};

/**
 * durable_make() - sync everything below @path that is written by now, in an order that keeps
 * the part on the disk readable at any time: metadata, then packets, then their index, then the
 * directories, finally the parent of @path. Links are not followed, other file systems not entered.
 * Return: 0 or the code in @err.
 */
int durable_make(const char *path, struct durable *ret, struct err *err) MUST_CHECK;

#endif
