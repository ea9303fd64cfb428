// SPDX-License-Identifier: LGPL-2.1-or-later
#include "keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ltt/probe.h>
#include <ltt/site.h>

#include "tracer/site/registry.h"
#include "view.h"
#include "tracer/base/large.h"

#define ANYWHERE UINT32_MAX
#define TEXT_COMPARED 4096u /* bytes of a text that key_field_word() reads */

struct keying {
	struct ltt_counts_slot *slots;
	uint32_t mask;
	uint32_t nr_by;
	uint32_t text_max;
	bool has_value;
	bool plain;    /* one integer at a fixed offset, without a histogram: keys_find_plain() */
	uint64_t head; /* if plain: the first word of all keys */
	uint64_t seed; /* if plain: hash of that word */
	struct key_field by[LTT_COUNTS_BY_MAX], value;
};

static const struct keying *keyings[KEYS_PERMANENT] TRACER_LARGE;
static uint32_t nr_permanent, last_number = KEYS_PERMANENT - 1;

/* --- keys of events ------------------------------------------------------------------ */

/** An event that is being counted. */
struct key_event {
	const struct ltt_site *site;
	const unsigned char *payload;
	size_t len;
};

static __attribute__((noinline)) bool read_integer_anywhere(const struct key_field *field,
							    const struct key_event *event,
							    uint64_t *ret_value)
{
	const struct ltt_event_view view = view_of(event->site, event->payload, event->len);
	int negative;

	return view_integer(&view, (int)field->index, ret_value, &negative) == 0;
}

static inline bool read_integer(const struct key_field *field, const struct key_event *event,
				uint64_t *ret_value)
{
	uint64_t value;

	if (unlikely(field->offset == ANYWHERE))
		return read_integer_anywhere(field, event, ret_value);
	if (unlikely(event->len < field->offset + field->bytes))
		return false;
	value = ltt_counts_load(event->payload + field->offset, field->bytes);
	if (unlikely(field->swapped))
		value = __builtin_bswap64(value) >> (64 - 8 * field->bytes);
	*ret_value = field->kind == LTT_COUNTS_SIGNED ? ltt_counts_extend(value, field->bytes) :
							value;
	return true;
}

static bool find_text_anywhere(const struct key_field *field, const struct key_event *event,
			       const char **ret_text, size_t *ret_len)
{
	const struct ltt_event_view view = view_of(event->site, event->payload, event->len);

	if (ltt_view_string(&view, (int)field->index, ret_text, ret_len) < 0)
		return false;
	*ret_len = strnlen(*ret_text, *ret_len);
	return true;
}

/* The end of the text is searched only in the first @max + 1 bytes, as a key holds @max at most. */
static bool find_text(const struct key_field *field, const struct key_event *event, size_t max,
		      const char **ret_text, size_t *ret_len)
{
	const char *text = (const char *)event->payload + field->offset;
	size_t room = field->offset <= event->len ? event->len - field->offset : 0;

	if (field->offset == ANYWHERE || !field->terminated)
		return find_text_anywhere(field, event, ret_text, ret_len);
	*ret_text = text;
	*ret_len = strnlen(text, room < max + 1 ? room : max + 1);
	return *ret_len < room;
}

/* Append the key's field number @position. Return: words of the key; 0: the field can't be read. */
static __attribute__((noinline)) uint32_t append_text(const struct keying *k, uint32_t position,
						      const struct key_event *event, uint64_t *key,
						      uint32_t words)
{
	const char *text;
	size_t len;

	if (!find_text(&k->by[position], event, k->text_max, &text, &len))
		return 0;
	return ltt_counts_put_text(key, words, position, text, (uint32_t)len, k->text_max);
}

static inline uint32_t append_field(const struct keying *k, uint32_t position,
				    const struct key_event *event, uint64_t *key, uint32_t words)
{
	const struct key_field *field = &k->by[position];

	if (unlikely(!field->bytes))
		return append_text(k, position, event, key, words);
	if (unlikely(!read_integer(field, event, &key[words])))
		return 0;
	key[0] |= LTT_COUNTS_HEAD(position, field->kind, 0);
	return words + 1;
}

static inline uint32_t append_bucket(const struct keying *k, const struct key_event *event,
				     uint64_t *key, uint32_t words, uint64_t *ret_value)
{
	if (!k->has_value)
		return words;
	if (unlikely(!read_integer(&k->value, event, ret_value)))
		return 0;
	key[0] |= ltt_counts_bucket(*ret_value, k->value.kind) << LTT_COUNTS_HEAD_BUCKET_SHIFT;
	return words;
}

