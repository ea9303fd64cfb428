/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "buf.h"

#include <string.h>

#include "mem.h"

void buf_reserve(struct buf *buf, size_t len)
{
	if (buf->size - buf->len >= len)
		return;
	buf->size = MAX(buf->len + len, buf->size * 2);
	buf->data = xrealloc(buf->data, buf->size);
}

void buf_append(struct buf *buf, const void *data, size_t len)
{
	buf_reserve(buf, len);
	if (len)
		memcpy(buf->data + buf->len, data, len);
	buf->len += len;
}

const char *buf_text(struct buf *buf)
{
	buf_reserve(buf, 1);
	buf->data[buf->len] = '\0';
	return (const char *)buf->data;
}

void buf_fini(struct buf *buf)
{
	free(buf->data);
	*buf = (struct buf){ 0 };
}
