/* SPDX-License-Identifier: GPL-2.0-only */
/* parquet.h - writes a trace as Parquet files: a dataset for each name of events, and those of
 * losses and of sampling (dataset.h). */
#ifndef CTL_EXPORT_PARQUET_PARQUET_H
#define CTL_EXPORT_PARQUET_PARQUET_H

#include "base/macros.h"

struct view;
struct view_select;

/** parquet_write_view() - read a view to its end. @dir_fd: of an empty directory. Return: 0;
 *  negative errno: it can't be written, or no memory is left. */
int parquet_write_view(struct view *view, const struct view_select *select, int dir_fd) MUST_CHECK;

#endif
