// SPDX-License-Identifier: GPL-2.0-only
#include "ring.h"

#include <linux/percpu.h>
#include <linux/timekeeping.h>
#include <asm/barrier.h>
#include <asm/timex.h>

#include "filter.h"
#include "stats.h"

/* Longer without a record, and the epoch's 24 bits might look the same again. */
#define ALIAS_BITS (LTT_TS_BITS + 23)

/* Of ring->clock: the counter went back, and the consumer knows by which time. */
#define CLOCK_SHIFTED (LTT_CLOCK_CYCLES + 1)

static __always_inline u64 ring_clock(const struct ring *ring)
{
	if (likely(ring->clock == LTT_CLOCK_CYCLES))
		return get_cycles();
	if (ring->clock == CLOCK_SHIFTED)
		return get_cycles() + READ_ONCE(ring->cons->clock_add);
	return ktime_get_mono_fast_ns();
}

u64 ring_set_now(const struct ring_set *set)
{
	const struct ring *ring = raw_cpu_ptr(set->rings);

	if (set->desc.clock == LTT_CLOCK_CYCLES)
		return get_cycles() + READ_ONCE(ring->cons->clock_add);
	return ktime_get_mono_fast_ns();
}

/* Return: whether the ring is on. */
static noinline bool kmod_ring_is_on_specially(struct ring *ring, u32 state)
{
	if (state & LTT_RING_SHIFTED && ring->clock == LTT_CLOCK_CYCLES)
		ring->clock = CLOCK_SHIFTED;
	return state & LTT_RING_ON;
}

static __always_inline u32 header_bytes(u32 id, u64 old, u64 last, u64 ts)
{
	u64 epoch = (old >> LTT_PUB_EPOCH_SHIFT) ^ (ts >> LTT_TS_BITS);

	if (unlikely((epoch & 0xffffff) || (ts - last) >> ALIAS_BITS || id > U16_MAX))
		return LTT_HDR_EXTENDED;
	return likely(id <= LTT_ID_COMPACT_MAX) ? LTT_HDR_COMPACT : LTT_HDR_WIDE;
}

static __always_inline void *kmod_ring_put_header(u8 *to, u32 bytes, u32 id, u64 ts)
{
	u32 word = (u32)ts << 5;

	if (likely(bytes == LTT_HDR_COMPACT)) {
		word |= id;
		memcpy(to, &word, sizeof(word));
	} else if (bytes == LTT_HDR_WIDE) {
		u16 short_id = id;

		word |= LTT_ID_WIDE;
		memcpy(to, &word, sizeof(word));
		memcpy(to + 4, &short_id, sizeof(short_id));
	} else {
		to[0] = LTT_ID_EXTENDED;
		memcpy(to + 1, &id, sizeof(id));
		memcpy(to + 5, &ts, sizeof(ts));
	}
	return to + bytes;
}

/* Counted by the ring's own CPU only, but possibly by nested interrupts. */
static void kmod_ring_count_lost(const struct source *source, u64 *counter)
{
	local64_inc((local64_t *)counter);
	this_cpu_inc(source->tally->lost);
}

/* A sleeping reader is woken once; it arms the wake-up again by poll(), whose own
 * fence lies between that and its load of `pub`. */
static noinline void ring_wake_consumer(struct ring_set *set)
{
	smp_mb();
	if (READ_ONCE(set->armed) && xchg(&set->armed, 0))
		irq_work_queue(&set->doorbell);
}

/*
 * The words are consistent if `reserved` did not change: a writer that interrupts this one
 * has completed its records before this one continues. Count and region are written before
 * the one store that makes the records exist.
 */
