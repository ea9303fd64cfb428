/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* buf.h - bytes in memory that grow. Belongs to one owner; zeroed, it is empty. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "macros.h"

struct buf {
	uint8_t *data;
	size_t len, size;
};

/** Callers limit sizes that a peer influences; a failure ends the process (base/mem.h). */
void buf_append(struct buf *buf, const void *data, size_t len);
/** Have room for @len more bytes. */
void buf_reserve(struct buf *buf, size_t len);
/** The bytes as a string: a NUL behind them, which is not counted. */
const char *buf_text(struct buf *buf);
void buf_fini(struct buf *buf);

#endif
