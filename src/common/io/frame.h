/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * frame.h - messages in a stream of bytes, each preceded by its
 * length (u32, little-endian). Received and unused bytes are in a buffer of a
 * fixed size, allocated with the first byte. Owned by a connection; runs in its thread. Pure.
 */
#ifndef IO_FRAME_H
#define IO_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

#define FRAME_HEAD_BYTES 4u
#define FRAME_MAX_BYTES (128u << 10) /* of a message; longer ones are refused */
#define FRAME_BUF_BYTES (FRAME_HEAD_BYTES + FRAME_MAX_BYTES)

struct frames {
	uint8_t *buf; /* NULL: nothing has come yet */
	size_t begin, end;
};

void frames_fini(struct frames *frames);

/** Where to store the next bytes. Return: the room for them, more than 0; 0: no memory, or
 *  frames_next() has not processed the buffered bytes. */
size_t frames_room(struct frames *frames, uint8_t **ret_at);
/** @len bytes were put there. */
void frames_filled(struct frames *frames, size_t len);

/**
 * frames_next() - the next message; it lies in the buffer until frames_room().
 * Return: 1: there is one; 0: it is not complete yet; -EBADMSG: no message has that length.
 */
int frames_next(struct frames *frames, const uint8_t **ret, size_t *ret_len) MUST_CHECK;
/** Put the last message of @len bytes back: frames_next() returns it again. */
void frames_put_back(struct frames *frames, size_t len);
/** Take up to @most bytes that are not part of a message. Return: their number. */
size_t frames_raw(struct frames *frames, const uint8_t **ret, size_t most);

/** The length that goes before a message. */
static inline void frame_head(uint8_t ret[FRAME_HEAD_BYTES], size_t len)
{
	for (unsigned int i = 0; i < FRAME_HEAD_BYTES; i++)
		ret[i] = (uint8_t)(len >> (8 * i));
}

#endif
