/* SPDX-License-Identifier: GPL-2.0-only */
#include "packet_walk.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../must_hold.h"

struct contents walk_load(int fd)
{
	struct contents c = { NULL, 0 };
	struct stat st;

	MUST_HOLD(fstat(fd, &st) == 0);
	c.len = (size_t)st.st_size;
	c.at = malloc(c.len + 1);
	MUST_HOLD(c.at && pread(fd, c.at, c.len, 0) == (ssize_t)c.len);
	return c;
}

static uint64_t walk_u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return le64toh(v);
}

static uint32_t walk_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return le32toh(v);
}

uint64_t walk_be64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return be64toh(v);
}

/* Bit by bit, as CRC-32C is defined. */
static uint32_t walk_crc(uint32_t v, const uint8_t *p, size_t len)
{
	while (len--) {
		v ^= *p++;
		for (int i = 0; i < 8; i++)
			v = v >> 1 ^ (v & 1 ? 0x82f63b78u : 0);
	}
	return v;
}

bool walk_at(const struct walk_stream *s, const struct contents *c, size_t at,
	     struct walk_packet *ret)
{
	const uint8_t *p;

	if (at > c->len || c->len - at < WALK_HEAD)
		return false;
	p = c->at + at;
	*ret = (struct walk_packet){
		.at = at,
		.bytes = walk_u64(p + 108) / 8,
		.begin = walk_u64(p + 84),
		.end = walk_u64(p + 92),
		.seq = walk_u64(p + 116),
		.discarded = walk_u64(p + 124),
		.pos = walk_u64(p + 16),
		.recorded = walk_u64(p + 24),
		.sum = walk_u32(p + WALK_CRC_AT),
	};
	for (int i = 0; i < 4; i++)
		ret->lost[i] = walk_u64(p + 32 + 8 * i);
	return walk_u32(p) == 0xc1fc1fc1u && walk_u32(p + 8) == 2 &&
	       memcmp(p + 68, s->uuid, 16) == 0 && walk_u32(p + 64) == s->stream &&
	       walk_u32(p + 4) == s->instance && ret->seq != UINT64_MAX &&
	       walk_u64(p + 100) == walk_u64(p + 108) && walk_u64(p + 108) % 8 == 0 &&
	       ret->bytes >= WALK_HEAD && ret->bytes <= c->len - at;
}

bool walk_follows(const struct walk_packet *next, const struct walk_packet *last)
{
	return next->seq == last->seq + 1 && next->pos == last->pos + last->bytes - WALK_HEAD;
}

void walk_judge(const struct contents *c, const struct walk_packet *p)
{
	const size_t behind = WALK_CRC_AT + 4;
	static const uint8_t none[4];
	uint32_t sum = walk_crc(~0u, c->at + p->at, WALK_CRC_AT);

	sum = walk_crc(sum, none, sizeof(none));
	sum = walk_crc(sum, c->at + p->at + behind, p->bytes - behind);
	MUST_HOLD(~sum == p->sum);
	MUST_HOLD(p->discarded == p->lost[0] + p->lost[1] + p->lost[2] + p->lost[3]);
	MUST_HOLD(p->end >= p->begin);
}

bool walk_is_index(const struct contents *index)
{
	static const uint8_t head[WALK_INDEX_HEAD] = {
		0xc1, 0xf1, 0xdc, 0xc1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, WALK_ENTRY
	};

	return index->len >= sizeof(head) && memcmp(index->at, head, sizeof(head)) == 0;
}

bool walk_entry_is(const struct walk_stream *s, const struct contents *index, size_t nr,
		   const struct walk_packet *p)
{
	const uint64_t wanted[9] = { p->at,	   p->bytes * 8, p->bytes * 8, p->begin, p->end,
				     p->discarded, s->stream,	 s->instance,  p->seq };
	size_t at = WALK_INDEX_HEAD + nr * WALK_ENTRY;

	if (at + WALK_ENTRY > index->len)
		return false;
	for (int i = 0; i < 9; i++)
		if (walk_be64(index->at + at + 8 * i) != wanted[i])
			return false;
	return true;
}
