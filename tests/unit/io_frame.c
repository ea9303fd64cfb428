/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages in a stream of bytes: found however the stream is divided; an invalid length ends the
 * stream at once, without waiting for more bytes.
 */
#include <errno.h>
#include <string.h>

#include "check.h"
#include "io/frame.h"
#include "proto/codec.h"

static void put(struct frames *f, const uint8_t *data, size_t len)
{
	uint8_t *at;

	CHECK_IS(frames_room(f, &at), >=, len);
	memcpy(at, data, len);
	frames_filled(f, len);
}

/* Return: the result of frames_next() for a message that announces @len bytes, of which @there have
 * arrived. */
static int next_of(size_t len, size_t there, const uint8_t **ret, size_t *ret_len, struct frames *f)
{
	static const uint8_t body[FRAME_MAX_BYTES];
	uint8_t head[FRAME_HEAD_BYTES];

	*f = (struct frames){ 0 };
	frame_head(head, len);
	put(f, head, sizeof(head));
	put(f, body, there);
	return frames_next(f, ret, ret_len);
}

static void lengths(void)
{
	static const struct {
		size_t len, there;
		int answer;
	} cases[] = {
		{ 0, 0, -EBADMSG },
		{ sizeof(struct msg_header) - 1, 0, -EBADMSG },
		{ sizeof(struct msg_header), 0, 0 },
		{ sizeof(struct msg_header), sizeof(struct msg_header) - 1, 0 },
		{ sizeof(struct msg_header), sizeof(struct msg_header), 1 },
		{ FRAME_MAX_BYTES, FRAME_MAX_BYTES - 1, 0 },
		{ FRAME_MAX_BYTES, FRAME_MAX_BYTES, 1 },
		{ FRAME_MAX_BYTES + 1, 0, -EBADMSG },
		{ UINT32_MAX, 0, -EBADMSG },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const uint8_t *msg;
		struct frames f;
		size_t len;

		CHECK_IS(next_of(cases[i].len, cases[i].there, &msg, &len, &f), ==,
			 cases[i].answer);
		CHECK(cases[i].answer <= 0 || len == cases[i].len);
		frames_fini(&f);
	}
}

/* Three messages of different lengths, @step bytes at a time. */
static void in_pieces(size_t step)
{
	uint8_t stream[300];
	size_t fed = 0, end = 0;
	unsigned int nr = 0;
	struct frames f = { 0 };

	for (size_t len = 50; len <= 70; len += 10) {
		frame_head(stream + end, len);
		memset(stream + end + FRAME_HEAD_BYTES, (int)len, len);
		end += FRAME_HEAD_BYTES + len;
	}
	while (fed < end) {
		size_t some = MIN(step, end - fed), len;
		const uint8_t *msg;

		put(&f, stream + fed, some);
		fed += some;
		while (frames_next(&f, &msg, &len) == 1) {
			CHECK(len == 50 + 10 * nr && msg[0] == len && msg[len - 1] == len);
			nr++;
		}
	}
	CHECK(nr == 3 && f.begin == f.end);
	frames_fini(&f);
}

/* Connections without received bytes have no memory; bytes that wait stay where they are. */
static void spare(void)
{
	struct frames all[3] = { { 0 } };
	const uint8_t *raw;
	uint8_t *memory = NULL, *first;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		frames_take_spare(&all[i], &memory);
		CHECK(!memory);
		put(&all[i], (const uint8_t *)"ab", 2);
	}
	first = all[0].buf;
	CHECK_IS(frames_raw(&all[0], &raw, 1), ==, 1);
	frames_give_spare(&all[0], &memory);
	CHECK(all[0].buf == first && !memory);
	CHECK_IS(frames_raw(&all[0], &raw, 9), ==, 1);
	CHECK_IS(*raw, ==, 'b');
	frames_give_spare(&all[0], &memory);
	CHECK(!all[0].buf && memory == first);
	CHECK_IS(frames_raw(&all[1], &raw, 9), ==, 2);
	frames_give_spare(&all[1], &memory); /* there is one already */
	CHECK(!all[1].buf && memory == first);
	frames_take_spare(&all[2], &memory); /* has its own */
	CHECK(all[2].buf && memory == first);
	frames_take_spare(&all[1], &memory);
	CHECK(all[1].buf == first && !memory);
	put(&all[1], (const uint8_t *)"c", 1);
	CHECK_IS(frames_raw(&all[1], &raw, 9), ==, 1);
	CHECK_IS(*raw, ==, 'c');
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		frames_fini(&all[i]);
}

int main(void)
{
	spare();
	lengths();
	for (size_t step = 1; step < 200; step++)
		in_pieces(step);
	return 0;
}