static __always_inline bool kmod_ring_publish(struct ring *ring)
{
	struct ltt_ring_prod *prod = ring->prod;
	u64 reserved, count, ts, pub, flip;
	bool crossed;

	do {
		reserved = local64_read(&ring->reserved);
		barrier();
		count = local64_read(&ring->count);
		ts = local64_read(&ring->ts);
		barrier();
	} while (unlikely(local64_read(&ring->reserved) != reserved));
	if (unlikely(reserved == ring->published))
		return false;
	flip = ring->flip ^ LTT_PUB_PARITY;
	pub = reserved | flip;
	crossed = ((reserved ^ ring->published) & ring->subbuf_mask) != 0;
	WRITE_ONCE(prod->count[!!(pub & LTT_PUB_PARITY)], count);
	if (unlikely(crossed)) {
		u64 k = (pub & ring->data_mask) >> ring->subbuf_shift;

		WRITE_ONCE(prod->region[k].pub, pub);
		WRITE_ONCE(prod->region[k].count, count);
	}
	WRITE_ONCE(prod->last_ts, ts);
	smp_store_release(&prod->pub, pub);
	ring->flip = flip;
	WRITE_ONCE(ring->published, reserved);
	/* Data of a later record must not be visible before this `pub`. */
	if (unlikely(crossed))
		smp_wmb();
	return crossed;
}

/* A writer that interrupts between publish() and nest = 0 finds an outer writer and leaves
 * the publishing to it: hence the second check. */
static __always_inline void kmod_ring_leave(struct ring *ring)
{
	u32 state = READ_ONCE(ring->cons->state);
	bool crossed = false;

	barrier();
	if (unlikely((ring->nest & ~RING_SLOW) > 1)) {
		ring->nest--;
		return;
	}
	for (;;) {
		crossed |= kmod_ring_publish(ring);
		barrier();
		WRITE_ONCE(ring->nest, 0);
		barrier();
		if (likely(local64_read(&ring->reserved) == READ_ONCE(ring->published)))
			break;
		WRITE_ONCE(ring->nest, 1);
		barrier();
	}
	if (unlikely(crossed || (state & LTT_RING_WAKE)))
		ring_wake_consumer(ring->set);
}

/*
 * Limits within which the next records need no check. A writer that interrupts this one stores
 * later values, which are then overwritten by these: that costs its successor the slow path, and no
 * more.
 */
static __always_inline void kmod_ring_hint(struct ring *ring, u64 end, u64 ts)
{
	u64 next = (end | (ring->subbuf_bytes - 1)) + 1; /* 2^39 before positions wrap */
	u64 room = ring->limit - ((end - READ_ONCE(*ring->floor)) & LTT_POS_MASK);

	if (unlikely(room > ring->limit)) /* of another writer's floor */
		room = 0;
	WRITE_ONCE(ring->hint_end, min(next, end + room + 1));
	WRITE_ONCE(ring->hint_epoch, (ts | ((1ull << LTT_TS_BITS) - 1)) + 1);
}

static __always_inline void *kmod_ring_begin(const struct source *source, u32 len,
					     struct ring **ret_ring, bool nested)
{
	struct ring *ring = this_cpu_ptr(source->rings);
	u32 header, state = READ_ONCE(ring->cons->state);
	u64 old, last, ts, end;

	if (!nested && unlikely(state != LTT_RING_ON && !kmod_ring_is_on_specially(ring, state)))
		return NULL;
	ring->nest = (ring->nest + !nested) | RING_SLOW;
	if (unlikely(len > ring->max_record - LTT_HDR_EXTENDED)) {
		kmod_ring_count_lost(source, &ring->prod->lost_size);
		kmod_ring_leave(ring);
		return NULL;
	}
	barrier();
	/*
	 * @ts is taken before @reserved: so it is never less than the clock of any
	 * record that has room, and never more than that of one to come.
	 */
	do {
		old = local64_read(&ring->reserved);
		barrier();
		last = local64_read(&ring->ts);
		ts = ring_clock(ring);
		if (unlikely(ts < last))
			ts = last;
		header = header_bytes(source->id, old, last, ts);
		end = (old + header + len) & LTT_POS_MASK;
		if (unlikely(((end - READ_ONCE(*ring->floor)) & LTT_POS_MASK) > ring->limit)) {
			kmod_ring_count_lost(source, &ring->prod->lost_full);
			kmod_ring_leave(ring);
			return NULL;
		}
	} while (unlikely(local64_cmpxchg(&ring->ts, last, ts) != last ||
			  local64_cmpxchg(&ring->reserved, old,
					  end | ts >> LTT_TS_BITS << LTT_PUB_EPOCH_SHIFT) != old));
	local64_inc(&ring->count);
	this_cpu_inc(source->tally->recorded);
	kmod_ring_hint(ring, end, ts);
	*ret_ring = ring;
	return kmod_ring_put_header(ring->data + (old & ring->data_mask), header, source->id, ts);
}

