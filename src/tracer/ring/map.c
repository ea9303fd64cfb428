// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Mapping a ring set. Every number of the descriptor is checked before it is
 * used, against the others and against the sizes of the files.
 */
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ring.h"
#include "place.h"
#include "populate.h"
#include "rseq.h"
#include "section.h"
#include "set.h"
#include "sys.h"
#include "tracer/base/numbers.h"
#include "wait.h"

#define MAX_SUBBUFS (1u << 20)

static int is_power_of_two(uint64_t value)
{
	return value && !(value & (value - 1));
}

static int desc_is_sane(const struct ltt_ring_desc *desc)
{
	if (desc->magic != LTT_RING_MAGIC ||
	    desc->version != (desc->gap ? LTT_RING_VERSION_GAP : LTT_RING_VERSION))
		return 0;
	if (desc->mode > LTT_RING_OVERWRITE || desc->clock > LTT_CLOCK_CYCLES)
		return 0;
	if (desc->clock == LTT_CLOCK_CYCLES && !SECTION_HAS_CYCLES)
		return 0;
	if (!desc->nr_rings || desc->nr_rings > RING_MAX_RINGS)
		return 0;
	if (!is_power_of_two(desc->num_subbuf) || desc->num_subbuf > MAX_SUBBUFS)
		return 0;
	if (!is_power_of_two(desc->subbuf_size) || desc->subbuf_size < LTT_RING_PAGE ||
	    desc->subbuf_size >= 1ull << 37)
		return 0;
	if (desc->data_size != desc->num_subbuf * desc->subbuf_size ||
	    desc->data_size >= 1ull << 37)
		return 0;
	if (desc->gap && (desc->mode != LTT_RING_DISCARD || desc->gap > desc->data_size / 2))
		return 0;
	return desc->max_record > LTT_HDR_EXTENDED &&
	       desc->max_record <= ltt_ring_max_record(desc->data_size);
}

static uint64_t file_size(int fd)
{
	struct stat st;

	/* not libc's fstat(), which libltt defines for the agent */
	return ring_syscall(NR_FSTAT, fd, (long)&st, 0, 0) == 0 && st.st_size > 0 ?
		       (uint64_t)st.st_size :
		       0;
}

static int read_desc(int fd, struct ltt_ring_desc *ret_desc)
{
	ssize_t got = pread(fd, ret_desc, sizeof(*ret_desc), 0);

	if (got < 0)
		return -errno;
	return got == sizeof(*ret_desc) ? 0 : -EINVAL;
}

static int ring_map_at(void *where, uint64_t bytes, int prot, int fd, uint64_t offset)
{
	void *got = mmap(where, bytes, prot, MAP_SHARED | MAP_FIXED, fd, (off_t)offset);

	return got == MAP_FAILED ? -errno : 0;
}

static int map_words(void *where, uint64_t bytes, int fd, uint64_t offset)
{
	return ring_map_at(where, bytes, PROT_READ | PROT_WRITE, fd, offset);
}

static uint64_t region_back(const struct ltt_ring_desc *desc)
{
	uint64_t words = ltt_ring_prod_size(desc->num_subbuf);

	return words > LTT_RING_PAGE ? words + LTT_RING_PAGE : 0;
}

/* From the start of a ring's mapping to that of its data. */
static uint64_t before_data(const struct ltt_ring_desc *desc)
{
	uint64_t whole = region_back(desc) ? ltt_ring_prod_size(desc->num_subbuf) : 0;

	return whole + 2 * LTT_RING_PAGE;
}

static uint64_t stride(const struct ltt_ring_desc *desc)
{
	uint64_t bytes = before_data(desc) + 2 * desc->data_size;

	return ltt_ring_is_large(desc) ? bytes + ltt_ring_large_gap(bytes, ltt_ring_stride(desc)) :
					 bytes;
}

