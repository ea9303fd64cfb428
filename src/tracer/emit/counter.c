// SPDX-License-Identifier: LGPL-2.1-or-later
#include "counter.h"

#include <errno.h>
#include <stdlib.h>

#include "ltt_counts.h"
#include "tracer/site/registry.h"
#include "tracer/ring/ring.h"
#include "tracer/ring/rseq.h"
#define SECTION_ADD
#include "tracer/ring/section.h"
#include "keys.h"
#include "view.h"

#define REST(member) (offsetof(struct ltt_counts_rest, member) / sizeof(uint64_t))
#define WORD(member) (offsetof(struct ltt_counts, member) / sizeof(uint64_t))

/* --- counting ------------------------------------------------------------------ */

#ifndef SECTION_HAS_ADD
uint32_t section_add(const struct hook *hook, uint64_t word, uint64_t value, uint32_t field)
{
	(void)hook, (void)word, (void)value, (void)field;
	return 1;
}
#endif

/* A thread that was not registered adds atomically this time, and by a sequence from then on. */
static __attribute__((noinline)) void add_atomically(const struct hook *hook, uint64_t word,
						     uint64_t value, uint32_t field)
{
	int saved = errno;
	unsigned int token = reader_enter();
	const struct counter *counter = __atomic_load_n(&hook->counter, __ATOMIC_ACQUIRE);

	if (counter && counter->field == field) {
		uint64_t *words = counter->words + counter->nr_parts * (counter->stride / 8);

		__atomic_add_fetch(&words[word], value, __ATOMIC_RELAXED);
	}
	reader_exit(token);
	(void)ring_rseq_adopt_thread();
	errno = saved;
}

static void emit_counter_add(const struct hook *hook, uint64_t word, uint64_t value, uint32_t field)
{
	if (unlikely(section_add(hook, word, value, field)))
		add_atomically(hook, word, value, field);
}

/* Uses the payload reader of probes, which checks every length. */
static int read_field(const struct ltt_site *site, const void *payload, size_t len, uint32_t field,
		      uint64_t *ret_bits, int *ret_negative)
{
	const struct ltt_event_view view = view_of(site, payload, len);

	return view_integer(&view, (int)field, ret_bits, ret_negative);
}

static __attribute__((noinline)) void sort_in(const struct hook *hook, uint32_t field,
					      const struct ltt_site *site, const void *payload,
					      size_t len)
{
	uint64_t bits;
	int negative;

	if (read_field(site, payload, len, field, &bits, &negative) < 0) {
		emit_counter_add(hook, WORD(missed), 1, field);
		return;
	}
	emit_counter_add(hook, WORD(sum), bits, field);
	if (negative)
		emit_counter_add(hook, WORD(negative), 1, field);
	else
		emit_counter_add(hook,
				 WORD(buckets) + (bits ? 64 - (uint32_t)__builtin_clzll(bits) : 0),
				 1, field);
}

/* --- with keys ------------------------------------------------------------------ */

static void emit_counter_add_slot(const struct hook *hook, const struct keying *keys,
				  const struct key_found *found, uint32_t field)
{
	if (!keys_has_value(keys)) {
		emit_counter_add(hook, LTT_COUNTS_REST_WORDS + found->slot, 1, field);
		return;
	}
	emit_counter_add(hook, LTT_COUNTS_REST_WORDS + 2ul * found->slot, 1, field);
	emit_counter_add(hook, LTT_COUNTS_REST_WORDS + 2ul * found->slot + 1, found->value, field);
}

static void hit_key(const struct hook *hook, const struct keying *keys, const struct ltt_site *site,
		    const void *payload, size_t len, uint32_t field)
{
	struct key_found found;
	enum key_outcome outcome = keys_find(keys, site, payload, len, &found);

	if (likely(outcome == KEY_FOUND))
		emit_counter_add_slot(hook, keys, &found, field);
	else if (outcome == KEY_MISSED)
		emit_counter_add(hook, REST(missed), 1, field);
	else
		emit_counter_add(hook, REST(overflow), 1, field);
}

static __attribute__((noinline)) void hit_key_protected(const struct hook *hook,
							const struct ltt_site *site,
							const void *payload, size_t len,
							uint32_t field)
{
	int saved = errno;
	unsigned int token = reader_enter();
	const struct counter *counter = __atomic_load_n(&hook->counter, __ATOMIC_ACQUIRE);

	if (counter && counter->field == field)
		hit_key(hook, counter->keys, site, payload, len, field);
	reader_exit(token);
	errno = saved;
}

