/* SPDX-License-Identifier: GPL-2.0-only */
#include "keyed.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sessiond/core/rule.h"
#include "sessiond/core/shape.h"

#define BUCKET_MASK (0xffffull << LTT_COUNTS_HEAD_BUCKET_SHIFT)

/* --- rules ------------------------------------------------------------------------- */

static bool keyed_has_fields(const struct shape *shape, const char *by)
{
	char field[RULE_MAX_BY + 1];

	for (uint32_t i = 0; rule_by_field(by, i, field); i++)
		if (shape_key(shape, field) < 0)
			return false;
	return true;
}

bool keyed_rule_suits(const struct rule *rule, const struct shape *shape)
{
	return keyed_has_fields(shape, rule->by) &&
	       (rule->kind != RULE_HISTOGRAM || shape_integer(shape, rule->location) >= 0);
}

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

static void keyed_list_put(struct keyed_list *list, const struct keyed_entry *entry)
{
	if (list->nr == list->cap) {
		list->cap = MAX(2 * list->cap, (size_t)64);
		list->entries = xrealloc(list->entries, list->cap * sizeof(*list->entries));
	}
	list->entries[list->nr++] = *entry;
}

void keyed_list_add(struct keyed_list *list, const uint64_t *key, uint32_t nr_by, uint64_t count,
		    uint64_t sum)
{
	struct keyed_entry entry = { .value = { count, sum } };

	memcpy(entry.key, key, sizeof(entry.key));
	if (!count || !keyed_normalize(&entry, nr_by))
		return;
	keyed_list_put(list, &entry);
}

void keyed_list_append(struct keyed_list *list, const struct keyed_list *more)
{
	for (size_t i = 0; i < more->nr; i++)
		keyed_list_put(list, &more->entries[i]);
}

void keyed_list_fini(struct keyed_list *list)
{
	free(list->entries);
	*list = (struct keyed_list){ 0 };
}

static int keyed_compare(const void *a, const void *b)
{
	const struct keyed_entry *x = a, *y = b;
	int order = memcmp(x->key, y->key, sizeof(x->key));

	return order ? order : (x->bucket > y->bucket) - (x->bucket < y->bucket);
}

void keyed_list_merge(struct keyed_list *list)
{
	size_t nr = 0;

	if (list->nr)
		qsort(list->entries, list->nr, sizeof(*list->entries), keyed_compare);
	for (size_t i = 0; i < list->nr; i++) {
		struct keyed_entry *last = nr ? &list->entries[nr - 1] : NULL;

		if (last && keyed_compare(last, &list->entries[i]) == 0) {
			last->value[0] += list->entries[i].value[0];
			last->value[1] += list->entries[i].value[1];
		} else {
			list->entries[nr++] = list->entries[i];
		}
	}
	list->nr = nr;
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
			    const struct shape *shape, struct keyed_values *ret)
{
	char name[RULE_MAX_BY + 1];
	uint32_t word = 1;

	for (uint32_t i = 0; rule_by_field(rule->by, i, name); i++) {
		int field = shape_key(shape, name);

		keyed_value(entry, i, word, &shape->layout->fields[MAX(field, 0)], ret);
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
			      const struct shape *shape, const struct domain_counted_ops *ops,
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
		keyed_values_of(first, rule, shape, &values);
		ops->key(&values.key, data);
	}
}

void keyed_report(struct keyed_list *list, const struct rule *rule, const struct shape *shape,
		  struct domain_counted *counted, const struct domain_counted_ops *ops, void *data)
{
	keyed_list_merge(list);
	for (size_t i = 0; i < list->nr; i++)
		keyed_sum(&counted->sums, &list->entries[i], rule->kind == RULE_HISTOGRAM);
	counted->by = rule->by;
	counted->sums.missed = list->rest.missed;
	counted->sums.count += list->rest.missed + list->rest.overflow;
	counted->overflow = list->rest.overflow;
	ops->counted(counted, data);
	keyed_report_keys(list, rule, shape, ops, data);
}
