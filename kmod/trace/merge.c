// SPDX-License-Identifier: GPL-2.0-only
#include "merge.h"

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>

#include "cursor.h"

/**
 * struct merge
 * @cursors: @nr, of all possible CPUs of all sets.
 * @heap: @nr_heap cursors with a record of this pass, the earliest one on top; if @is_built.
 * @current_one: its record was handed out, and the cursor is still there.
 * @bound: of the pass. @waiting: CPUs that may have a record under way from before it.
 */
struct merge {
	enum merge_use use;
	struct ring_set **sets;
	u32 nr_sets, nr, nr_heap;
	struct cursor *cursors;
	struct cursor **heap;
	bool is_built;
	struct cursor *current_one;
	u64 bound;
	cpumask_var_t waiting;
};

/* --- the end of a pass ----------------------------------------------------------- */

/* In an interrupt of each CPU: only a record that was interrupted itself is still under way; or it
 * is complete, and the interrupted writer is about to publish it. */
static void merge_check_cpu(void *data)
{
	struct merge *merge = data;
	u32 i;

	for (i = 0; i < merge->nr_sets; i++) {
		struct ring *ring = this_cpu_ptr(merge->sets[i]->rings);

		if (READ_ONCE(ring->nest) || local64_read(&ring->reserved) != ring->published)
			return;
	}
	cpumask_clear_cpu(smp_processor_id(), merge->waiting);
}

/* Whatever is recorded from now on is later than the bound, and all else is published. */
static void merge_take_bound(struct merge *merge)
{
	cpus_read_lock();
	merge->bound = ring_set_now(merge->sets[0]);
	cpumask_copy(merge->waiting, cpu_online_mask);
	while (!cpumask_empty(merge->waiting)) {
		on_each_cpu_mask(merge->waiting, merge_check_cpu, merge, true);
		cond_resched();
	}
	cpus_read_unlock();
}

/* --- the order --------------------------------------------------------------------- */

static bool is_earlier(const struct cursor *a, const struct cursor *b)
{
	return a->head.time != b->head.time ? a->head.time < b->head.time : a < b;
}

/* Move the cursor at @i down to where it belongs. */
static void merge_sift(struct merge *merge, u32 i)
{
	struct cursor **heap = merge->heap, *moved = heap[i];
	u32 below;

	while ((below = 2 * i + 1) < merge->nr_heap) {
		if (below + 1 < merge->nr_heap && is_earlier(heap[below + 1], heap[below]))
			below++;
		if (!is_earlier(heap[below], moved))
			break;
		heap[i] = heap[below];
		i = below;
	}
	heap[i] = moved;
}

/* Return: 1: the cursor has a record of this pass; 0; -ENOMEM. */
static int merge_load(const struct merge *merge, struct cursor *cursor)
{
	int ret = cursor_load(cursor);

	return ret > 0 ? cursor->head.time <= merge->bound : ret;
}

static int merge_build(struct merge *merge)
{
	u32 i;

	merge->nr_heap = 0;
	for (i = 0; i < merge->nr; i++) {
		int ret = merge_load(merge, &merge->cursors[i]);

		if (ret < 0)
			return ret;
		if (ret)
			merge->heap[merge->nr_heap++] = &merge->cursors[i];
	}
	for (i = merge->nr_heap / 2; i--;)
		merge_sift(merge, i);
	merge->is_built = true;
	return 0;
}

/* Behind the record that was handed out. */
static int merge_step(struct merge *merge)
{
	struct cursor *cursor = merge->current_one;
	int ret;

	merge->current_one = NULL;
	cursor_step(cursor);
	ret = merge_load(merge, cursor);
	if (ret < 0) {
		merge->is_built = false;
		return ret;
	}
	if (!ret)
		merge->heap[0] = merge->heap[--merge->nr_heap];
	if (merge->nr_heap)
		merge_sift(merge, 0);
	return 0;
}

int merge_next(struct merge *merge, struct merged *ret_merged)
{
	struct cursor *first;
	int ret = 0;

	if (merge->current_one)
		ret = merge_step(merge);
	if (!ret && !merge->is_built)
		ret = merge_build(merge);
	if (ret)
		return ret;
	if (!merge->nr_heap) {
		merge_release(merge);
		return 0;
	}
	first = merge->heap[0];
	merge->current_one = first;
	*ret_merged = (struct merged){ first->head, first->set, first->cpu };
	return 1;
}

