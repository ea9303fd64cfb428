// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fallback.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "context.h"
#include "ltt_timens.h"
#include "rseq.h"
#include "section.h"
#include "sys.h"

/* If all rings are locked by threads that are not running, yield to them this often. */
#define ROUNDS 4

/* The ring that this thread wrote last: each thread ends up with a ring of its own. */
static __thread uint32_t settled __attribute__((tls_model("initial-exec")));

uint64_t ring_clock_ahead_ns;
static int knows_namespace;
static int stacks_hidden;

static long ring_fallback_read_link(const char *path, char buf[64])
{
	memset(buf, 0, 64);
	return ring_syscall(SYS_readlinkat, AT_FDCWD, (long)path, (long)buf, 63);
}

/* The machine's own namespace has no offsets, and this number on each kernel. */
#define FIRST_NAMESPACE "time:[4026531834]"

/* The offsets that can be read are those of children's namespace: a process that has unshared it
 * stays in its old one. */
static int has_offsets(void)
{
	char own[64], childrens[64];

	return ring_fallback_read_link("/proc/self/ns/time", own) > 0 &&
	       strcmp(own, FIRST_NAMESPACE) != 0 &&
	       ring_fallback_read_link("/proc/self/ns/time_for_children", childrens) > 0 &&
	       strcmp(own, childrens) == 0;
}