/* Return: as ring_begin(). */
static void *kmod_ring_begin_with(const struct source *source, u32 len,
				  const struct gathered *gathered, struct ring **ret_ring)
{
	const struct contexts *contexts = &source->set->contexts;
	u32 bytes = contexts_bytes(contexts, source->nr_contexts, gathered);
	u8 *to = kmod_ring_begin(source, len + bytes, ret_ring, false);

	if (!to)
		return NULL;
	contexts_put(contexts, source->nr_contexts, gathered, to);
	return to + bytes;
}

static u64 *kmod_ring_shared_words(const struct ring_set *set)
{
	const struct ltt_ring_prod *first = set->views[0];

	return (u64 *)&first->region[set->desc.num_subbuf];
}

/* As its CPU counts losses. */
static __always_inline void kmod_ring_count_not_sampled(const struct source *source,
							struct ring *ring)
{
	local64_inc((local64_t *)&ring->prod->not_sampled);
	this_cpu_inc(source->tally->not_sampled);
}

/* A ring that is off uses up no event that --first and --rate allow. */
static noinline bool kmod_ring_samples(const struct source *source, const struct filter *filter,
				       const void *payload, u32 len)
{
	struct ring *ring = this_cpu_ptr(source->rings);
	enum ltt_filter_verdict verdict;

	if (!(READ_ONCE(ring->cons->state) & LTT_RING_ON))
		return false;
	verdict = filter_sample(filter, kmod_ring_shared_words(source->set), payload, len);
	if (verdict == LTT_FILTER_SKIPPED)
		kmod_ring_count_not_sampled(source, ring);
	return verdict == LTT_FILTER_ACCEPTED;
}

static __always_inline bool kmod_ring_accepts(const struct source *source,
					      const struct filter *filter, const void *payload,
					      u32 len)
{
	if (!filter)
		return true;
	return unlikely(filter->samplers) ? kmod_ring_samples(source, filter, payload, len) :
					    filter_accepts(filter, payload, len);
}

bool ring_skips_early(const struct source *source)
{
	const struct filter *filter = READ_ONCE(source->filter);
	struct ring *ring = this_cpu_ptr(source->rings);

	if (unlikely(!filter || !filter->early || !(READ_ONCE(ring->cons->state) & LTT_RING_ON)) ||
	    (family_is_own() && source->set->leaves_own) ||
	    (source->set->tracker.on && !tracker_wants_current(&source->set->tracker)) ||
	    !filter_skips(filter))
		return false;
	kmod_ring_count_not_sampled(source, ring);
	return true;
}

/* Of one of our own daemons, which is the current task; but not if it is about another thread as
 * well: that sched_switch switches to, or that is woken. */
static noinline bool kmod_ring_leaves_out(const struct source *source, const void *payload, u32 len)
{
	u32 tid;

	if (!source->set->leaves_own || source->subject == FAMILY_NO_SUBJECT ||
	    source->subject + sizeof(tid) > len)
		return source->set->leaves_own;
	memcpy(&tid, payload + source->subject, sizeof(tid));
	return family_has(family_own, tid);
}

static bool is_on(const struct ring_set *set)
{
	return READ_ONCE(this_cpu_ptr(set->rings)->cons->state) & LTT_RING_ON;
}

static void *kmod_ring_begin_untracked(const struct source *source, u32 len,
				       struct ring **ret_ring)
{
	struct ring_set *set = source->set;
	void *to;

