// SPDX-License-Identifier: GPL-2.0-only
#include "cursor.h"

#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#define FIRST_ROOM 4096u
#define EPOCH_MASK 0xffffffu /* of the epoch in a ring's words */

/** struct entry - a position at which reading can start. @pub: the ring's word there. */
struct entry {
	u64 pos, pub, count;
};

static u64 distance(u64 from, u64 to)
{
	return (to - from) & LTT_POS_MASK;
}

static bool is_overwritten(const struct cursor *c)
{
	return c->set->desc.mode == LTT_RING_OVERWRITE;
}

/* --- positions ---------------------------------------------------------------- */

/*
 * Whether no producer had begun to overwrite the record at @pos when this is called: then a copy of
 * it that was made before is whole. @spare: bytes by which the producer must be further away.
 *
 * Where stores are seen in their order (x86), `reserved` is ahead of all bytes that are being
 * written. Other machines order them once a sub-buffer, and there the unread part of a ring
 * that is not overwritten is all that is safe.
 */
static bool is_intact(const struct cursor *c, u64 pos, u64 spare)
{
	const struct ltt_ring_desc *desc = &c->set->desc;
	u64 ahead;

	smp_rmb();
	if (!is_overwritten(c) && distance(READ_ONCE(*c->ring->floor), pos) <= desc->data_size)
		return true;
	ahead = distance(pos, local64_read(&c->ring->reserved)) + LTT_RING_SLACK + spare;
	if (!IS_ENABLED(CONFIG_X86))
		ahead += desc->subbuf_size + 3ull * desc->max_record;
	return ahead <= desc->data_size && (IS_ENABLED(CONFIG_X86) || is_overwritten(c));
}

/* The whole epoch of which a word has the low bits, not later than @last_ts. */
static u64 cursor_epoch_start(u64 pub, u64 last_ts)
{
	u64 last = last_ts >> LTT_TS_BITS;
	u64 back = (last - (pub >> LTT_PUB_EPOCH_SHIFT)) & EPOCH_MASK;

	return (last - min(back, last)) << LTT_TS_BITS;
}

static void cursor_go_to(struct cursor *c, const struct entry *entry)
{
	c->pos = entry->pos;
	c->before = cursor_epoch_start(entry->pub, READ_ONCE(c->ring->prod->last_ts));
	c->count = entry->count;
	c->at = c->len = 0;
}

/* The words of a sub-buffer change a lap later: position first, and then the count. */
static bool entry_read(const struct cursor *c, u32 subbuf, struct entry *ret)
{
	const struct ltt_ring_region *region = &c->ring->prod->region[subbuf];

	ret->pub = READ_ONCE(region->pub);
	smp_rmb();
	ret->count = READ_ONCE(region->count);
	smp_rmb();
	ret->pos = ret->pub & LTT_POS_MASK;
	return READ_ONCE(region->pub) == ret->pub &&
	       (ret->pos & c->ring->data_mask) >> c->ring->subbuf_shift == subbuf;
}

/* The published end of the ring. */
static void entry_read_end(const struct cursor *c, struct entry *ret)
{
	const struct ltt_ring_prod *prod = c->ring->prod;

	do {
		ret->pub = smp_load_acquire(&prod->pub);
		ret->count = READ_ONCE(prod->count[!!(ret->pub & LTT_PUB_PARITY)]);
		smp_rmb();
	} while (READ_ONCE(prod->pub) != ret->pub);
	ret->pos = ret->pub & LTT_POS_MASK;
}

/* The oldest one that a producer does not overwrite soon; without one, the end. @from: @least bytes
 * before it, at least. */
static void entry_find(const struct cursor *c, u64 from, u64 least, u64 spare, struct entry *ret)
{
	struct entry entry;
	u32 i;

	entry_read_end(c, ret);
	if (distance(from, ret->pos) < least) /* from ahead of the end: the end */
		return;
	for (i = 0; i < c->set->desc.num_subbuf; i++)
		if (entry_read(c, i, &entry) && distance(from, entry.pos) >= least &&
		    distance(from, entry.pos) < distance(from, ret->pos) &&
		    is_intact(c, entry.pos, spare))
			*ret = entry;
}

