/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * frame.h - messages in a stream of bytes, each preceded by its
 * length (u32, little-endian). Received bytes that were not processed are in a buffer of
 * fixed size, allocated with the first byte. Owned by a connection; runs in its thread. No I/O.
 */
#ifndef IO_FRAME_H
#define IO_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

#define FRAME_HEAD_BYTES 4u
#define FRAME_MAX_BYTES (128u << 10) /* longest message; a longer one is an error */
#define FRAME_BUF_BYTES (FRAME_HEAD_BYTES + FRAME_MAX_BYTES)

struct frames {
	uint8_t *buf;	   /* NULL: no byte was received yet */
	size_t begin, end; /* of the bytes in @buf that were not processed */
};

void frames_fini(struct frames *frames);

/** Find memory for bytes to be received. Return: its size; 0: no memory, or the buffer is full:
 *  call frames_next() first. */
size_t frames_room(struct frames *frames, uint8_t **ret_at);
/** Report that @len bytes were stored at the address from frames_room(). */
void frames_filled(struct frames *frames, size_t len);

/**
 * frames_next() - the next message, valid until frames_room() is called.
 * Return: 1: there is one; 0: it is not complete yet; -EBADMSG: its length is invalid.
 */
int frames_next(struct frames *frames, const uint8_t **ret, size_t *ret_len) MUST_CHECK;
/** Put the last message, of @len bytes, back: frames_next() returns it again. */
void frames_put_back(struct frames *frames, size_t len);
/** Let connections of a thread share memory while they have no bytes in it: before frames_room()
 *  that of *@spare is taken, NULL: there is none; an empty buffer goes back there, or is freed. */
void frames_take_spare(struct frames *frames, uint8_t **spare);
void frames_give_spare(struct frames *frames, uint8_t **spare);
/** Take up to @most bytes that are not part of a message. Return: their number. */
size_t frames_raw(struct frames *frames, const uint8_t **ret, size_t most);

/** Encode the length that precedes a message. */
static inline void frame_head(uint8_t ret[FRAME_HEAD_BYTES], size_t len)
{
	for (unsigned int i = 0; i < FRAME_HEAD_BYTES; i++)
		ret[i] = (uint8_t)(len >> (8 * i));
}

#endif