	if (likely(!READ_ONCE(set->contexts.gathered)))
		return kmod_ring_begin_with(source, len, NULL, ret_ring);
	if (!is_on(set))
		return NULL;
	to = kmod_ring_begin_with(source, len, contexts_gather(&set->contexts, source->nr_contexts),
				  ret_ring);
	contexts_release(&set->contexts);
	return to;
}

/* Nothing but a filter or a tracker, which have let it pass, or will. */
static __always_inline bool kmod_ring_is_plain(const struct source *source)
{
	const struct ring_set *set = source->set;

	return !source->nr_contexts && !set->counts && set->desc.clock == LTT_CLOCK_CYCLES &&
	       source->id <= U16_MAX;
}

static struct room kmod_ring_begin_accepted(const struct source *source, u32 len)
{
	struct room room;

	if (likely(kmod_ring_is_plain(source)))
		return ring_begin_fast(source, len);
	room.to = kmod_ring_begin_untracked(source, len, &room.ring);
	return room;
}

/* A record of a payload that is accepted, or its count. */
static noinline void kmod_ring_put_accepted(const struct source *source, const void *payload,
					    u32 len)
{
	struct room room;

	if (source->stat) {
		stat_hit(source->stat, payload, len);
		return;
	}
	room = kmod_ring_begin_accepted(source, len);
	if (!room.to)
		return;
	memcpy(room.to, payload, len);
	if (likely(room.ring->way == RING_RECORDS))
		ring_end_fast(room.ring);
	else
		ring_end_specially(room.ring);
}

/* --- events with a filter, and those that are counted --------------------- */

/* Nowhere to make it: too many interrupt each other, or it is longer than any record. */
static void kmod_ring_lose_undecided(const struct source *source)
{
	struct ring *ring = this_cpu_ptr(source->set->rings);

	if (source->stat) {
		if (!READ_ONCE(source->filter))
			stat_miss(source->stat);
	} else if (READ_ONCE(ring->cons->state) & LTT_RING_ON) {
		kmod_ring_count_lost(source, &ring->prod->lost_size);
	}
}

static void *kmod_ring_begin_undecided(const struct source *source, u32 len,
				       struct ring **ret_ring)
{
	struct undecided *undecided =
		filter_room(struct_size(undecided, payload, len) + sizeof(u64));

	if (unlikely(!undecided)) {
		kmod_ring_lose_undecided(source);
		return NULL;
	}
	undecided->way = RING_DECIDES_ROOM;
	undecided->len = len;
	undecided->source = source;
	*ret_ring = (struct ring *)undecided;
	return undecided->payload;
}

/* Of the current task, or about another one that is tracked. */
static __always_inline bool kmod_ring_wants(const struct source *source, const void *payload,
					    u32 len)
{
	const struct tracker *tracker = &source->set->tracker;
	u32 tid;

	if (!(READ_ONCE(source->special) & SOURCE_ABOUT) || source->subject + sizeof(tid) > len)
		return tracker_wants_current(tracker);
	memcpy(&tid, payload + source->subject, sizeof(tid));
	return tracker_wants_about(tracker, tid);
}

static noinline void kmod_ring_decide(const struct source *source, const struct filter *filter,
				      const void *payload, u32 len)
{
	if (family_is_own() && kmod_ring_leaves_out(source, payload, len))
		return;
	if (unlikely(source->set->tracker.on) && !kmod_ring_wants(source, payload, len))
		return;
	if (kmod_ring_accepts(source, filter, payload, len))
		kmod_ring_put_accepted(source, payload, len);
}

static noinline void kmod_ring_end_others(struct ring *ring)
{
	struct undecided *undecided = (struct undecided *)ring;

	kmod_ring_decide(undecided->source, READ_ONCE(undecided->source->filter),
			 undecided->payload, undecided->len);
	filter_room_end(undecided);
}

/* A payload that is rejected by the first comparison is never copied, and trackers are not
 * evaluated. */