static uint64_t range_bytes(const struct ltt_ring_desc *desc)
{
	return LTT_RING_PAGE + desc->nr_rings * stride(desc) +
	       (ltt_ring_is_large(desc) ? LTT_RING_LARGE_PAGE : 0);
}

/* The files' pages of one ring, and the place of the next page of each. */
struct mapper {
	uint8_t *where;
	int data_fd, ctl_fd;
	uint64_t data_at, ctl_at;
	int ret;
};

static void map_next(struct mapper *m, uint64_t offset, uint64_t bytes)
{
	if (!m->ret)
		m->ret = map_words(m->where, bytes, m->data_fd, m->data_at + offset);
	m->where += bytes;
}

/* As set.h draws it. */
static int map_ring(const struct ltt_ring_desc *desc, struct mapper *m)
{
	uint64_t words = ltt_ring_prod_size(desc->num_subbuf);

	if (words > LTT_RING_PAGE)
		map_next(m, 0, words);
	if (!m->ret)
		m->ret = ring_map_at(m->where, LTT_RING_PAGE, PROT_READ, m->ctl_fd, m->ctl_at);
	m->where += LTT_RING_PAGE;
	if (words > LTT_RING_PAGE) {
		map_next(m, 0, LTT_RING_PAGE);
		map_next(m, words, desc->data_size);
	} else {
		map_next(m, 0, words + desc->data_size);
	}
	map_next(m, words, desc->data_size);
	m->data_at += ltt_ring_stride(desc);
	m->ctl_at += sizeof(struct ltt_ring_cons);
	return m->ret;
}

static int map_rings(struct ring_set *set, const struct ltt_ring_desc *desc, int data_fd,
		     int ctl_fd)
{
	struct mapper m = {
		.data_fd = data_fd,
		.ctl_fd = ctl_fd,
		.ctl_at = LTT_RING_CONS_OFFSET,
	};
	uint8_t *first = (uint8_t *)set + LTT_RING_PAGE;
	int ret = 0;

	if (ltt_ring_is_large(desc))
		first += ltt_ring_large_gap((uint64_t)(uintptr_t)(first + before_data(desc)),
					    ltt_ring_prod_size(desc->num_subbuf));
	set->base = first + before_data(desc) - LTT_RING_PAGE;
	for (uint32_t ring = 0; ring < desc->nr_rings && !ret; ring++) {
		m.where = first + ring * stride(desc);
		ret = map_ring(desc, &m);
	}
	return ret;
}

/* A record that is longer than a sub-buffer could pass over one, and leave in its region entry the
 * values of an abandoned attempt. */
static uint32_t largest_record(const struct ltt_ring_desc *desc)
{
	return desc->max_record < desc->subbuf_size ? desc->max_record :
						      (uint32_t)desc->subbuf_size;
}

static void set_geometry(struct ring_set *set, const struct ltt_ring_desc *desc)
{
	set->nr_rings = desc->nr_rings;
	set->clock = desc->clock;
	set->max_payload = largest_record(desc) - LTT_HDR_EXTENDED;
	set->region_back = region_back(desc);
	set->stride = stride(desc);
	set->data_mask = desc->data_size - 1;
	set->limit =
		desc->mode == LTT_RING_OVERWRITE ?
			UINT64_MAX :
			desc->data_size - LTT_RING_SLACK - desc->gap;
	set->subbuf_mask = ~(desc->subbuf_size - 1);
	set->step_mask = set->subbuf_mask | ~(uint64_t)(POPULATE_STEP - 1);
	__atomic_store_n(&ring_clock_is_given, desc->clock != LTT_CLOCK_CYCLES, __ATOMIC_RELAXED);
	set->subbuf_shift = (uint32_t)__builtin_ctzll(desc->subbuf_size);
}

static uint32_t why_elsewhere(const struct ltt_ring_desc *desc, int exclusive)
{
	if (exclusive)
		return RES_ELSEWHERE | RES_EXCLUSIVE;
	return RES_ELSEWHERE | (desc->clock == LTT_CLOCK_CYCLES ? 0 : RES_GIVEN);
}

