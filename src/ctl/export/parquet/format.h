/* SPDX-License-Identifier: GPL-2.0-only */
/* format.h - numbers of Parquet's format, as its specification has them (parquet.thrift). */
#ifndef CTL_EXPORT_PARQUET_FORMAT_H
#define CTL_EXPORT_PARQUET_FORMAT_H

#include "column.h"

enum { PHYSICAL_INT64 = 2, PHYSICAL_DOUBLE = 5, PHYSICAL_BYTES = 6 };

static inline int parquet_physical(enum parquet_kind kind)
{
	switch (kind) {
	case PARQUET_TEXT:
		return PHYSICAL_BYTES;
	case PARQUET_DOUBLE:
		return PHYSICAL_DOUBLE;
	default:
		return PHYSICAL_INT64;
	}
}

#endif
