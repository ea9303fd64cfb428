/* SPDX-License-Identifier: GPL-2.0-only */
/* compress.h - compresses pages with zstd, whose library is loaded when the first one is. */
#ifndef CTL_EXPORT_PARQUET_COMPRESS_H
#define CTL_EXPORT_PARQUET_COMPRESS_H

#include <stddef.h>

struct pen;
struct compressor;

/** compressor_new() - Return: NULL: the library can't be loaded; files are larger without it. */
struct compressor *compressor_new(void);
void compressor_free(struct compressor *compressor);

/** compressor_add() - append @len compressed bytes to @pen. */
void compressor_add(struct compressor *compressor, struct pen *pen, const void *bytes, size_t len);

#endif