bool ring_clock_is_given;

struct binding ring_binding(struct ring_set *set, uint32_t id, uint32_t session)
{
	bool none = set->exclusive || ring_sequences_stopped() ||
		    __atomic_load_n(&set->disowned, __ATOMIC_RELAXED);
	uint32_t nr = none ? 0 : set->nr_rings;
	uint32_t nr_cycles = set->clock == LTT_CLOCK_CYCLES ? nr : 0;

	return (struct binding){
		.nr_cycles = nr_cycles,
		.nr_given = set->clock == LTT_CLOCK_CYCLES ? 0 : nr,
		.id = id,
		.session = session,
		/* Ids that need a longer header never take the fast path. */
		.payload_end = id <= LTT_ID_COMPACT_MAX ? set->max_payload + 1 : 0,
		.nr_words = id <= LTT_ID_COMPACT_MAX && set->max_payload >= 8 ? nr_cycles : 0,
		.stride = set->stride,
		.base = set->base,
		.data_mask = set->data_mask,
		.set = set,
	};
}

/* The paths for plain records leave it alone. */
struct binding ring_binding_prepared(struct ring_set *set, uint32_t id, uint32_t session,
				     uint32_t preparation)
{
	struct binding binding = ring_binding(set, id, session);

	if (preparation) {
		binding.preparation = preparation;
		binding.payload_end = 0;
		binding.nr_words = 0;
	}
	return binding;
}

/* Pages, as the set is in pages itself: there a leak checker finds no pointer to allocated
 * memory. Shared with a child that the program makes by a system call and that records into the
 * same set: libltt does not notice it, and so does not disown the set. */
