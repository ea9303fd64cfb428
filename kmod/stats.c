// SPDX-License-Identifier: GPL-2.0-only
#include "stats.h"

#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <asm/local64.h>

#include "fields.h"
#include "filter.h"
#include "fires.h"
#include "ltt_kmod.h"
#include "trace/record.h"

#define STAT_SLOTS LTT_COUNTS_KERNEL_SLOTS
#define STAT_REST(member) (offsetof(struct ltt_counts_rest, member) / sizeof(u64))

/** struct sums - of one CPU; where only hits count there is but the first word. */
struct sums {
	u64 count;
	u64 sum;
	u64 negative;
	u64 missed;
	u64 buckets[LTT_KMOD_BUCKETS];
};

/**
 * struct stat_counter
 * @sums: without keys.
 * @slots, @words: with keys: the table, and the counts of each CPU: struct ltt_counts_rest, then
 *	for each slot the hits, and with a histogram the sum of the values.
 * @plain: the key is one integer, and there is no histogram.
 * @head: if it is @plain, the first word of all keys, and @seed the hash of that.
 * @fire: NULL: it fires no trigger.
 */
struct stat_counter {
	struct stat_spec spec;
	struct sums __percpu *sums;
	struct ltt_counts_slot *slots;
	struct fire *fire;
	bool plain;
	u32 slot_words;
	u64 head, seed;
	u64 *words[];
};

/* --- hits ----------------------------------------------------------------- */

static __always_inline u64 stat_load(const struct stat_field *field, const u8 *payload)
{
	u64 value = ltt_counts_load(payload + field->at, field->bytes);

	return field->kind == LTT_COUNTS_SIGNED ? ltt_counts_extend(value, field->bytes) : value;
}

static __always_inline bool stat_has_integer(const struct stat_field *field, const u8 *payload,
					     u32 len, u64 *ret)
{
	if (unlikely(len < field->at + field->bytes))
		return false;
	*ret = stat_load(field, payload);
	return true;
}

bool notrace stat_integer(const struct stat_field *field, const u8 *payload, u32 len, u64 *ret)
{
	return stat_has_integer(field, payload, len, ret);
}

static noinline void stat_hit_histogram(const struct stat_counter *stat, const u8 *payload, u32 len)
{
	u64 value;

	if (!stat_has_integer(&stat->spec.value, payload, len, &value)) {
		this_cpu_inc(stat->sums->missed);
		return;
	}
	this_cpu_add(stat->sums->sum, value);
	if (stat->spec.value.kind == LTT_COUNTS_SIGNED && (s64)value < 0)
		this_cpu_inc(stat->sums->negative);
	else
		this_cpu_inc(stat->sums->buckets[fls64(value)]);
}

/* --- keys ----------------------------------------------------------------- */

/* An addition by one instruction, where the machine has it: interrupts and NMIs add, too. */
static __always_inline void stat_add(const struct stat_counter *stat, u32 word, u64 value)
{
	local64_add(value, (local64_t *)&stat->words[raw_smp_processor_id()][word]);
}

static const u8 *stat_find_field(const struct event *event, const struct stat_field *field,
				 const u8 *payload, const u8 *end)
{
	const u8 *at = payload;
	u32 i;

	if (field->at != STAT_ANYWHERE)
		return payload + field->at;
	for (i = 0; i < field->nth; i++) {
		int bytes = record_field_bytes(field_nth(event, i), at, end);

		if (bytes < 0)
			return NULL;
		at += bytes;
	}
	return at;
}

/* Return: bytes of an array or sequence, without its length, at @ret_at; NULL: it is not there. */
static u32 stat_bytes(const struct event *event, const struct stat_field *field, const u8 *payload,
		      u32 len, const u8 **ret_at)
{
	const u8 *end = payload + len, *at = stat_find_field(event, field, payload, end);
	int bytes = at && at <= end ? record_field_bytes(field->field, at, end) : -ENODATA;

	*ret_at = NULL;
	if (bytes < 0)
		return 0;
	if (field->field->form == FORM_DYNAMIC) {
		at += sizeof(u16);
		bytes -= sizeof(u16);
	}
	*ret_at = at;
	return bytes;
}

u32 notrace stat_text(const struct event *event, const struct stat_field *field, const u8 *payload,
		      u32 len, const u8 **ret_at)
{
	u32 bytes = stat_bytes(event, field, payload, len, ret_at);

	return *ret_at ? strnlen(*ret_at, bytes) : 0;
}

bool notrace stat_element(const struct event *event, const struct stat_field *field, u32 number,
			  const u8 *payload, u32 len, u64 *ret)
{
	const u8 *at;
	u32 bytes = stat_bytes(event, field, payload, len, &at);

	if (!at || number >= bytes / field->bytes)
		return false;
	*ret = ltt_counts_load(at + (size_t)number * field->bytes, field->bytes);
	if (field->kind == LTT_COUNTS_SIGNED)
		*ret = ltt_counts_extend(*ret, field->bytes);
	return true;
}

