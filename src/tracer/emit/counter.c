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
#include "view.h"

#define WORD(member) (offsetof(struct ltt_counts, member) / sizeof(uint64_t))

/* --- counting ------------------------------------------------------------------ */

#ifndef SECTION_HAS_ADD
uint32_t section_add(const struct hook *hook, uint64_t word, uint64_t value, uint32_t field)
{
	(void)hook, (void)word, (void)value, (void)field;
	return 1;
}
#endif

/* A thread that was never registered can't do it this time, but the next. */
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

/* By what reads payloads for probes: it believes no length. */
static int read_field(const struct ltt_site *site, const void *payload, size_t len, uint32_t field,
		      uint64_t *ret_bits, int *ret_negative)
{
	const struct site_state *state = __atomic_load_n(&site->owner, __ATOMIC_ACQUIRE);
	const struct ltt_event_view view = {
		.size = sizeof(view),
		.fields = state ? state->fields : NULL,
		.nr_fields = state ? state->nr_fields : 0,
		.payload = payload,
		.len = len,
	};

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

/* The hook's counter is looked at once, and is the same in each addition: where another
 * counter has taken its place meanwhile, it is of no event. */
void counter_hit(const struct hook *hook, const struct ltt_site *site, const void *payload,
		 size_t len)
{
	uint32_t field = __atomic_load_n(&hook->field, __ATOMIC_RELAXED);

	emit_counter_add(hook, WORD(count), 1, field);
	if (field != COUNTER_HITS)
		sort_in(hook, field, site, payload, len);
}

void counter_hit_oversize(const struct hook *hook)
{
	uint32_t field = __atomic_load_n(&hook->field, __ATOMIC_RELAXED);

	emit_counter_add(hook, WORD(count), 1, field);
	if (field != COUNTER_HITS)
		emit_counter_add(hook, WORD(missed), 1, field);
}

/* --- what is counted ------------------------------------------------------------ */

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

static int emit_counter_count(struct point_state *point, const struct counter *counter)
{
	struct listener *l;
	int res;

	if (counter->field != COUNTER_HITS &&
	    (counter->field >= point->pub.nr_fields || !is_integer(&point->pub, counter->field)))
		return -EINVAL;
	if (find_counter(point, counter->words))
		return 1;
	l = listener_new(NULL, NULL);
	if (!l)
		return -ENOMEM;
	l->counter = *counter;
	if (ring_sequences_stopped())
		counter_stop(&l->counter);
	l->hook.counter = &l->counter;
	l->hook.field = counter->field;
	res = point_attach(point, l);
	if (res < 0)
		free(l);
	return res;
}

int site_count(uint32_t id, const struct counter *counter)
{
	struct point_state *point;
	int res;

	registry_lock();
	point = point_find(id);
	res = point ? emit_counter_count(point, counter) : -ENOENT;
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
