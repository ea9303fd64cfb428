/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * durable.h - have the files of a trace on the disk itself, so that they survive a
 * loss of power. For any user that may read the trace; asks no daemon.
 */
#ifndef LIBCTL_DURABLE_H
#define LIBCTL_DURABLE_H

#include <stdint.h>

#include "base/err.h"

struct durable {
	uint64_t files;
	uint64_t bytes;
};

/**
 * durable_make() - everything below @path that is written by now, in such an order
 * that at no moment the disk holds what can't be read: metadata, then packets,
 * then their index, then the directories, at last the one that @path is in.
 * Links are not followed, other file systems not entered.
 * Return: 0 or the code in @err.
 */
int durable_make(const char *path, struct durable *ret, struct err *err) MUST_CHECK;

#endif
