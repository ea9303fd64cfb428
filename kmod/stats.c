// SPDX-License-Identifier: GPL-2.0-only
#include "stats.h"

#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <linux/xarray.h>

#include "ltt_kmod.h"

#define STAT_LEVELS	4 /* writers that interrupt each other on a CPU */
#define PAYLOAD 8192

/** struct sums - of one CPU; where only hits count there is but the first word. */
struct sums {
	u64 count;
	u64 sum;
	u64 negative;
	u64 missed;
	u64 buckets[LTT_KMOD_BUCKETS];
};

struct stat_counter {
	struct stat_field field;
	struct sums __percpu *sums;
};

/** struct scratch - of one CPU: payloads that are being written. */
struct scratch {
	u32 level;
	struct stat_counter *stats[STAT_LEVELS];
	u8 payloads[STAT_LEVELS][PAYLOAD];
};

struct stats {
	struct xarray by_id;
	struct scratch *of_cpu[];
};

/* --- counting ------------------------------------------------------------- */

void *notrace stats_begin(struct stats *stats, u32 id, u32 len)
{
	struct scratch *scratch = stats->of_cpu[raw_smp_processor_id()];
	struct stat_counter *stat = xa_load(&stats->by_id, id);
	u32 level = scratch->level;

	if (!stat)
		return NULL;
	this_cpu_inc(stat->sums->count);
	if (!stat->field.bytes)
		return NULL;
	if (level == STAT_LEVELS || len > PAYLOAD) {
		this_cpu_inc(stat->sums->missed);
		return NULL;
	}
	scratch->stats[level] = stat;
	scratch->level = level + 1;
	barrier();
	return scratch->payloads[level];
}

static u64 value_of(const struct stat_field *field, const u8 *payload)
{
	u64 value = 0;

	memcpy(&value, payload + field->at, field->bytes);
	return field->is_signed ? (u64)sign_extend64(value, field->bytes * 8 - 1) : value;
}

void notrace stats_end(struct stats *stats)
{
	struct scratch *scratch = stats->of_cpu[raw_smp_processor_id()];
	u32 level = scratch->level - 1;
	struct stat_counter *stat = scratch->stats[level];
	u64 value = value_of(&stat->field, scratch->payloads[level]);

	barrier();
	scratch->level = level;
	this_cpu_add(stat->sums->sum, value);
	if (stat->field.is_signed && (s64)value < 0)
		this_cpu_inc(stat->sums->negative);
	else
		this_cpu_inc(stat->sums->buckets[fls64(value)]);
}

/* --- counting ------------------------------------------------------ */

struct stat_counter *stat_new(struct stats *stats, u32 id, const struct stat_field *field)
{
	struct stat_counter *stat = kzalloc(sizeof(*stat), GFP_KERNEL_ACCOUNT);
	int ret = -ENOMEM;

	if (!stat)
		return ERR_PTR(-ENOMEM);
	stat->field = *field;
	stat->sums = __alloc_percpu_gfp(field->bytes ? sizeof(*stat->sums) : sizeof(u64),
					sizeof(u64), GFP_KERNEL_ACCOUNT);
	if (stat->sums)
		ret = xa_insert(&stats->by_id, id, stat, GFP_KERNEL_ACCOUNT);
	if (!ret)
		return stat;
	stat_free(stat);
	return ERR_PTR(ret == -EBUSY ? -EEXIST : ret);
}

void stat_remove(struct stats *stats, u32 id)
{
	xa_erase(&stats->by_id, id);
}

void stat_free(struct stat_counter *stat)
{
	if (stat)
		free_percpu(stat->sums);
	kfree(stat);
}

void stat_read(const struct stat_counter *stat, struct ltt_kmod_counted *ret)
{
	unsigned int cpu;
	u32 i;

	for_each_possible_cpu(cpu) {
		const struct sums *sums = per_cpu_ptr(stat->sums, cpu);

		ret->count += READ_ONCE(sums->count);
		if (!stat->field.bytes)
			continue;
		ret->sum += READ_ONCE(sums->sum);
		ret->negative += READ_ONCE(sums->negative);
		ret->missed += READ_ONCE(sums->missed);
		for (i = 0; i < LTT_KMOD_BUCKETS; i++)
			ret->buckets[i] += READ_ONCE(sums->buckets[i]);
	}
}

/* --- all of a channel ----------------------------------------------------- */

struct stats *stats_new(void)
{
	struct stats *stats = kzalloc(struct_size(stats, of_cpu, nr_cpu_ids), GFP_KERNEL_ACCOUNT);
	unsigned int cpu;

	if (!stats)
		return NULL;
	xa_init(&stats->by_id);
	for_each_possible_cpu(cpu) {
		stats->of_cpu[cpu] = vzalloc_node(sizeof(struct scratch), cpu_to_node(cpu));
		if (!stats->of_cpu[cpu]) {
			stats_free(stats);
			return NULL;
		}
	}
	return stats;
}

void stats_free(struct stats *stats)
{
	unsigned int cpu;

	if (!stats)
		return;
	for_each_possible_cpu(cpu)
		vfree(stats->of_cpu[cpu]);
	xa_destroy(&stats->by_id);
	kfree(stats);
}