void merge_put_back(struct merge *merge)
{
	merge->current_one = NULL;
}

void merge_release(struct merge *merge)
{
	u32 i;

	if (merge->current_one) {
		cursor_step(merge->current_one);
		merge->current_one = NULL;
		merge->is_built = false;
	}
	for (i = 0; i < merge->nr; i++)
		cursor_release(&merge->cursors[i]);
}

void merge_begin(struct merge *merge)
{
	merge_release(merge);
	merge->is_built = false;
	merge_take_bound(merge);
}

void merge_losses(const struct merge *merge, struct merge_losses *ret)
{
	u32 i;

	*ret = (struct merge_losses){};
	for (i = 0; i < merge->nr; i++) {
		const struct ltt_ring_prod *prod = merge->cursors[i].ring->prod;

		ret->discarded += READ_ONCE(prod->lost_full) + READ_ONCE(prod->lost_size) +
				  READ_ONCE(prod->lost_busy);
		ret->overwritten += READ_ONCE(merge->cursors[i].missed);
	}
}

/* --- merges --------------------------------------------------------------------------- */

void merge_free(struct merge *merge)
{
	u32 i;

	if (IS_ERR_OR_NULL(merge))
		return;
	for (i = 0; merge->cursors && i < merge->nr; i++)
		cursor_fini(&merge->cursors[i]);
	for (i = 0; i < merge->nr_sets; i++) {
		if (merge->use == MERGE_CONSUMES)
			claim_drop(&merge->sets[i]->consumer, merge);
		ring_set_put(merge->sets[i]);
	}
	free_cpumask_var(merge->waiting);
	kvfree(merge->heap);
	kvfree(merge->cursors);
	kvfree(merge->sets);
	kfree(merge);
}

static int merge_alloc(struct merge *merge, u32 nr_sets)
{
	merge->nr = nr_sets * num_possible_cpus();
	merge->sets = kvcalloc(nr_sets, sizeof(*merge->sets), GFP_KERNEL_ACCOUNT);
	merge->cursors = kvcalloc(merge->nr, sizeof(*merge->cursors), GFP_KERNEL_ACCOUNT);
	merge->heap = kvcalloc(merge->nr, sizeof(*merge->heap), GFP_KERNEL_ACCOUNT);
	return merge->sets && merge->cursors && merge->heap &&
			       zalloc_cpumask_var(&merge->waiting, GFP_KERNEL_ACCOUNT) ?
		       0 :
		       -ENOMEM;
}

static int merge_add(struct merge *merge, struct ring_set *set)
{
	struct cursor *cursor = &merge->cursors[merge->nr_sets * num_possible_cpus()];
	bool consumes = merge->use == MERGE_CONSUMES;
	int ret = consumes ? claim_take(&set->consumer, merge, NULL) : 0;
	unsigned int cpu;

	if (ret)
		return ret;
	ring_set_get(set);
	merge->sets[merge->nr_sets++] = set;
	for_each_possible_cpu(cpu) cursor_init(cursor++, set, cpu, consumes);
	return 0;
}

struct merge *merge_new(struct ring_set *const sets[], u32 nr, enum merge_use use)
{
	struct merge *merge = kzalloc(sizeof(*merge), GFP_KERNEL_ACCOUNT);
	int ret;
	u32 i;

	if (!merge)
		return ERR_PTR(-ENOMEM);
	merge->use = use;
	ret = merge_alloc(merge, nr);
	for (i = 0; i < nr && !ret; i++)
		ret = merge_add(merge, sets[i]);
	if (ret) {
		merge_free(merge);
		return ERR_PTR(ret);
	}
	merge_take_bound(merge);
	return merge;
}

struct merge *merge_look_ahead(const struct merge *from)
{
	struct merge *merge = merge_new(from->sets, from->nr_sets, MERGE_LOOKS);
	u32 i;

	for (i = 0; !IS_ERR(merge) && i < merge->nr; i++)
		cursor_follow(&merge->cursors[i], &from->cursors[i]);
	return merge;
}