/* --- slots ----------------------------------------------------------------------------- */

static __attribute__((noinline)) enum key_outcome slot_search(const struct keying *k, uint64_t tag,
							      const uint64_t *key, uint32_t words,
							      uint32_t *ret_slot)
{
	*ret_slot = ltt_counts_search(k->slots, k->mask, tag, key, words);
	return *ret_slot == LTT_COUNTS_NO_SLOT ? KEY_OVERFLOW : KEY_FOUND;
}

static inline enum key_outcome slot_find(const struct keying *k, const uint64_t *key,
					 uint32_t words, uint32_t *ret_slot)
{
	uint64_t tag = ltt_counts_hash(key, words);
	uint32_t at = ltt_counts_first_slot(tag, k->mask);
	const struct ltt_counts_slot *slot = &k->slots[at];

	if (likely(__atomic_load_n(&slot->tag, __ATOMIC_ACQUIRE) == tag &&
		   ltt_counts_slot_has(slot, key, words))) {
		*ret_slot = at;
		return KEY_FOUND;
	}
	return slot_search(k, tag, key, words, ret_slot);
}

enum key_outcome keys_find(const struct keying *k, const struct ltt_site *site, const void *payload,
			   size_t len, struct key_found *ret)
{
	const struct key_event event = { site, payload, len };
	uint64_t key[LTT_COUNTS_KEY_WORDS];
	uint32_t words = 1;

	key[0] = 0;
	for (uint32_t i = 0; i < k->nr_by && words; i++)
		words = append_field(k, i, &event, key, words);
	if (likely(words))
		words = append_bucket(k, &event, key, words, &ret->value);
	return unlikely(!words) ? KEY_MISSED : slot_find(k, key, words, &ret->slot);
}

uint32_t keys_find_plain(const struct keying *k, const void *payload, size_t len)
{
	const struct key_event event = { NULL, payload, len };
	const struct ltt_counts_slot *slot;
	uint64_t value, tag;
	uint32_t at;

	if (unlikely(!k->plain || !read_integer(&k->by[0], &event, &value)))
		return KEYS_NO_SLOT;
	tag = ltt_counts_hash_word(k->seed, value) | LTT_COUNTS_TAG_HASH;
	at = ltt_counts_first_slot(tag, k->mask);
	slot = &k->slots[at];
	if (likely(__atomic_load_n(&slot->tag, __ATOMIC_ACQUIRE) == tag &&
		   __atomic_load_n(&slot->key[1], __ATOMIC_RELAXED) == value &&
		   __atomic_load_n(&slot->key[0], __ATOMIC_RELAXED) == k->head))
		return at;
	return KEYS_NO_SLOT;
}

static __attribute__((noinline)) bool key_text_word(const struct key_field *field,
						    const struct key_event *event,
						    uint64_t *ret_word)
{
	const char *text;
	uint64_t hash, word;
	size_t len;

	if (!find_text(field, event, TEXT_COMPARED, &text, &len))
		return false;
	hash = ltt_counts_hash_word(0, len);
	if (len > TEXT_COMPARED)
		len = TEXT_COMPARED;
	for (size_t at = 0; at < len; at += sizeof(word)) {
		word = 0;
		memcpy(&word, text + at, len - at < sizeof(word) ? len - at : sizeof(word));
		hash = ltt_counts_hash_word(hash, word);
	}
	*ret_word = hash;
	return true;
}

bool key_field_word(const struct key_field *field, const struct ltt_site *site, const void *payload,
		    size_t len, uint64_t *ret_word)
{
	const struct key_event event = { site, payload, len };

	return unlikely(!field->bytes) ? key_text_word(field, &event, ret_word) :
					 read_integer(field, &event, ret_word);
}

bool keys_has_value(const struct keying *k)
{
	return k->has_value;
}

const struct keying *keys_permanent(uint32_t number)
{
	return number < KEYS_PERMANENT ? keyings[number] : NULL;
}

/* --- keyings --------------------------------------------------------------------------- */

/* Return: the offset of a field, if it is the same in all payloads; or ANYWHERE. */
static uint32_t keys_field_offset(const struct ltt_field *fields, uint32_t index)
{
	uint64_t offset = 0;

	for (uint32_t i = 0; i < index; i++) {
		const struct ltt_field *field = &fields[i];

		if (field->kind == LTT_KIND_STRING || field->kind == LTT_KIND_SEQUENCE)
			return ANYWHERE;
		offset += (uint64_t)(field->kind == LTT_KIND_ARRAY ? field->count : 1) *
			  (field->size_bits / 8);
	}
	return offset < UINT16_MAX ? (uint32_t)offset : ANYWHERE;
}

