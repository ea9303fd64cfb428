/* SPDX-License-Identifier: GPL-2.0-only */
/* view_dir.h - a trace directory in memory for the viewer's fuzz targets. */
#ifndef FUZZ_VIEW_DIR_H
#define FUZZ_VIEW_DIR_H

#include <stddef.h>
#include <stdint.h>

#include "read/view.h"

extern char fuzz_dir[64];

/** Make the directory, once; it is removed when the program exits. */
void fuzz_dir_make(void);

/** Write a file of the trace. */
void fuzz_file(const char *name, const void *data, size_t len);

/** A trace of one input: two bytes with the length of the metadata, this, and a stream. Return:
 *  NULL: it can't be opened. */
struct view *fuzz_open(const uint8_t *data, size_t size);

/** A viewer's report: one sentence without control bytes. */
void fuzz_report(void *priv, const char *sentence);

/** Print, summarize and free a view; no control byte may be printed. */
void fuzz_print(struct view *view, const struct view_select *select, enum view_format format);

/** The same with the trace. */
void fuzz_view(const struct view_select *select, enum view_format format);

#endif
