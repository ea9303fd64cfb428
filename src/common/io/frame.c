/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/codec.h"

void frames_fini(struct frames *f)
{
	free(f->buf);
	memset(f, 0, sizeof(*f));
}

size_t frames_room(struct frames *f, uint8_t **ret_at)
{
	if (!f->buf)
		f->buf = malloc(FRAME_BUF_BYTES);
	if (!f->buf)
		return 0;
	if (f->begin) {
		memmove(f->buf, f->buf + f->begin, f->end - f->begin);
		f->end -= f->begin;
		f->begin = 0;
	}
	*ret_at = f->buf + f->end;
	return FRAME_BUF_BYTES - f->end;
}

void frames_take_spare(struct frames *f, uint8_t **spare)
{
	if (!f->buf)
		f->buf = TAKE(*spare);
}

void frames_give_spare(struct frames *f, uint8_t **spare)
{
	if (f->begin != f->end)
		return;
	f->begin = f->end = 0;
	if (*spare)
		free(f->buf);
	else
		*spare = f->buf;
	f->buf = NULL;
}

void frames_filled(struct frames *f, size_t len)
{
	f->end += len;
}

static size_t length_at(const uint8_t *at)
{
	size_t len = 0;

	for (unsigned int i = 0; i < FRAME_HEAD_BYTES; i++)
		len |= (size_t)at[i] << (8 * i);
	return len;
}

int frames_next(struct frames *f, const uint8_t **ret, size_t *ret_len)
{
	size_t len, there = f->end - f->begin;

	if (there < FRAME_HEAD_BYTES)
		return 0;
	len = length_at(f->buf + f->begin);
	if (len < sizeof(struct msg_header) || len > FRAME_MAX_BYTES)
		return -EBADMSG;
	if (there - FRAME_HEAD_BYTES < len)
		return 0;
	*ret = f->buf + f->begin + FRAME_HEAD_BYTES;
	*ret_len = len;
	f->begin += FRAME_HEAD_BYTES + len;
	return 1;
}

void frames_put_back(struct frames *f, size_t len)
{
	f->begin -= FRAME_HEAD_BYTES + len;
}

size_t frames_raw(struct frames *f, const uint8_t **ret, size_t most)
{
	size_t len = MIN(most, f->end - f->begin);

	*ret = f->buf + f->begin;
	f->begin += len;
	return len;
}
