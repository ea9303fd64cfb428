/* SPDX-License-Identifier: GPL-2.0-only */
#include "keyed.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "session.h"

#define BUCKET_MASK (0xffffull << LTT_COUNTS_HEAD_BUCKET_SHIFT)

/** A slot that has a key, with its bucket apart from it. */
struct keyed_entry {
	uint64_t key[LTT_COUNTS_KEY_WORDS];
	uint32_t bucket;
	uint64_t value[2]; /* hits, and with a histogram the sum */
};

struct keyed_list {
	struct keyed_entry *entries;
	size_t nr, cap;
};

/* --- slots ------------------------------------------------------------------------- */

static uint32_t keyed_words(uint64_t head, uint32_t number)
{
	enum ltt_counts_kind kind = LTT_COUNTS_HEAD_KIND(head, number);

	if (kind == LTT_COUNTS_TEXT || kind == LTT_COUNTS_CUT)
		return (LTT_COUNTS_HEAD_BYTES(head, number) + 7u) / 8u;
	return kind != LTT_COUNTS_NONE;
}

/* Words of the key; 0: an application has damaged it. */
static uint32_t keyed_key_words(uint64_t head, uint32_t nr_by)
{
	uint32_t words = 1;

	for (uint32_t i = 0; i < nr_by; i++) {
		enum ltt_counts_kind kind = LTT_COUNTS_HEAD_KIND(head, i);

		if (kind == LTT_COUNTS_NONE || kind > LTT_COUNTS_CUT)
			return 0;
		words += keyed_words(head, i);
	}
	return words <= LTT_COUNTS_KEY_WORDS ? words : 0;
}

/* The bucket is not compared as a part of the key; nor are bytes behind the key. */
static bool keyed_normalize(struct keyed_entry *entry, uint32_t nr_by)
{
	uint32_t words = keyed_key_words(entry->key[0], nr_by);

	entry->bucket = LTT_COUNTS_HEAD_BUCKET(entry->key[0]);
	entry->key[0] &= ~BUCKET_MASK;
	if (!words || entry->bucket > LTT_COUNTS_NEGATIVE)
		return false;
	for (uint32_t i = words; i < LTT_COUNTS_KEY_WORDS; i++)
		entry->key[i] = 0;
	return true;
}

static void keyed_add(struct keyed_list *list, const struct keyed_entry *entry)
{
	if (list->nr == list->cap) {
		list->cap = MAX(2 * list->cap, (size_t)64);
		list->entries = xrealloc(list->entries, list->cap * sizeof(*list->entries));
	}
	list->entries[list->nr++] = *entry;
}

static void keyed_gather(const struct user_session *us, const struct user_counts *counts,
			 uint32_t nr_by, uint32_t slot_words, struct keyed_list *list)
{
	for (uint32_t slot = 0; slot < counts->nr_slots; slot++) {
		struct keyed_entry entry = { 0 };

		if (!counts_key(us, counts, slot, entry.key) || !keyed_normalize(&entry, nr_by))
			continue;
		counts_add_up(us, counts, LTT_COUNTS_REST_WORDS + slot * slot_words, slot_words,
			      entry.value);
		if (entry.value[0])
			keyed_add(list, &entry);
	}
}

static int keyed_compare(const void *a, const void *b)
{
	const struct keyed_entry *x = a, *y = b;
	int order = memcmp(x->key, y->key, sizeof(x->key));

	return order ? order : (x->bucket > y->bucket) - (x->bucket < y->bucket);
}

/* --- reports ----------------------------------------------------------------------- */

static const char *keyed_label(const struct layout_field *field, uint64_t number)
{
	bool is_signed = field->flags & LTT_FIELD_SIGNED;

	for (uint32_t i = 0; i < field->nr_labels; i++) {
		const struct layout_label *label = &field->labels[i];

		if (is_signed ? (int64_t)number >= label->first && (int64_t)number <= label->last :
				number >= (uint64_t)label->first && number <= (uint64_t)label->last)
			return label->text;
	}
	return NULL;
}

/* Whether a character, or a part of one, begins there that is not complete. */
static bool is_partial(const char *at, size_t len)
{
	unsigned char first = (unsigned char)*at;

	return (first >= 0xc2 && len < 2) || (first >= 0xe0 && len < 3) ||
	       (first >= 0xf0 && len < 4);
}

