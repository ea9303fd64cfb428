/* SPDX-License-Identifier: GPL-2.0-only */
/* parquet.h - writes a trace as Parquet files: a dataset for each name of events, and those of
 * losses and of sampling (dataset.h). */
#ifndef CTL_EXPORT_PARQUET_PARQUET_H
#define CTL_EXPORT_PARQUET_PARQUET_H

#include "base/err.h"
#include "base/macros.h"

struct view;
struct view_select;

/** parquet_export() - read a view to its end. @dir_fd, @name: of the directory; the name is for
 *  messages. Return: 0, or the code in @err. */
int parquet_export(struct view *view, const struct view_select *select, int dir_fd,
		   const char *name, struct err *err) MUST_CHECK;

#endif