static bool keys_is_integer(const struct ltt_field *field)
{
	return (field->kind == LTT_KIND_INT || field->kind == LTT_KIND_ENUM) &&
	       field->size_bits >= 8 && field->size_bits <= 64 && field->size_bits % 8 == 0;
}

bool key_field_make(const struct ltt_field *fields, uint32_t nr_fields, uint32_t index,
		    struct key_field *ret)
{
	const struct ltt_field *field = index < nr_fields ? &fields[index] : NULL;

	if (!field)
		return false;
	ret->index = index;
	ret->offset = keys_field_offset(fields, index);
	ret->terminated = field->kind == LTT_KIND_STRING;
	ret->kind = LTT_COUNTS_TEXT;
	if (!keys_is_integer(field))
		return ret->terminated || field->flags & LTT_FIELD_TEXT;
	ret->bytes = field->size_bits / 8;
	ret->kind = field->flags & LTT_FIELD_SIGNED ? LTT_COUNTS_SIGNED : LTT_COUNTS_UNSIGNED;
	ret->swapped = field->flags & LTT_FIELD_BIG_ENDIAN;
	return true;
}

static bool keying_fill(struct keying *k, const struct key_spec *spec,
			const struct ltt_field *fields, uint32_t nr_fields)
{
	if (!spec->nr_by || spec->nr_by > LTT_COUNTS_BY_MAX)
		return false;
	k->slots = spec->slots;
	k->mask = spec->nr_slots - 1;
	k->nr_by = spec->nr_by;
	k->text_max = LTT_COUNTS_TEXT_MAX / spec->nr_by;
	k->has_value = spec->value != KEYS_NO_VALUE;
	for (uint32_t i = 0; i < spec->nr_by; i++)
		if (!key_field_make(fields, nr_fields, spec->by[i], &k->by[i]))
			return false;
	k->plain = k->nr_by == 1 && !k->has_value && k->by[0].bytes && k->by[0].offset != ANYWHERE;
	k->head = LTT_COUNTS_HEAD(0, k->by[0].kind, 0);
	k->seed = ltt_counts_hash_word(0, k->head);
	return !k->has_value ||
	       (key_field_make(fields, nr_fields, spec->value, &k->value) && k->value.bytes);
}

static bool key_field_equals(const struct key_field *a, const struct key_field *b)
{
	return a->index == b->index && a->offset == b->offset && a->bytes == b->bytes &&
	       a->kind == b->kind && a->swapped == b->swapped && a->terminated == b->terminated;
}

/* Tables of permanent keyings stay mapped, so equal addresses mean the same table. */
static bool keying_equals(const struct keying *a, const struct keying *b)
{
	return a->slots == b->slots && a->mask == b->mask && a->nr_by == b->nr_by &&
	       a->has_value == b->has_value && key_field_equals(&a->by[0], &b->by[0]) &&
	       key_field_equals(&a->by[1], &b->by[1]) && key_field_equals(&a->value, &b->value);
}

static const struct keying *keys_known(const struct keying *k, uint32_t *ret_number)
{
	for (uint32_t i = 0; i < nr_permanent; i++) {
		*ret_number = i;
		if (keying_equals(keyings[i], k))
			return keyings[i];
	}
	return NULL;
}

/* Numbers of freed keyings are reused only after all others up to KEYS_LAST. */
static void keys_number(struct keying *k, uint32_t *ret_number)
{
	if (nr_permanent == KEYS_PERMANENT) {
		last_number = last_number < KEYS_LAST ? last_number + 1 : KEYS_PERMANENT;
		*ret_number = last_number;
		return;
	}
	*ret_number = nr_permanent;
	__atomic_store_n(&keyings[nr_permanent++], k, __ATOMIC_RELEASE);
}

int keys_make(const struct key_spec *spec, const struct ltt_field *fields, uint32_t nr_fields,
	      uint32_t *ret_number, const struct keying **ret_keying)
{
	struct keying *k = calloc(1, sizeof(*k));

	if (!k)
		return -ENOMEM;
	if (!keying_fill(k, spec, fields, nr_fields)) {
		free(k);
		return -EINVAL;
	}
	*ret_keying = keys_known(k, ret_number);
	if (*ret_keying) {
		free(k);
		return 0;
	}
	keys_number(k, ret_number);
	*ret_keying = k;
	return 0;
}