/* A text that was cut within a character ends before it. */
static void keyed_trim(char *text, size_t len)
{
	size_t back = 1;

	while (back < 4 && back < len && ((unsigned char)text[len - back] & 0xc0) == 0x80)
		back++;
	if (len && is_partial(&text[len - back], back))
		text[len - back] = '\0';
}

/** The values of a key, and memory for their texts. */
struct keyed_values {
	struct domain_counted_key key;
	char texts[LTT_COUNTS_BY_MAX][LTT_COUNTS_TEXT_MAX + 1];
};

static void keyed_value(const struct keyed_entry *entry, uint32_t number, uint32_t word,
			const struct layout_field *field, struct keyed_values *ret)
{
	struct domain_key_value *value = &ret->key.values[number];
	size_t bytes = LTT_COUNTS_HEAD_BYTES(entry->key[0], number);
	char *text = ret->texts[number];

	value->kind = LTT_COUNTS_HEAD_KIND(entry->key[0], number);
	if (value->kind < LTT_COUNTS_TEXT) {
		value->number = entry->key[word];
		value->text = keyed_label(field, value->number);
		return;
	}
	memcpy(text, &entry->key[word], bytes);
	text[bytes] = '\0';
	if (value->kind == LTT_COUNTS_CUT)
		keyed_trim(text, strlen(text));
	value->text = text;
}

static void keyed_values_of(const struct keyed_entry *entry, const struct rule *rule,
			    const struct user_stat *stat, struct keyed_values *ret)
{
	char name[RULE_MAX_BY + 1];
	uint32_t word = 1;

	for (uint32_t i = 0; rule_by_field(rule->by, i, name); i++) {
		int field = shape_key(stat->shape, name);

		keyed_value(entry, i, word, &stat->shape->layout->fields[MAX(field, 0)], ret);
		word += keyed_words(entry->key[0], i);
		ret->key.nr = i + 1;
	}
}

/* The coarse bucket of a fine one. */
static uint32_t keyed_bucket(uint32_t fine)
{
	uint64_t first = ltt_counts_fine_first(fine);

	return first ? 64 - (uint32_t)__builtin_clzll(first) : 0;
}

static void keyed_sum(struct ltt_counts *sums, const struct keyed_entry *entry, bool histogram)
{
	sums->count += entry->value[0];
	sums->sum += entry->value[1];
	if (histogram && entry->bucket == LTT_COUNTS_NEGATIVE)
		sums->negative += entry->value[0];
	else if (histogram)
		sums->buckets[keyed_bucket(entry->bucket)] += entry->value[0];
}

static void keyed_report_keys(const struct keyed_list *list, const struct rule *rule,
			      const struct user_stat *stat, const struct domain_counted_ops *ops,
			      void *data)
{
	const bool histogram = rule->kind == RULE_HISTOGRAM;
	size_t i = 0;

	while (i < list->nr) {
		const struct keyed_entry *first = &list->entries[i];
		struct keyed_values values = { .key.nr = 0 };

		while (i < list->nr &&
		       memcmp(list->entries[i].key, first->key, sizeof(first->key)) == 0)
			keyed_sum(&values.key.sums, &list->entries[i++], histogram);
		keyed_values_of(first, rule, stat, &values);
		ops->key(&values.key, data);
	}
}

void keyed_report(const struct user_session *us, const struct rule *rule,
		  const struct user_stat *stat, struct domain_counted *counted,
		  const struct domain_counted_ops *ops, void *data)
{
	const bool histogram = rule->kind == RULE_HISTOGRAM;
	struct ltt_counts_rest rest = { 0 };
	struct keyed_list list = { 0 };
	uint32_t nr_by = strchr(rule->by, ',') ? 2 : 1;

	for (const struct user_place *place = stat->places; place; place = place->next) {
		if (!place->counts)
			continue;
		counts_add_up(us, place->counts, 0, LTT_COUNTS_REST_WORDS, (uint64_t *)&rest);
		keyed_gather(us, place->counts, nr_by, histogram ? 2 : 1, &list);
	}
	if (list.nr)
		qsort(list.entries, list.nr, sizeof(*list.entries), keyed_compare);
	for (size_t i = 0; i < list.nr; i++)
		keyed_sum(&counted->sums, &list.entries[i], histogram);
	counted->sums.missed = rest.missed;
	counted->sums.count += rest.missed + rest.overflow;
	counted->overflow = rest.overflow;
	ops->counted(counted, data);
	keyed_report_keys(&list, rule, stat, ops, data);
	free(list.entries);
}