static noinline u32 stat_append_text(const struct stat_counter *stat, u32 position,
				     const u8 *payload, u32 len, u64 *key, u32 words)
{
	const u8 *at;
	u32 bytes = stat_text(stat->spec.event, &stat->spec.by[position], payload, len, &at);

	return at ? ltt_counts_put_text(key, words, position, at, bytes,
					LTT_COUNTS_TEXT_MAX / stat->spec.nr_by) :
		    0;
}

static u32 stat_append(const struct stat_counter *stat, u32 position, const u8 *payload, u32 len,
		       u64 *key, u32 words)
{
	const struct stat_field *field = &stat->spec.by[position];

	if (unlikely(!field->bytes))
		return stat_append_text(stat, position, payload, len, key, words);
	if (unlikely(!stat_has_integer(field, payload, len, &key[words])))
		return 0;
	key[0] |= LTT_COUNTS_HEAD(position, field->kind, 0);
	return words + 1;
}

static noinline void stat_hit_any_key(const struct stat_counter *stat, const u8 *payload, u32 len)
{
	u64 key[LTT_COUNTS_KEY_WORDS], value = 0;
	u32 words = 1, i, slot;

	key[0] = 0;
	for (i = 0; i < stat->spec.nr_by && words; i++)
		words = stat_append(stat, i, payload, len, key, words);
	if (words && stat->spec.value.bytes) {
		if (stat_has_integer(&stat->spec.value, payload, len, &value))
			key[0] |= ltt_counts_bucket(value, stat->spec.value.kind)
				  << LTT_COUNTS_HEAD_BUCKET_SHIFT;
		else
			words = 0;
	}
	if (!words) {
		stat_add(stat, STAT_REST(missed), 1);
		return;
	}
	slot = ltt_counts_search(stat->slots, STAT_SLOTS - 1, ltt_counts_hash(key, words), key,
				 words);
	if (slot == LTT_COUNTS_NO_SLOT) {
		stat_add(stat, STAT_REST(overflow), 1);
		return;
	}
	stat_add(stat, LTT_COUNTS_REST_WORDS + slot * stat->slot_words, 1);
	if (stat->spec.value.bytes)
		stat_add(stat, LTT_COUNTS_REST_WORDS + slot * stat->slot_words + 1, value);
}

/* A key of one integer that has its first slot already needs no search. */
static __always_inline void stat_hit_key(const struct stat_counter *stat, const u8 *payload,
					 u32 len)
{
	const struct ltt_counts_slot *slot;
	u64 value, tag;
	u32 at;

	if (unlikely(!stat->plain || !stat_has_integer(&stat->spec.by[0], payload, len, &value))) {
		stat_hit_any_key(stat, payload, len);
		return;
	}
	tag = ltt_counts_hash_word(stat->seed, value) | LTT_COUNTS_TAG_HASH;
	at = ltt_counts_first_slot(tag, STAT_SLOTS - 1);
	slot = &stat->slots[at];
	if (likely(smp_load_acquire(&slot->tag) == tag && READ_ONCE(slot->key[1]) == value &&
		   READ_ONCE(slot->key[0]) == stat->head))
		stat_add(stat, LTT_COUNTS_REST_WORDS + at, 1);
	else
		stat_hit_any_key(stat, payload, len);
}

bool stat_wants_payload(const struct stat_counter *stat)
{
	return stat->slots || stat->spec.value.bytes ||
	       (stat->fire && fire_wants_payload(stat->fire));
}

const struct fire *stat_fire(const struct stat_counter *stat)
{
	return stat->fire;
}

void notrace stat_hit(struct stat_counter *stat, const void *payload, u32 len)
{
	if (stat->slots) {
		stat_hit_key(stat, payload, len);
		return;
	}
	this_cpu_inc(stat->sums->count);
	if (unlikely(stat->fire))
		fire_hit(stat->fire, payload, len);
	if (stat->spec.value.bytes)
		stat_hit_histogram(stat, payload, len);
}

void notrace stat_miss(struct stat_counter *stat)
{
	if (stat->slots) {
		stat_add(stat, STAT_REST(missed), 1);
		return;
	}
	this_cpu_inc(stat->sums->count);
	if (stat->fire)
		fire_hit(stat->fire, NULL, 0);
	if (stat->spec.value.bytes)
		this_cpu_inc(stat->sums->missed);
}

/* --- counters ------------------------------------------------------------- */