/* Each attempt keeps a larger part of the ring away from the producer, so one succeeds. */
static void cursor_skip(struct cursor *c)
{
	u64 spare = c->set->desc.data_size / 4 * c->attempts;
	struct entry entry;

	c->attempts = min(c->attempts + 1, 4u);
	entry_find(c, c->pos, 1, spare, &entry);
	c->missed += entry.count - c->count;
	cursor_go_to(c, &entry);
}

/* --- copies -------------------------------------------------------------------- */

static int cursor_grow(struct cursor *c)
{
	u32 room = c->room ? min(2 * c->room, c->set->desc.max_record) :
			     min(FIRST_ROOM, c->set->desc.max_record);
	u8 *chunk = kvmalloc(room, GFP_KERNEL_ACCOUNT);

	if (!chunk)
		return -ENOMEM;
	kvfree(c->chunk);
	c->chunk = chunk;
	c->room = room;
	c->at = c->len = 0;
	return 0;
}

/* Return: 0: not any more. */
static int cursor_copy(struct cursor *c, u64 published)
{
	u32 len = min_t(u64, published, c->room);

	cursor_release(c);
	memcpy(c->chunk, c->ring->data + (c->pos & c->ring->data_mask), len);
	if (!is_intact(c, c->pos, 0))
		return 0;
	c->at = 0;
	c->len = len;
	return 1;
}

/* A chunk that is not full ends with a record. Return: 1: there are more bytes of the record at
 * @pos; 0: there are none; -ENODATA: those are no record; -ENOMEM. */
static int cursor_refill(struct cursor *c)
{
	u64 published = distance(c->pos, smp_load_acquire(&c->ring->prod->pub));
	u32 have = c->len - c->at;
	int ret = 0;

	if (!published)
		return 0;
	if (have && (c->len < c->room || have == c->set->desc.max_record))
		return -ENODATA;
	if (have == c->room)
		ret = cursor_grow(c);
	if (ret)
		return ret;
	return cursor_copy(c, published) ? 1 : -ENODATA;
}

int cursor_load(struct cursor *c)
{
	for (;;) {
		int ret = c->at < c->len ? record_read(c->set, c->chunk + c->at, c->chunk + c->len,
						       c->before, &c->head) :
					   -ENODATA;

		if (!ret)
			return 1;
		if (ret == -ENODATA)
			ret = cursor_refill(c);
		if (!ret || ret == -ENOMEM)
			return ret;
		if (ret < 0)
			cursor_skip(c);
	}
}

void cursor_step(struct cursor *c)
{
	u32 end = c->head.end - c->chunk;

	c->pos = (c->pos + end - c->at) & LTT_POS_MASK;
	c->before = c->head.time;
	c->count++;
	c->at = end;
	c->attempts = 0;
}

void cursor_release(const struct cursor *c)
{
	if (c->consumes && !is_overwritten(c))
		smp_store_release(&ring_set_cons(c->set, c->cpu)->consumed, c->pos);
}

/* --- cursors ------------------------------------------------------------------- */

void cursor_init(struct cursor *c, struct ring_set *set, u32 cpu, bool consumes)
{
	struct entry entry;
	u64 end;

	*c = (struct cursor){
		.set = set, .ring = per_cpu_ptr(set->rings, cpu), .cpu = cpu, .consumes = consumes
	};
	end = READ_ONCE(c->ring->prod->pub) & LTT_POS_MASK;
	entry_find(c, consumes ? 0 : (end - set->desc.data_size) & LTT_POS_MASK, 0, 0, &entry);
	cursor_go_to(c, &entry);
	if (consumes)
		c->missed = c->count;
}

void cursor_fini(struct cursor *c)
{
	kvfree(c->chunk);
	c->chunk = NULL;
}

void cursor_follow(struct cursor *c, const struct cursor *from)
{
	c->pos = from->pos;
	c->before = from->before;
	c->count = from->count;
	c->at = c->len = 0;
}
