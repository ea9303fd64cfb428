// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of a ring set. User space maps its pages in the order of the file that abi/ltt_ring.h
 * describes; the kernel maps them once more, each data area twice in a row. Runs in the task that
 * creates or releases a channel.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "ltt_probe.h"
#include "ring.h"

#define MAX_SUBBUF     (1u << 16)
#define MAX_DATA_BYTES (1ull << 36)

static int desc_check(struct ltt_ring_desc *desc)
{
	if (desc->mode > LTT_RING_OVERWRITE || desc->clock > LTT_CLOCK_CYCLES)
		return -EINVAL;
	if (!is_power_of_2(desc->num_subbuf) || desc->num_subbuf > MAX_SUBBUF)
		return -EINVAL;
	if (!is_power_of_2(desc->subbuf_size) || desc->subbuf_size < PAGE_SIZE ||
	    desc->subbuf_size > MAX_DATA_BYTES / desc->num_subbuf)
		return -EINVAL;
	desc->magic = LTT_RING_MAGIC;
	desc->version = LTT_RING_VERSION;
	desc->nr_rings = nr_cpu_ids;
	desc->data_size = desc->num_subbuf * desc->subbuf_size;
	desc->max_record = ltt_ring_max_record(desc->data_size);
	if (ltt_ring_data_bytes(desc) >> PAGE_SHIFT > totalram_pages() / 2)
		return -ENOMEM;
	return 0;
}

static void pages_free(struct page **pages, unsigned long nr)
{
	unsigned long i;

	for (i = 0; pages && i < nr && pages[i]; i++)
		__free_page(pages[i]);
	kvfree(pages);
}

static struct page **pages_new(unsigned long nr, unsigned int nr_rings)
{
	struct page **pages = kvcalloc(nr, sizeof(*pages), GFP_KERNEL_ACCOUNT);
	unsigned long i;

	for (i = 0; pages && i < nr; i++) {
		int cpu = i / (nr / nr_rings);

		pages[i] = alloc_pages_node(cpu < nr_rings ? cpu_to_node(cpu) : NUMA_NO_NODE,
					    GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_RETRY_MAYFAIL |
					    __GFP_NOWARN, 0);
		if (!pages[i] || fatal_signal_pending(current)) {
			pages_free(pages, nr);
			return NULL;
		}
		cond_resched();
	}
	return pages;
}

/* Producer block, data, data again. */
static void *view_new(const struct ring_set *set, unsigned int ring)
{
	unsigned long stride_pages = ltt_ring_stride(&set->desc) >> PAGE_SHIFT;
	unsigned long data_pages = set->desc.data_size >> PAGE_SHIFT;
	struct page **pages = kvmalloc_array(stride_pages + data_pages, sizeof(*pages), GFP_KERNEL);
	struct page **first = set->data_pages + ring * stride_pages;
	void *view;

	if (!pages)
		return NULL;
	memcpy(pages, first, stride_pages * sizeof(*pages));
	memcpy(pages + stride_pages, first + stride_pages - data_pages,
	       data_pages * sizeof(*pages));
	view = vmap(pages, stride_pages + data_pages, VM_MAP, PAGE_KERNEL);
	kvfree(pages);
	return view;
}

static void ring_memory_ring_init(struct ring_set *set, unsigned int cpu, u64 now)
{
	const struct ltt_ring_desc *desc = &set->desc;
	struct ring *ring = per_cpu_ptr(set->rings, cpu);

	ring->set = set;
	ring->prod = set->views[cpu];
	ring->data = set->views[cpu] + ltt_ring_prod_size(desc->num_subbuf);
	ring->cons = ring_set_cons(set, cpu);
	ring->data_mask = desc->data_size - 1;
	ring->subbuf_shift = ilog2(desc->subbuf_size);
	ring->subbuf_mask = LTT_POS_MASK & ~(desc->subbuf_size - 1);
	ring->subbuf_bytes = desc->subbuf_size;
	ring->max_record = desc->max_record;
	ring->clock = desc->clock;
	if (desc->mode == LTT_RING_DISCARD) {
		ring->floor = &ring->cons->consumed;
		ring->limit = desc->data_size - LTT_RING_SLACK;
	} else {
		/* readers of snapshots rely on it: no writer is further ahead of `pub` */
		ring->floor = &ring->published;
		ring->limit = desc->max_record;
	}
	ring->published = now >> LTT_TS_BITS << LTT_PUB_EPOCH_SHIFT;
	local64_set(&ring->reserved, ring->published);
	local64_set(&ring->ts, now);
	ring->prod->last_ts = now;
	ring->prod->region[0].pub = ring->published;
	ring->prod->pub = ring->published;
}