static int stat_add_keys(struct stat_counter *stat)
{
	const struct stat_field *by = stat->spec.by;
	unsigned int cpu;

	stat->slot_words = stat->spec.value.bytes ? 2 : 1;
	stat->plain = stat->spec.nr_by == 1 && by->bytes && !stat->spec.value.bytes;
	stat->head = LTT_COUNTS_HEAD(0, by->kind, 0);
	stat->seed = ltt_counts_hash_word(0, stat->head);
	for_each_possible_cpu(cpu) {
		stat->words[cpu] = vzalloc_node(sizeof(struct ltt_counts_rest) +
							STAT_SLOTS * stat->slot_words * sizeof(u64),
						cpu_to_node(cpu));
		if (!stat->words[cpu])
			return -ENOMEM;
	}
	stat->slots = __vmalloc(STAT_SLOTS * sizeof(*stat->slots), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	return stat->slots ? 0 : -ENOMEM;
}

static int stat_add_sums(struct stat_counter *stat)
{
	stat->sums = __alloc_percpu_gfp(stat->spec.value.bytes ? sizeof(*stat->sums) : sizeof(u64),
					sizeof(u64), GFP_KERNEL_ACCOUNT);
	return stat->sums ? 0 : -ENOMEM;
}

static int stat_add_fire(struct stat_counter *stat)
{
	struct fire *fire = fire_new(stat->spec.fire, stat->spec.event);

	if (IS_ERR(fire))
		return PTR_ERR(fire);
	stat->fire = fire;
	return 0;
}

struct stat_counter *stat_new(const struct stat_spec *spec)
{
	struct stat_counter *stat =
		kzalloc(struct_size(stat, words, nr_cpu_ids), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!stat)
		return ERR_PTR(-ENOMEM);
	stat->spec = *spec;
	ret = spec->nr_by ? stat_add_keys(stat) : stat_add_sums(stat);
	if (!ret && spec->fire)
		ret = stat_add_fire(stat);
	if (!ret && stat_wants_payload(stat))
		ret = filter_rooms_ensure();
	if (!ret)
		return stat;
	stat_free(stat);
	return ERR_PTR(ret);
}

void stat_free(struct stat_counter *stat)
{
	unsigned int cpu;

	if (!stat)
		return;
	for_each_possible_cpu(cpu)
		vfree(stat->words[cpu]);
	vfree(stat->slots);
	fire_free(stat->fire);
	free_percpu(stat->sums);
	kfree(stat);
}

/* --- for requests --------------------------------------------------------- */

/* Of all CPUs. @word: of the counts. */
static u64 stat_total(const struct stat_counter *stat, u32 word)
{
	unsigned int cpu;
	u64 total = 0;

	for_each_possible_cpu(cpu)
		total += READ_ONCE(stat->words[cpu][word]);
	return total;
}

static void stat_read_all_keys(const struct stat_counter *stat, struct ltt_kmod_counted *ret)
{
	u32 i;

	ret->missed = stat_total(stat, STAT_REST(missed));
	ret->count = ret->missed + stat_total(stat, STAT_REST(overflow));
	for (i = 0; i < STAT_SLOTS; i++)
		ret->count += stat_total(stat, LTT_COUNTS_REST_WORDS + i * stat->slot_words);
}

void stat_read(const struct stat_counter *stat, struct ltt_kmod_counted *ret)
{
	unsigned int cpu;
	u32 i;

	if (stat->slots) {
		stat_read_all_keys(stat, ret);
		return;
	}
	for_each_possible_cpu(cpu) {
		const struct sums *sums = per_cpu_ptr(stat->sums, cpu);

		ret->count += READ_ONCE(sums->count);
		if (!stat->spec.value.bytes)
			continue;
		ret->sum += READ_ONCE(sums->sum);
		ret->negative += READ_ONCE(sums->negative);
		ret->missed += READ_ONCE(sums->missed);
		for (i = 0; i < LTT_KMOD_BUCKETS; i++)
			ret->buckets[i] += READ_ONCE(sums->buckets[i]);
	}
}

static bool stat_read_key(const struct stat_counter *stat, u32 slot, struct ltt_kmod_key *ret)
{
	const struct ltt_counts_slot *from = &stat->slots[slot];
	u32 i, word = LTT_COUNTS_REST_WORDS + slot * stat->slot_words;

	if (smp_load_acquire(&from->tag) <= LTT_COUNTS_TAG_WRITING)
		return false;
	for (i = 0; i < LTT_COUNTS_KEY_WORDS; i++)
		ret->key[i] = READ_ONCE(from->key[i]);
	ret->count = stat_total(stat, word);
	ret->sum = stat->slot_words > 1 ? stat_total(stat, word + 1) : 0;
	return true;
}

int stat_read_keys(const struct stat_counter *stat, struct ltt_kmod_keys *ret)
{
	struct ltt_kmod_key __user *to = u64_to_user_ptr(ret->keys);
	struct ltt_kmod_key key;
	u32 slot, room = ret->nr_keys;

	if (!stat->slots)
		return -EINVAL;
	ret->nr_keys = 0;
	ret->overflow = stat_total(stat, STAT_REST(overflow));
	ret->missed = stat_total(stat, STAT_REST(missed));
	for (slot = 0; slot < STAT_SLOTS && ret->nr_keys < room; slot++) {
		if (!stat_read_key(stat, slot, &key))
			continue;
		if (copy_to_user(&to[ret->nr_keys++], &key, sizeof(key)))
			return -EFAULT;
	}
	return 0;
}