void ring_end_specially(struct ring *ring)
{
	const struct undecided *undecided = (const struct undecided *)ring;
	const struct source *source = undecided->source;
	const struct filter *filter;

	if (unlikely(ring->way != RING_DECIDES)) {
		kmod_ring_end_others(ring);
		return;
	}
	filter = READ_ONCE(source->filter);
	if (likely(filter && filter_rejects_first(filter, undecided->payload, undecided->len)))
		return;
	if (!filter && source->stat && !source->set->tracker.on && !family_is_own())
		stat_hit(source->stat, undecided->payload, undecided->len);
	else
		kmod_ring_decide(source, filter, undecided->payload, undecided->len);
}

/* --- records -------------------------------------------------------------- */

/* The room is known to be wanted before anything is taken or counted. */
static noinline struct room kmod_ring_begin_specially(const struct source *source, u32 len)
{
	bool about = READ_ONCE(source->special) & SOURCE_ABOUT;
	const struct filter *filter;
	struct room room;

	if (!about && unlikely(source->set->tracker.on) &&
	    !tracker_wants_current(&source->set->tracker))
		return (struct room){};
	filter = READ_ONCE(source->filter);
	if (!about && source->stat && !filter && !stat_wants_payload(source->stat)) {
		stat_hit(source->stat, NULL, 0);
		return (struct room){};
	}
	if (about || source->stat || (filter && !filter->early)) {
		room.to = kmod_ring_begin_undecided(source, len, &room.ring);
		return room;
	}
	if (filter && !kmod_ring_samples(source, filter, NULL, 0))
		return (struct room){};
	return kmod_ring_begin_accepted(source, len);
}

static noinline struct room kmod_ring_begin_tracked(const struct source *source, u32 len)
{
	return tracker_wants_current(&source->set->tracker) ? ring_begin_fast(source, len) :
							      (struct room){};
}

static noinline struct room kmod_ring_begin_any(const struct source *source, u32 len)
{
	u32 special = READ_ONCE(source->special);

	if (special & SOURCE_MUTED || (special & SOURCE_EARLY && ring_skips_early(source)))
		return (struct room){};
	return kmod_ring_begin_specially(source, len);
}

/* By a daemon of ours. An event that may be about another thread is decided on when it is
 * complete. */
static noinline struct room kmod_ring_begin_own(const struct source *source, u32 len)
{
	u32 special = READ_ONCE(source->special);
	struct room room = {};

	if (!source->set->leaves_own)
		return special ? kmod_ring_begin_any(source, len) : ring_begin_fast(source, len);
	if (source->subject != FAMILY_NO_SUBJECT && !(special & SOURCE_MUTED))
		room.to = kmod_ring_begin_undecided(source, len, &room.ring);
	return room;
}

/* Most events that sampling leaves out are found here, where no register is saved. */
struct room ring_begin_specially(const struct source *source, u32 len)
{
	u32 special = READ_ONCE(source->special);
	struct ring *ring;

	if (family_is_own())
		return kmod_ring_begin_own(source, len);
	if (special != (SOURCE_EARLY | SOURCE_MORE))
		return special == SOURCE_TRACKED ? kmod_ring_begin_tracked(source, len) :
						   kmod_ring_begin_any(source, len);
	ring = this_cpu_ptr(source->rings);
	if (!(READ_ONCE(ring->cons->state) & LTT_RING_ON) ||
	    !filter_skips_by_number(READ_ONCE(source->filter)))
		return kmod_ring_begin_any(source, len);
	kmod_ring_count_not_sampled(source, ring);
	return (struct room){};
}

struct room ring_begin_plain(const struct source *source, u32 len)
{
	if (family_is_own())
		return kmod_ring_begin_own(source, len);
	return ring_begin_fast(source, len);
}

struct room ring_begin_slowly(const struct source *source, u32 len, bool nested)
{
	struct room room;

	room.to = kmod_ring_begin(source, len, &room.ring, nested);
	return room;
}