static void ring_memory_wake_readers(struct irq_work *work)
{
	wake_up_interruptible_all(&container_of(work, struct ring_set, doorbell)->sleepers);
}

static int ring_memory_ring_set_map(struct ring_set *set)
{
	/* one time for all rings */
	u64 now = set->desc.clock == LTT_CLOCK_CYCLES ? get_cycles() : ktime_get_mono_fast_ns();
	unsigned int cpu;

	set->ctl = vmap(set->ctl_pages, set->nr_ctl_pages, VM_MAP, PAGE_KERNEL);
	if (!set->ctl)
		return -ENOMEM;
	memcpy(set->ctl, &set->desc, sizeof(set->desc));
	for (cpu = 0; cpu < set->desc.nr_rings; cpu++) {
		set->views[cpu] = view_new(set, cpu);
		if (!set->views[cpu])
			return -ENOMEM;
		if (cpu_possible(cpu))
			ring_memory_ring_init(set, cpu, now);
	}
	return 0;
}

static void ring_set_free(struct ring_set *set)
{
	unsigned int cpu;

	irq_work_sync(&set->doorbell);
	tracker_fini(&set->tracker);
	contexts_fini(&set->contexts);
	classes_fini(&set->classes);
	for (cpu = 0; set->views && cpu < set->desc.nr_rings; cpu++)
		vunmap(set->views[cpu]);
	vunmap(set->ctl);
	kvfree(set->views);
	free_percpu(set->rings);
	pages_free(set->data_pages, set->nr_data_pages);
	pages_free(set->ctl_pages, set->nr_ctl_pages);
	kfree(set);
}

static int ring_set_alloc(struct ring_set *set)
{
	set->nr_data_pages = ltt_ring_data_bytes(&set->desc) >> PAGE_SHIFT;
	set->nr_ctl_pages = ltt_ring_ctl_bytes(&set->desc) >> PAGE_SHIFT;
	set->rings = alloc_percpu(struct ring);
	set->views = kvcalloc(set->desc.nr_rings, sizeof(*set->views), GFP_KERNEL);
	set->data_pages = pages_new(set->nr_data_pages, set->desc.nr_rings);
	set->ctl_pages = pages_new(set->nr_ctl_pages, 1);
	if (!set->rings || !set->views || !set->data_pages || !set->ctl_pages)
		return -ENOMEM;
	return ring_memory_ring_set_map(set);
}

struct ring_set *ring_set_new(const struct ltt_ring_desc *desc)
{
	struct ring_set *set = kzalloc(sizeof(*set), GFP_KERNEL);
	int ret;

	BUILD_BUG_ON(PAGE_SIZE != LTT_RING_PAGE);
	if (!set)
		return ERR_PTR(-ENOMEM);
	kref_init(&set->ref);
	classes_init(&set->classes);
	claim_init(&set->consumer);
	init_waitqueue_head(&set->sleepers);
	init_irq_work(&set->doorbell, ring_memory_wake_readers);
	set->desc = *desc;
	ret = desc_check(&set->desc);
	if (!ret)
		ret = ring_set_alloc(set);
	if (ret) {
		ring_set_free(set);
		return ERR_PTR(ret);
	}
	return set;
}

void ring_set_get(struct ring_set *set)
{
	kref_get(&set->ref);
}

static void ring_memory_release(struct kref *ref)
{
	ring_set_free(container_of(ref, struct ring_set, ref));
}

void ring_set_put(struct ring_set *set)
{
	kref_put(&set->ref, ring_memory_release);
}

void ring_set_switch(struct ring_set *set, bool on)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		WRITE_ONCE(ring_set_cons(set, cpu)->state, on ? LTT_RING_ON : 0);
}

static bool ring_has_data(const struct ring *ring)
{
	u64 ahead = READ_ONCE(ring->prod->pub) ^ READ_ONCE(ring->cons->consumed);

	if (READ_ONCE(ring->cons->state) & LTT_RING_WAKE)
		return ahead & LTT_POS_MASK;
	return ahead & ring->subbuf_mask;
}

bool ring_set_has_data(struct ring_set *set)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (ring_has_data(per_cpu_ptr(set->rings, cpu)))
			return true;
	return false;
}
