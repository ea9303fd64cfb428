/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * keys.h - keys of counters: the fields of an event whose values distinguish counts, and the slot
 * of a key in the table that the session daemon made (abi/ltt_counts.h).
 *
 * A keying describes how a counter makes keys from events, and has a number. The first
 * KEYS_PERMANENT keyings are never freed, and their tables stay mapped (agent/counts.c), so that
 * threads may use them without a lock. Further ones belong to their listener and are used between
 * reader_enter() and reader_exit(), which costs some 20 ns. Made with the registry's lock held;
 * used by any thread and any signal handler.
 */
#ifndef TRACER_EMIT_KEYS_H
#define TRACER_EMIT_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ltt_counts.h"

struct keying;
struct ltt_field;
struct ltt_site;

#define KEYS_NO_VALUE UINT32_MAX
#define KEYS_PERMANENT 256u /* numbers below are of permanent keyings */
#define KEYS_NO_SLOT UINT32_MAX
#define KEYS_LAST 0x7ffffff0u

/** struct key_spec - @value: field of a histogram, or KEYS_NO_VALUE. */
struct key_spec {
	struct ltt_counts_slot *slots;
	uint32_t nr_slots; /* a power of two */
	uint32_t nr_by;
	uint32_t by[LTT_COUNTS_BY_MAX];
	uint32_t value;
};

/** struct key_found - @slot: number of the key's slot; @value: value of the histogram's field. */
struct key_found {
	uint32_t slot;
	uint64_t value;
};

/** struct key_field - a field of a key, or the value of a histogram. */
struct key_field {
	uint32_t index;	 /* of the field in its event class */
	uint32_t offset; /* in the payload; UINT32_MAX: after fields of variable length */
	uint8_t bytes;	 /* of an integer; 0: the field is a text */
	uint8_t kind;	 /* enum ltt_counts_kind */
	bool swapped;	 /* an integer in the other byte order */
	bool terminated; /* a text that ends with NUL */
};

/** Return: false: it can't be in a key. */
bool key_field_make(const struct ltt_field *fields, uint32_t nr_fields, uint32_t index,
		    struct key_field *ret);
/** Whether it is an integer at a fixed place of a payload of @len bytes. */
static inline bool key_field_is_plain(const struct key_field *field, size_t len)
{
	return field->bytes && !field->swapped && (uint64_t)field->offset + field->bytes <= len;
}

/** The value of such an integer, extended to 64 bits. */
static inline uint64_t key_field_plain(const struct key_field *field, const void *payload)
{
	uint64_t value = ltt_counts_load((const unsigned char *)payload + field->offset,
					 field->bytes);

	return field->kind == LTT_COUNTS_SIGNED ? ltt_counts_extend(value, field->bytes) : value;
}

/** The field's value in one word: an integer, or the hash of a text. Return: false: the event has
 *  no such value. */
bool key_field_word(const struct key_field *field, const struct ltt_site *site, const void *payload,
		    size_t len, uint64_t *ret_word);

enum key_outcome {
	KEY_FOUND,
	KEY_MISSED,   /* the key or the value can't be read */
	KEY_OVERFLOW, /* there is no free slot for the key */
};

/**
 * keys_make() - make a keying, or find an equal permanent one. Unless it is permanent, the caller
 * frees it after a grace period.
 * Return: 0; -EINVAL: a field can't be a key or a value; -ENOMEM.
 */
int keys_make(const struct key_spec *spec, const struct ltt_field *fields, uint32_t nr_fields,
	      uint32_t *ret_number, const struct keying **ret_keying);

/** The permanent keying of the number, or NULL. Any thread. */
const struct keying *keys_permanent(uint32_t number);
bool keys_has_value(const struct keying *keying);
/** The slot of a key that is one integer and is found without a search; KEYS_NO_SLOT: keys_find()
 *  must be called. */
uint32_t keys_find_plain(const struct keying *keying, const void *payload, size_t len);
enum key_outcome keys_find(const struct keying *keying, const struct ltt_site *site,
			   const void *payload, size_t len, struct key_found *ret);

#endif