static uint64_t *map_locks(uint32_t nr)
{
	void *pages = mmap(NULL, nr * sizeof(uint64_t), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return pages == MAP_FAILED ? NULL : pages;
}

/* An emulator may accept any advice and heed none. */
static int is_wiped_on_fork(void *page)
{
	return madvise(page, LTT_RING_PAGE, -1) != 0 &&
	       madvise(page, LTT_RING_PAGE, MADV_WIPEONFORK) == 0;
}

const uint8_t *ring_mark_process(void)
{
	static uint8_t *mark;

	if (!mark) {
		void *page = mmap(NULL, LTT_RING_PAGE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (page == MAP_FAILED)
			return NULL;
		if (!is_wiped_on_fork(page)) {
			munmap(page, LTT_RING_PAGE);
			return NULL;
		}
		mark = page;
	}
	*mark = 1;
	return mark;
}

static int set_fill(struct ring_set *set, const struct ltt_ring_desc *desc, int data_fd, int ctl_fd,
		    int exclusive)
{
	set_geometry(set, desc);
	set->exclusive = exclusive != 0;
	if (desc->mode == LTT_RING_DISCARD && ring_wait_is_allowed())
		set->blocking_us = desc->blocking_us;
	set->elsewhere = why_elsewhere(desc, exclusive);
	if (exclusive) {
		set->lock = map_locks(desc->nr_rings);
		if (!set->lock)
			return -ENOMEM;
		set->own = ring_mark_process();
	}
	return map_rings(set, desc, data_fd, ctl_fd);
}

int ring_set_map(int data_fd, int ctl_fd, uint32_t *doorbell, int exclusive,
		 struct ring_set **ret_set)
{
	/* The daemon owns it, but a copy can't change between check and use. */
	struct ltt_ring_desc desc;
	size_t bytes;
	int ret = read_desc(ctl_fd, &desc);

	if (ret)
		return ret;
	if (!desc_is_sane(&desc) || file_size(ctl_fd) < ltt_ring_ctl_bytes(&desc) ||
	    file_size(data_fd) != ltt_ring_data_bytes(&desc))
		return -EINVAL;
	ring_init();
	if ((size_t)range_bytes(&desc) != range_bytes(&desc)) /* in a program of 32 bits */
		return -EFBIG;
	struct ring_set *set = ring_place_take((size_t)range_bytes(&desc), &bytes);
	if (!set)
		return -ENOMEM;
	set->bytes = bytes;
	set->doorbell = doorbell;
	if (!desc.gap) /* pages that were given back are to stay away until they are needed */
		set->populating = populating_new(desc.nr_rings);
	ret = set_fill(set, &desc, data_fd, ctl_fd, exclusive);
	if (ret) {
		ring_set_unmap(set);
		return ret;
	}
	*ret_set = set;
	return 0;
}

void ring_set_doorbell(struct ring_set *set, uint32_t *doorbell)
{
	__atomic_store_n(&set->doorbell, doorbell, __ATOMIC_RELEASE);
}

void ring_set_ring(const struct ring_set *set)
{
	ring_doorbell(set->doorbell);
}

/* A child that no hook reports has no ring set of its own, either. */
static bool is_of_parent(const struct ring_set *set)
{
	return __atomic_load_n(&set->disowned, __ATOMIC_ACQUIRE) || (set->own && !*set->own);
}

bool ring_set_facts(const struct ring_set *set, struct ring_facts *ret)
{
	const uint64_t size = 1ull << set->subbuf_shift;

	ret->nr_rings = set->nr_rings;
	ret->num_subbuf = (uint32_t)((set->data_mask + 1) / size);
	ret->subbuf_size = size;
	ret->overwrite = set->limit > LTT_POS_MASK;
	ret->on = __atomic_load_n(&ring_cons(set, 0)->state, __ATOMIC_RELAXED) & LTT_RING_ON;
	return !is_of_parent(set);
}

/* The fence pairs with the consumer's, between its store to `waiting` and its last load of the
 * words. Return: whether the ring has new events. */
static bool switch_ring(const struct ring_set *set, uint32_t ring, bool *asleep)
{
	const struct ltt_ring_cons *cons = ring_cons(set, ring);
	struct ltt_ring_prod *prod = ring_prod(set, ring);
	uint64_t pub = __atomic_load_n(&prod->pub, __ATOMIC_RELAXED) & LTT_POS_MASK;

	if (pub == __atomic_load_n(&cons->consumed, __ATOMIC_RELAXED))
		return false;
	__atomic_add_fetch(&prod->switches, 1, __ATOMIC_RELEASE);
	ring_full_fence();
	*asleep = *asleep || __atomic_load_n(&cons->waiting, __ATOMIC_RELAXED) ||
		  __atomic_load_n(&cons->state, __ATOMIC_RELAXED) & LTT_RING_WAKE;
	return true;
}

bool ring_set_switch(const struct ring_set *set, bool all)
{
	uint32_t cpu = ring_rseq_cpu(), nr = set->nr_rings;
	bool any = false, asleep = false;

	if (is_of_parent(set) || set->limit > LTT_POS_MASK) /* snapshots alone are written */
		return false;
	all = all || cpu >= nr || set->exclusive; /* its rings are not chosen by the CPU */
	for (uint32_t ring = all ? 0 : cpu; ring < (all ? nr : cpu + 1); ring++)
		any |= switch_ring(set, ring, &asleep);
	if (asleep)
		ring_doorbell(__atomic_load_n(&set->doorbell, __ATOMIC_ACQUIRE));
	return any;
}

void ring_set_unmap(struct ring_set *set)
{
	if (!set)
		return;
	if (set->lock)
		munmap(set->lock, set->nr_rings * sizeof(*set->lock));
	populating_free(set->populating, set->nr_rings);
	ring_place_give(set, set->bytes);
}

void ring_set_disown(struct ring_set *set)
{
	__atomic_store_n(&set->elsewhere, RES_ELSEWHERE | RES_EXCLUSIVE, __ATOMIC_RELAXED);
	__atomic_store_n(&set->disowned, 1, __ATOMIC_RELEASE);
}

size_t ring_set_max_payload(const struct ring_set *set)
{
	return set->max_payload;
}