static void find_offset(void)
{
	char text[128] = "";
	long fd;

	if (!has_offsets())
		return;
	fd = ring_syscall(SYS_openat, AT_FDCWD, (long)LTT_TIMENS_OFFSETS, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (ring_syscall(SYS_read, fd, (long)text, sizeof(text) - 1, 0) > 0)
		__atomic_store_n(&ring_clock_ahead_ns, ltt_timens_monotonic(text),
				 __ATOMIC_RELAXED);
	ring_syscall(SYS_close, fd, 0, 0, 0);
}

void ring_clock_find_namespace(void)
{
	if (__atomic_load_n(&knows_namespace, __ATOMIC_ACQUIRE))
		return;
	find_offset();
	__atomic_store_n(&knows_namespace, 1, __ATOMIC_RELEASE);
}

void ring_clock_find_namespace_again(void)
{
	if (__atomic_load_n(&knows_namespace, __ATOMIC_ACQUIRE))
		find_offset();
}

uint64_t ring_clock_read(uint32_t clock)
{
	return clock == LTT_CLOCK_CYCLES ? section_read_cycles() : ring_clock_monotonic();
}

/* One writer holds the ring: all words but `consumed` stand still. */
struct place {
	const struct ring_set *set;
	struct ltt_ring_prod *prod;
	struct ltt_ring_region *region;
	const struct ltt_ring_cons *cons;
	uint8_t *data;
	uint64_t pub;
};

static uint64_t clock_tick(const struct place *place)
{
	uint64_t last = place->prod->last_ts;
	uint64_t ts = ring_clock_read(place->set->clock) +
		      __atomic_load_n(&place->cons->clock_add, __ATOMIC_RELAXED);

	return ts < last ? last : ts;
}

static int needs_extended(const struct place *place, uint32_t id, uint64_t ts)
{
	uint64_t steps = ts - place->prod->last_ts;
	uint64_t epoch = (ts >> LTT_TS_BITS) ^ (place->pub >> LTT_PUB_EPOCH_SHIFT);

	return id > UINT16_MAX || steps >> SECTION_ALIAS_BITS || (epoch & 0xffffff);
}

/* Return: bytes of the header. */
static uint32_t ring_fallback_put_header(const struct place *place, uint8_t *to, uint32_t id,
					 uint64_t ts)
{
	uint32_t word = (uint32_t)ts << 5;
	uint16_t short_id = (uint16_t)id;

	if (needs_extended(place, id, ts)) {
		to[0] = LTT_ID_EXTENDED;
		memcpy(to + 1, &id, sizeof(id));
		memcpy(to + 5, &ts, sizeof(ts));
		return LTT_HDR_EXTENDED;
	}
	word |= id <= LTT_ID_COMPACT_MAX ? id : LTT_ID_WIDE;
	memcpy(to, &word, sizeof(word));
	if (id <= LTT_ID_COMPACT_MAX)
		return LTT_HDR_COMPACT;
	memcpy(to + 4, &short_id, sizeof(short_id));
	return LTT_HDR_WIDE;
}

static int is_full(const struct place *place, size_t len)
{
	uint64_t consumed = __atomic_load_n(&place->cons->consumed, __ATOMIC_ACQUIRE);
	uint64_t used = place->pub + LTT_HDR_EXTENDED + len - consumed;

	return (used & LTT_POS_MASK) > place->set->limit;
}

/* Count, region entry, and then the one store that makes the record exist. Return: RES_STEPPED and
 * RES_CROSSED. */
static uint32_t ring_fallback_publish(const struct place *place, uint64_t bytes, uint64_t ts)
{
	struct ltt_ring_prod *prod = place->prod;
	uint64_t parity = ~place->pub & LTT_PUB_PARITY;
	uint64_t pub = ((place->pub + bytes) & LTT_POS_MASK) | parity |
		       ts >> LTT_TS_BITS << LTT_PUB_EPOCH_SHIFT;
	uint64_t count = prod->count[!parity] + 1;
	uint64_t passed = (pub ^ place->pub) & LTT_POS_MASK;
	uint32_t res = passed & place->set->step_mask ? RES_STEPPED : 0;

	prod->count[!!parity] = count;
	if (passed & place->set->subbuf_mask) {
		uint64_t subbuf = (pub & place->set->data_mask) >> place->set->subbuf_shift;

		place->region[subbuf].pub = pub;
		place->region[subbuf].count = count;
		/* A snapshot may rely on `pub` being at most so far behind. */
		ring_full_fence();
		res |= RES_CROSSED;
	}
	__atomic_store_n(&prod->pub, pub, __ATOMIC_RELEASE);
	return res;
}

static uint32_t write_record(const struct place *place, uint32_t id, const void *payload,
			     size_t len)
{
	uint8_t *to = place->data + (place->pub & place->set->data_mask);
	uint64_t ts = clock_tick(place);
	uint32_t header = ring_fallback_put_header(place, to, id, ts);

	/* Before `pub`, whose store releases it. */
	__atomic_store_n(&place->prod->last_ts, ts, __ATOMIC_RELAXED);
	memcpy(to + header, payload, len);
	return ring_fallback_publish(place, header + len, ts);
}

static uint32_t record_into(const struct ring_set *set, uint32_t ring, uint32_t id,
			    const void *payload, size_t len)
{
	struct place place = {
		.set = set,
		.prod = ring_prod(set, ring),
		.region = ring_regions(set, ring),
		.cons = ring_cons(set, ring),
		.data = ring_data(set, ring),
	};
	uint32_t state = __atomic_load_n(&place.cons->state, __ATOMIC_RELAXED);

	if (!(state & LTT_RING_ON))
		return 0;
	place.pub = place.prod->pub;
	if (is_full(&place, len)) {
		if (set->blocking_us)
			return RES_FULL;
		__atomic_add_fetch(&place.prod->lost_full, 1, __ATOMIC_RELAXED);
		return RES_REFUSED;
	}
	return (state & (LTT_RING_ON | LTT_RING_WAKE)) | ring << RES_RING_SHIFT |
	       write_record(&place, id, payload, len);
}

/*
 * A lock is the mark of its owner: the thread pointer, a frame on the owner's stack, and the parity
 * of `pub` when it was locked. A signal handler that interrupts an event may leave by siglongjmp(),
 * and a thread may be cancelled there: then the lock would stay. If a thread finds its own thread
 * pointer, with a frame that is not above its own, that frame has ended: the stack grows downwards,
 * and the frame of a handler is below those that it interrupted.
 *
 * That is known only if no other task has this thread pointer: in a child of an unreported fork,
 * with which the locks are shared, marks are anonymous, and after ring_stop_sequences() no lock is
 * taken over. A handler on a stack of its own can't compare frames.
 */
#define MARK_PARITY 1u
#define MARK_ANONYMOUS 2u /* never taken over */
#define MARK_FRAME_SHIFT 1
#define MARK_FRAME_BITS 21
#define MARK_THREAD_SHIFT (MARK_FRAME_SHIFT + MARK_FRAME_BITS)
#define MARK_FRAME_UNIT_BITS 8	/* a signal's frame is larger */
#define MARK_REACH (1u << 15)	/* in these units; frames that far are of another stack */
#define MARK_THREAD_UNIT_BITS 6 /* a control block is larger */
#define MARK_ADDRESS_BITS (64 - MARK_THREAD_SHIFT + MARK_THREAD_UNIT_BITS)

static uint64_t parity_of(uint64_t pub)
{
	return pub & LTT_PUB_PARITY ? MARK_PARITY : 0;
}

uint64_t ring_mark(const void *frame)
{
	uint64_t thread = (uint64_t)(uintptr_t)section_thread_pointer();
	uint64_t units = (uint64_t)(uintptr_t)frame >> MARK_FRAME_UNIT_BITS;

	if (thread >> MARK_ADDRESS_BITS)
		return 0;
	return thread >> MARK_THREAD_UNIT_BITS << MARK_THREAD_SHIFT |
	       (units & ((1u << MARK_FRAME_BITS) - 1)) << MARK_FRAME_SHIFT;
}

/* Without the parity. @frame: of the caller. */
static uint64_t mark_of(const struct ring_set *set, const void *frame)
{
	uint64_t mark = set->own && *set->own ? ring_mark(frame) : 0;

	return mark ? mark : MARK_ANONYMOUS;
}

uint32_t ring_mark_hash(uint64_t mark)
{
	return (uint32_t)((mark >> MARK_THREAD_SHIFT) * 0x9e3779b97f4a7c15u >> 32);
}

bool ring_mark_is_same_thread(uint64_t a, uint64_t b)
{
	return a >> MARK_THREAD_SHIFT == b >> MARK_THREAD_SHIFT;
}

void ring_stacks_hidden(void)
{
	__atomic_store_n(&stacks_hidden, 1, __ATOMIC_RELAXED);
}

int ring_is_on_other_stack(void)
{
	stack_t stack;

	return __atomic_load_n(&stacks_hidden, __ATOMIC_RELAXED) ||
	       !context_may_call(CONTEXT_CALLS_FALLBACK) ||
	       ring_syscall(SYS_sigaltstack, 0, (long)&stack, 0, 0) != 0 ||
	       (stack.ss_flags & SS_ONSTACK);
}

bool ring_mark_has_ended(uint64_t owner, uint64_t mark)
{
	uint64_t above = (owner - mark) >> MARK_FRAME_SHIFT & ((1u << MARK_FRAME_BITS) - 1);
	uint64_t below = -above & ((1u << MARK_FRAME_BITS) - 1);

	return mark >> MARK_THREAD_SHIFT && ring_mark_is_same_thread(owner, mark) &&
	       below <= MARK_REACH && !ring_sequences_stopped() && !ring_is_on_other_stack();
}

/* The owner's record is in the ring if it has changed the parity; else it is lost. */
static int take_over(const struct ring_set *set, uint32_t ring, uint64_t owner, uint64_t mark)
{
	struct ltt_ring_prod *prod = ring_prod(set, ring);
	uint64_t *lock = &set->lock[ring];
	uint64_t now = mark | parity_of(prod->pub);

	if (!__atomic_compare_exchange_n(lock, &owner, now, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return 0;
	if ((owner & MARK_PARITY) == (now & MARK_PARITY) &&
	    __atomic_load_n(&ring_cons(set, ring)->state, __ATOMIC_RELAXED) & LTT_RING_ON)
		__atomic_add_fetch(&prod->lost_busy, 1, __ATOMIC_RELAXED);
	return 1;
}

static int ring_fallback_try_lock(const struct ring_set *set, uint32_t ring, uint64_t mark)
{
	const struct ltt_ring_prod *prod = ring_prod(set, ring);
	uint64_t *lock = &set->lock[ring];
	uint64_t owner = __atomic_load_n(lock, __ATOMIC_RELAXED), parity;

	if (owner)
		return ring_mark_has_ended(owner, mark) && take_over(set, ring, owner, mark);
	parity = parity_of(__atomic_load_n(&prod->pub, __ATOMIC_RELAXED));
	if (!__atomic_compare_exchange_n(lock, &owner, mark | parity, 0, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return 0;
	if (unlikely(parity_of(prod->pub) != parity)) /* another thread was in between */
		__atomic_store_n(lock, mark | (parity ^ MARK_PARITY), __ATOMIC_RELAXED);
	return 1;
}

/* Return: the ring that is locked now, or nr_rings. */
static uint32_t lock_any(const struct ring_set *set, uint64_t mark)
{
	uint32_t ring = settled < set->nr_rings ? settled : 0;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t tries = 0; tries < set->nr_rings; tries++) {
			if (ring_fallback_try_lock(set, ring, mark))
				return ring;
			ring = ring + 1 < set->nr_rings ? ring + 1 : 0;
		}
		if (context_may_call(CONTEXT_CALLS_FALLBACK))
			ring_syscall(SYS_sched_yield, 0, 0, 0, 0);
	}
	return set->nr_rings;
}

uint32_t ring_fallback_record(const struct binding *binding, const void *payload, size_t len,
			      uint32_t preparation)
{
	const struct ring_set *set = binding->set;

	if (!set->exclusive || __atomic_load_n(&set->disowned, __ATOMIC_ACQUIRE))
		return RES_ELSEWHERE;
	if (binding->preparation != preparation)
		return RES_PREPARE;
	if (len > set->max_payload)
		return RES_TOO_LONG;
	uint32_t ring = lock_any(set, mark_of(set, __builtin_frame_address(0)));
	if (ring == set->nr_rings)
		return RES_ELSEWHERE;
	settled = ring;
	uint32_t res = record_into(set, ring, binding->id, payload, len);
	__atomic_store_n(&set->lock[ring], 0, __ATOMIC_RELEASE);
	return res;
}