static __attribute__((noinline)) void counter_hit_key(const struct hook *hook,
						      const struct ltt_site *site,
						      const void *payload, size_t len,
						      uint32_t field)
{
	const struct keying *keys = keys_permanent(counter_keying(field));
	uint32_t slot = likely(keys) ? keys_find_plain(keys, payload, len) : KEYS_NO_SLOT;

	if (likely(slot != KEYS_NO_SLOT))
		emit_counter_add(hook, LTT_COUNTS_REST_WORDS + slot, 1, field);
	else if (keys)
		hit_key(hook, keys, site, payload, len, field);
	else
		hit_key_protected(hook, site, payload, len, field);
}

static bool has_keys(uint32_t field)
{
	return counter_keying(field) <= KEYS_LAST;
}

/* --- hits ------------------------------------------------------------------------ */

/* The hook's field is read once and compared in each addition: if another counter has replaced it
 * meanwhile, nothing is added. */
void counter_hit(const struct hook *hook, const struct ltt_site *site, const void *payload,
		 size_t len)
{
	uint32_t field = __atomic_load_n(&hook->field, __ATOMIC_RELAXED);

	if (has_keys(field)) {
		counter_hit_key(hook, site, payload, len, field);
		return;
	}
	emit_counter_add(hook, WORD(count), 1, field);
	if (field != COUNTER_HITS)
		sort_in(hook, field, site, payload, len);
}

void counter_hit_oversize(const struct hook *hook)
{
	uint32_t field = __atomic_load_n(&hook->field, __ATOMIC_RELAXED);

	if (__atomic_load_n(&hook->preparation, __ATOMIC_RELAXED))
		return; /* a filter accepts no event whose fields are unknown */
	if (has_keys(field)) {
		emit_counter_add(hook, REST(missed), 1, field);
		return;
	}
	emit_counter_add(hook, WORD(count), 1, field);
	if (field != COUNTER_HITS)
		emit_counter_add(hook, WORD(missed), 1, field);
}

/* --- counting points ------------------------------------------------------------ */

static struct listener *find_counter(const struct point_state *point, const uint64_t *words)
{
	struct listener *l = point->listeners;

	while (l && (!l->hook.counter || l->counter.words != words))
		l = l->next;
	return l;
}

static int is_integer(const struct point *point, uint32_t number)
{
	const struct ltt_field *field = &point->fields[number];

	return (field->kind == LTT_KIND_INT || field->kind == LTT_KIND_ENUM) &&
	       field->size_bits >= 8 && field->size_bits <= 64 && field->size_bits % 8 == 0;
}

/* @counter: its field becomes the value that hooks compare. */
static int counter_check(const struct point *point, const struct key_spec *keys,
			 struct counter *counter)
{
	uint32_t number;
	int res;

	if (counter->field != COUNTER_HITS &&
	    (counter->field >= point->nr_fields || !is_integer(point, counter->field)))
		return -EINVAL;
	if (!keys)
		return 0;
	res = keys_make(keys, point->fields, point->nr_fields, &number, &counter->keys);
	if (res == 0)
		counter->field = COUNTER_KEYS + number;
	return res;
}

/* The keying that ends with the listener, or NULL. */
static void *emit_counter_owned(const struct counter *counter)
{
	return keys_permanent(counter_keying(counter->field)) ? NULL : (void *)counter->keys;
}

/* @old: the same counter with another filter, or NULL. */
static int emit_counter_attach(struct point_state *point, const struct counter *counter,
			       struct listener *old)
{
	struct listener *l = listener_new(NULL, NULL);
	int res = 0;

	if (!l)
		return -ENOMEM;
	l->counter = *counter;
	if (ring_sequences_stopped())
		counter_stop(&l->counter);
	l->hook.counter = &l->counter;
	l->hook.field = counter->field;
	l->hook.preparation = counter->preparation;
	l->owned = emit_counter_owned(counter);
	if (old)
		point_swap(point, old, l);
	else
		res = point_attach(point, l);
	if (res < 0)
		free(l);
	return res;
}

static int emit_counter_count(struct point_state *point, struct counter counter,
			      const struct key_spec *keys)
{
	struct listener *old = find_counter(point, counter.words);
	int res;

	if (old && old->counter.preparation == counter.preparation)
		return 1;
	res = counter_check(&point->pub, keys, &counter);
	if (res < 0)
		return res;
	res = emit_counter_attach(point, &counter, old);
	if (res < 0)
		free(emit_counter_owned(&counter));
	return res;
}

int site_count(uint32_t id, const struct counter *counter, const struct key_spec *keys)
{
	struct point_state *point;
	int res;

	registry_lock();
	point = point_find(id);
	res = point ? emit_counter_count(point, *counter, keys) : -ENOENT;
	registry_unlock();
	limbo_drain_if_full();
	return res;
}

int site_uncount(uint32_t id, const uint64_t *words)
{
	struct point_state *point;
	struct listener *l;

	registry_lock();
	point = point_find(id);
	l = point ? find_counter(point, words) : NULL;
	if (l)
		point_detach(point, l);
	registry_unlock();
	limbo_drain_if_full();
	return l ? 0 : -ENOENT;
}
