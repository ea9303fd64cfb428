/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * protobuf.h - messages in the encoding of Protocol Buffers (protobuf.dev/programming-guides/
 * encoding), into a pen that keeps everything: lengths are written when a message ends.
 */
#ifndef CTL_EXPORT_PROTOBUF_H
#define CTL_EXPORT_PROTOBUF_H

#include "show/pen.h"

static inline void protobuf_varint(struct pen *pen, uint64_t v)
{
	char *to = pen_room(pen, 10);
	unsigned int nr = 0;

	for (; v >= 0x80; v >>= 7)
		to[nr++] = (char)(v | 0x80);
	to[nr++] = (char)v;
	pen->used += nr;
}

static inline void protobuf_u64(struct pen *pen, uint32_t field, uint64_t v)
{
	protobuf_varint(pen, field << 3);
	protobuf_varint(pen, v);
}

static inline void protobuf_fixed64(struct pen *pen, uint32_t field, const void *bits)
{
	protobuf_varint(pen, field << 3 | 1);
	pen_bytes(pen, bits, 8);
}

static inline void protobuf_bytes(struct pen *pen, uint32_t field, const void *bytes, size_t len)
{
	protobuf_varint(pen, field << 3 | 2);
	protobuf_varint(pen, len);
	pen_bytes(pen, bytes, len);
}

#define PROTOBUF_LENGTH_BYTES 4u /* of a length that is written later: up to 256 MB */

/** Begin a message within the one that is written. Return: to be given to protobuf_end(). */
static inline size_t protobuf_begin(struct pen *pen, uint32_t field)
{
	protobuf_varint(pen, field << 3 | 2);
	pen_room(pen, PROTOBUF_LENGTH_BYTES);
	pen->used += PROTOBUF_LENGTH_BYTES;
	return pen->used;
}

static inline void protobuf_end(struct pen *pen, size_t begin)
{
	size_t len = pen->used - begin;
	char *to = pen->buf + begin - PROTOBUF_LENGTH_BYTES;

	for (unsigned int i = 0; i < PROTOBUF_LENGTH_BYTES; i++, len >>= 7)
		to[i] = (char)((len & 0x7f) | (i + 1 < PROTOBUF_LENGTH_BYTES ? 0x80 : 0));
}

#endif