void source_init(struct source *source, struct ring_set *set, u32 id)
{
	source->set = set;
	source->rings = set->rings;
	source->id = id;
	source->nr_contexts = set->contexts.nr;
	source->header = id <= LTT_ID_COMPACT_MAX ? LTT_HDR_COMPACT : LTT_HDR_WIDE;
	source->word = id <= LTT_ID_COMPACT_MAX ? id : LTT_ID_WIDE;
	source->subject = FAMILY_NO_SUBJECT;
}

u32 source_special(const struct source *source, const struct filter *filter)
{
	u32 on = source->set->tracker.on;

	return (on ? SOURCE_TRACKED : 0) |
	       (on & BIT(LTT_KMOD_TRACK_FAMILY) && source->subject != FAMILY_NO_SUBJECT ?
			SOURCE_ABOUT :
			0) |
	       (filter || !kmod_ring_is_plain(source) ? SOURCE_MORE : 0) |
	       (filter && filter->early ? SOURCE_EARLY : 0) |
	       ((filter && !filter->early) || (source->stat && stat_wants_payload(source->stat)) ?
			SOURCE_LATE :
			0);
}

static noinline void *kmod_ring_begin_put_specially(const struct source *source,
						    const void *payload, u32 len,
						    struct ring **ret_ring)
{
	if (READ_ONCE(source->special) & SOURCE_MUTED ||
	    (family_is_own() && kmod_ring_leaves_out(source, payload, len)) ||
	    !kmod_ring_wants(source, payload, len) ||
	    !kmod_ring_accepts(source, READ_ONCE(source->filter), payload, len))
		return NULL;
	if (source->stat) {
		stat_hit(source->stat, payload, len);
		return NULL;
	}
	return kmod_ring_begin_untracked(source, len, ret_ring);
}

void *ring_begin_put(const struct source *source, const void *payload, u32 len,
		     struct ring **ret_ring)
{
	struct room room;

	if (unlikely(READ_ONCE(source->special)) || family_is_own())
		return kmod_ring_begin_put_specially(source, payload, len, ret_ring);
	room = ring_begin_fast(source, len);
	*ret_ring = room.ring;
	return room.to;
}

void ring_put_untracked(const struct source *source, const void *payload, u32 len)
{
	if (kmod_ring_accepts(source, READ_ONCE(source->filter), payload, len))
		kmod_ring_put_accepted(source, payload, len);
}

void ring_end_plain(struct ring *ring)
{
	ring_end_fast(ring);
}

void ring_end_slowly(struct ring *ring)
{
	kmod_ring_leave(ring);
}

/* Counted in the first ring, as their CPUs may be unknown. */
void ring_set_lose(struct ring_set *set, u64 nr)
{
	struct ring *ring = per_cpu_ptr(set->rings, cpumask_first(cpu_possible_mask));

	atomic64_add(nr, (atomic64_t *)&ring->prod->lost_busy);
}

void ring_lose(const struct source *source, u64 nr)
{
	if (!is_on(source->set))
		return;
	ring_set_lose(source->set, nr);
	this_cpu_add(source->tally->lost, nr);
}

void ring_set_counts(const struct ring_set *set, struct ring_counts *ret)
{
	unsigned int cpu;

	*ret = (struct ring_counts){};
	for_each_possible_cpu(cpu) {
		const struct ring *ring = per_cpu_ptr(set->rings, cpu);
		const struct ltt_ring_prod *prod = ring->prod;

		ret->recorded += local64_read(&ring->count);
		ret->lost += READ_ONCE(prod->lost_full) + READ_ONCE(prod->lost_size) +
			     READ_ONCE(prod->lost_busy);
		ret->not_sampled += READ_ONCE(prod->not_sampled);
	}
}

bool ring_set_is_crowded(struct ring_set *set)
{
	const struct ring *ring = raw_cpu_ptr(set->rings);
	u64 used;

	if (!(READ_ONCE(ring->cons->state) & LTT_RING_ON))
		return false;
	used = (local64_read(&ring->reserved) - READ_ONCE(ring->cons->consumed)) & LTT_POS_MASK;
	return used > set->desc.data_size / 2;
}
