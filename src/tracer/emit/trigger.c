// SPDX-License-Identifier: LGPL-2.1-or-later
#include "trigger.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <ltt/probe.h>
#include <ltt/site.h>

#include "filter/program.h"
#include "keys.h"
#include "tracer/ring/context.h"
#include "tracer/ring/fallback.h"
#include "tracer/ring/ring.h"
#include "tracer/ring/section.h"
#include "tracer/ring/spare.h"
#include "tracer/ring/sys.h"
#include "tracer/site/registry.h"
#include "view.h"

/** Of a trigger whose events have a payload of one word, and whose clock is the cycle counter: the
 *  role, and the place of the key. */
enum short_way {
	SHORT_NONE,
	SHORT_BEGIN,
	SHORT_END,
	SHORT_BEGIN_BY_THREAD,
	SHORT_END_BY_THREAD,
};

/** A trigger at a point. @by: of pairs with a key. @short_way: for trigger_hit_word(). @above_key:
 *  bits of the word above the key. */
struct trigger {
	struct trigger *next; /* in one of the lists below */
	struct trigger_spec spec;
	struct key_field by;
	uint8_t short_way, above_key;
};

static void emit_trigger_count(uint64_t *word)
{
	__atomic_add_fetch(word, 1, __ATOMIC_RELAXED);
}

/* --- firings ---------------------------------------------------------------------- */

/** A record that was claimed; @record is NULL if there was none. */
struct claim {
	struct ltt_fired_record *record;
	uint64_t *state, number;
};

static struct claim emit_trigger_claim(struct ltt_fired *fired, uint32_t slot)
{
	uint64_t number = __atomic_fetch_add(&fired->next, 1, __ATOMIC_RELAXED) << 16 >> 16;

	for (uint32_t i = 0; i < LTT_FIRED_PROBES; i++) {
		uint32_t at = (uint32_t)(number + i) % LTT_FIRED_RECORDS;
		uint64_t *state = &fired->state[at], none = 0;

		if (__atomic_compare_exchange_n(state, &none,
						LTT_FIRED_STATE(LTT_FIRED_CLAIMED, slot, number), 0,
						__ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			return (struct claim){ &fired->record[at], state, number };
	}
	return (struct claim){ 0 };
}

/* The daemon may have abandoned it meanwhile. */
static void emit_trigger_publish(const struct claim *claim, uint32_t slot)
{
	uint64_t claimed = LTT_FIRED_STATE(LTT_FIRED_CLAIMED, slot, claim->number);
	uint64_t abandoned = LTT_FIRED_STATE(LTT_FIRED_ABANDONED, slot, claim->number);
	uint64_t ready = LTT_FIRED_STATE(LTT_FIRED_READY, slot, claim->number);

	if (!__atomic_compare_exchange_n(claim->state, &claimed, ready, 0, __ATOMIC_SEQ_CST,
					 __ATOMIC_RELAXED))
		__atomic_compare_exchange_n(claim->state, &abandoned, 0, 0, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
}

static void emit_capture_text(const char *text, size_t len, struct ltt_fired_record *record,
			      uint32_t at)
{
	len = strnlen(text, len);
	record->kind[at] = len > LTT_FIRED_TEXT ? LTT_FIRED_CUT : LTT_FIRED_STRING;
	record->bytes[at] = (uint8_t)(len > LTT_FIRED_TEXT ? LTT_FIRED_TEXT : len);
	memcpy(record->value[at].text, text, record->bytes[at]);
}

static void emit_capture_integer(const struct ltt_elements *list, const void *from,
				 struct ltt_fired_record *record, uint32_t at)
{
	uint32_t unused = 64u - list->size_bits;
	uint64_t bits = 0;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	memcpy((char *)&bits + unused / 8, from, list->size_bits / 8);
#else
	memcpy(&bits, from, list->size_bits / 8);
#endif
	record->kind[at] = list->is_signed ? LTT_FIRED_SIGNED : LTT_FIRED_UNSIGNED;
	record->value[at].bits =
		list->is_signed ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits;
}

static void emit_capture_element(const struct ltt_event_view *view, uint32_t index, uint32_t number,
				 struct ltt_fired_record *record, uint32_t at)
{
	struct ltt_elements list;
	const char *from;
	float real;

	if (ltt_view_elements(view, (int)index, &list) < 0 || number >= list.count ||
	    list.size_bits < 8 || list.size_bits > 64)
		return;
	from = (const char *)list.data + (size_t)number * (list.size_bits / 8);
	if (!list.is_float) {
		emit_capture_integer(&list, from, record, at);
		return;
	}
	record->kind[at] = LTT_FIRED_DOUBLE;
	memcpy(&record->value[at].real, from, sizeof(double) * (list.size_bits == 64));
	if (list.size_bits == 32) {
		memcpy(&real, from, sizeof(real));
		record->value[at].real = real;
	}
}

static void emit_capture(const struct ltt_event_view *view, uint32_t index,
			 struct ltt_fired_record *record, uint32_t at)
{
	const struct ltt_field *field = &view->fields[index];
	const char *text;
	uint64_t bits;
	double real;
	size_t len;
	int negative;

	if (field->kind == LTT_KIND_FLOAT) {
		if (ltt_view_float(view, (int)index, &real) == 0) {
			record->kind[at] = LTT_FIRED_DOUBLE;
			record->value[at].real = real;
		}
	} else if (view_integer(view, (int)index, &bits, &negative) == 0) {
		record->kind[at] =
			field->flags & LTT_FIELD_SIGNED ? LTT_FIRED_SIGNED : LTT_FIRED_UNSIGNED;
		record->value[at].bits = bits;
	} else if (ltt_view_string(view, (int)index, &text, &len) == 0) {
		emit_capture_text(text, len, record, at);
	}
}

static void emit_capture_value(const struct ltt_filter_value *value,
			       struct ltt_fired_record *record, uint32_t at)
{
	if (value->kind == LTT_FILTER_INTEGER) {
		record->kind[at] = LTT_FIRED_SIGNED;
		record->value[at].bits = (uint64_t)value->integer;
	} else if (value->kind == LTT_FILTER_NUMBER) {
		record->kind[at] = LTT_FIRED_DOUBLE;
		record->value[at].real = value->number;
	} else if (value->kind == LTT_FILTER_TEXT) {
		emit_capture_text(value->text, value->length, record, at);
	}
}

/* The address of the call is not known here. */
static __attribute__((noinline)) void emit_capture_contexts(const struct trigger_spec *spec,
							    struct ltt_fired_record *record)
{
	struct ltt_filter_value values[CONTEXT_VALUES];
	bool is_long = context_bytes(spec->contexts) > CONTEXT_STACK;
	unsigned char stack[CONTEXT_STACK + sizeof(uint64_t)];
	unsigned char *memory = is_long ? spare_take(SPARE_FILTER) : stack;

	if (!memory)
		return;
	context_values(spec->contexts, memory, values, NULL);
	for (uint32_t i = 0; i < record->nr_values; i++)
		if (spec->capture_kinds[i] == TRIGGER_CAPTURE_CONTEXT &&
		    spec->capture_numbers[i] < context_nr(spec->contexts))
			emit_capture_value(&values[spec->capture_numbers[i]], record, i);
	if (is_long)
		spare_release(memory);
}

static void emit_trigger_record(const struct trigger_spec *spec, struct ltt_fired_record *record,
				uint64_t duration, const struct ltt_site *site,
				const struct ltt_event_view *view)
{
	struct context_task task = { 0 };
	struct timespec now = { 0 };
	uint32_t nr = spec->nr_captures;

	clock_gettime(CLOCK_REALTIME, &now);
	context_task(&task);
	record->at_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	record->duration = duration;
	record->program = spec->program;
	record->generation = spec->generation;
	record->pid = task.pid;
	record->tid = task.tid;
	memcpy(record->comm, task.name, sizeof(record->comm));
	memset(record->event, 0, sizeof(record->event));
	memcpy(record->event, site->event->name, strnlen(site->event->name, sizeof(record->event)));
	record->nr_values = nr < LTT_FIRED_VALUES ? nr : LTT_FIRED_VALUES;
	memset(record->kind, LTT_FIRED_NONE, sizeof(record->kind));
	for (uint32_t i = 0; i < record->nr_values; i++) {
		uint32_t field = spec->captures[i];

		if (field >= view->nr_fields)
			continue;
		if (spec->capture_kinds[i] == TRIGGER_CAPTURE_FIELD)
			emit_capture(view, field, record, i);
		else if (spec->capture_kinds[i] == TRIGGER_CAPTURE_ELEMENT)
			emit_capture_element(view, field, spec->capture_numbers[i], record, i);
	}
	if (spec->contexts)
		emit_capture_contexts(spec, record);
}

/* The order is that of abi/ltt_fired.h. */
static __attribute__((noinline)) void emit_trigger_fire(const struct trigger_spec *spec,
							uint64_t duration,
							const struct ltt_site *site,
							const void *payload, size_t len)
{
	struct ltt_fired *fired = spec->fired;
	uint32_t slot = spec->slot % LTT_FIRED_SLOTS;
	const struct ltt_event_view view = view_of(site, payload, len);
	int saved = errno;
	struct claim claim = emit_trigger_claim(fired, slot);

	__atomic_add_fetch(&fired->slot[slot].fired, 1, __ATOMIC_SEQ_CST);
	if (claim.record) {
		emit_trigger_record(spec, claim.record, duration, site, &view);
		emit_trigger_publish(&claim, slot);
	}
	__atomic_add_fetch(&fired->bell, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&fired->sleeping, __ATOMIC_SEQ_CST))
		ring_doorbell(&fired->bell);
	errno = saved;
}

/* --- pairs ------------------------------------------------------------------------ */

/*
 * Each key has two buckets. A begin goes to the first one, to the second if that is full, and
 * replaces the oldest begin of both if both are. An entry is taken, filled and released by its
 * time; a thread that finds it in between passes it by.
 */
#define BUCKETS 1024u
#define WAYS 4u
#define TIME_FREE 0u
#define TIME_WRITTEN 1u /* a thread is writing the key */

struct pair_entry {
	uint64_t time, key;
};

/** @spilled: a second bucket has been used. */
struct pairing {
	struct pair_entry entry[BUCKETS][WAYS];
	uint32_t spilled;
};

/** @wiped: by the kernel, in a forked child. */
struct pairing_place {
	struct pairing_place *next;
	struct pairing *pairs;
	bool wiped, used;
};

static struct pairing_place *pairings;

static __thread uint64_t thread_key __attribute__((tls_model("initial-exec")));

/* Not the thread's number, which another thread may have after it. */
static inline uint64_t pair_thread_key(void)
{
	static uint64_t last;

	if (unlikely(!thread_key))
		thread_key = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	return thread_key;
}

/* More than TIME_WRITTEN. */
static inline uint64_t pair_clock(const struct trigger_spec *spec)
{
	return TIME_WRITTEN + 1 +
	       (spec->clock == LTT_CLOCK_CYCLES ? section_read_cycles() : ring_clock_monotonic());
}

static inline struct pair_entry *pair_bucket(struct pairing *pairs, uint64_t key, bool second)
{
	uint64_t hash = key * 0x9e3779b97f4a7c15ull;

	return pairs->entry[(second ? hash >> 44 : hash >> 54) % BUCKETS];
}

static inline bool pair_swap_time(struct pair_entry *entry, uint64_t old, uint64_t new)
{
	return __atomic_compare_exchange_n(&entry->time, &old, new, 0, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

static inline bool pair_write(struct pair_entry *entry, uint64_t old, uint64_t key, uint64_t time)
{
	if (!pair_swap_time(entry, old, TIME_WRITTEN))
		return false;
	__atomic_store_n(&entry->key, key, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->time, time, __ATOMIC_RELEASE);
	return true;
}

static inline bool pair_is_of(const struct pair_entry *entry, uint64_t time, uint64_t key)
{
	return time > TIME_WRITTEN && __atomic_load_n(&entry->key, __ATOMIC_RELAXED) == key;
}

/* The newest begin of the key in the bucket, if it is newer than @ret_time. */
static inline void pair_newest(struct pair_entry *bucket, uint64_t key, struct pair_entry **ret,
			       uint64_t *ret_time)
{
	for (uint32_t i = 0; i < WAYS; i++) {
		uint64_t time = __atomic_load_n(&bucket[i].time, __ATOMIC_ACQUIRE);

		if (time > *ret_time && pair_is_of(&bucket[i], time, key)) {
			*ret = &bucket[i];
			*ret_time = time;
		}
	}
}

/* All entries of the bucket but the first are free, and no second bucket has been used. */
static inline bool pair_is_alone(const struct pairing *pairs, const struct pair_entry *bucket)
{
	uint64_t any = __atomic_load_n(&pairs->spilled, __ATOMIC_RELAXED);

#pragma GCC unroll 4
	for (uint32_t i = 1; i < WAYS; i++)
		any |= __atomic_load_n(&bucket[i].time, __ATOMIC_RELAXED);
	return any == TIME_FREE;
}

/* Take out the newest begin of the key. Return: its time; 0: there is none. */
static __attribute__((noinline)) uint64_t pair_take_any(struct pairing *pairs, uint64_t key)
{
	for (uint32_t i = 0; i < 2 * WAYS; i++) {
		struct pair_entry *entry = NULL;
		uint64_t time = TIME_WRITTEN;

		pair_newest(pair_bucket(pairs, key, false), key, &entry, &time);
		pair_newest(pair_bucket(pairs, key, true), key, &entry, &time);
		if (!entry)
			break;
		if (pair_swap_time(entry, time, TIME_FREE))
			return time;
	}
	return 0;
}

/* The usual case: take out the only begin of the bucket, of a pair that does not fire. */
static inline bool pair_pass(const struct trigger_spec *spec, uint64_t key, uint64_t now)
{
	struct pair_entry *entry = pair_bucket(spec->pairs, key, false);
	uint64_t begun = __atomic_load_n(&entry->time, __ATOMIC_ACQUIRE);

	return pair_is_of(entry, begun, key) && pair_is_alone(spec->pairs, entry) &&
	       (now <= begun || now - begun <= spec->threshold) &&
	       pair_swap_time(entry, begun, TIME_FREE);
}

static inline bool pair_write_free(struct pair_entry *bucket, uint64_t key, uint64_t time)
{
	for (uint32_t i = 0; i < WAYS; i++)
		if (__atomic_load_n(&bucket[i].time, __ATOMIC_RELAXED) == TIME_FREE &&
		    pair_write(&bucket[i], TIME_FREE, key, time))
			return true;
	return false;
}

static void pair_oldest(struct pair_entry *bucket, struct pair_entry **ret, uint64_t *ret_time)
{
	for (uint32_t i = 0; i < WAYS; i++) {
		uint64_t time = __atomic_load_n(&bucket[i].time, __ATOMIC_RELAXED);

		if (time > TIME_WRITTEN && time < *ret_time) {
			*ret = &bucket[i];
			*ret_time = time;
		}
	}
}

static bool pair_replace(struct pair_entry *bucket, uint64_t key, uint64_t time)
{
	for (uint32_t i = 0; i < WAYS; i++) {
		uint64_t old = __atomic_load_n(&bucket[i].time, __ATOMIC_ACQUIRE);

		if (pair_is_of(&bucket[i], old, key) && pair_swap_time(&bucket[i], old, time))
			return true;
	}
	return false;
}

/* One begin is dropped if both buckets are full: of the new ones, if all others are being
 * changed. */
static void pair_drop_oldest(const struct trigger_spec *spec, uint64_t key, uint64_t time)
{
	struct pair_entry *oldest = NULL;
	uint64_t oldest_time = UINT64_MAX;

	emit_trigger_count(&spec->fired->slot[spec->slot % LTT_FIRED_SLOTS].evicted);
	pair_oldest(pair_bucket(spec->pairs, key, false), &oldest, &oldest_time);
	pair_oldest(pair_bucket(spec->pairs, key, true), &oldest, &oldest_time);
	if (oldest)
		(void)pair_write(oldest, oldest_time, key, time);
}

/* Begins of a thread nest, as its functions do. The begin of a key replaces an earlier one. */
static __attribute__((noinline)) void pair_add_any(const struct trigger_spec *spec, uint64_t key,
						   uint64_t time)
{
	struct pair_entry *first = pair_bucket(spec->pairs, key, false);
	struct pair_entry *second = pair_bucket(spec->pairs, key, true);

	if (spec->key != TRIGGER_BY_THREAD &&
	    (pair_replace(first, key, time) || pair_replace(second, key, time)))
		return;
	if (pair_write_free(first, key, time))
		return;
	__atomic_store_n(&spec->pairs->spilled, 1, __ATOMIC_RELAXED);
	if (!pair_write_free(second, key, time))
		pair_drop_oldest(spec, key, time);
}

/* The usual case is an empty bucket. */
static inline void pair_begin(const struct trigger_spec *spec, uint64_t key, uint64_t time)
{
	struct pair_entry *entry = pair_bucket(spec->pairs, key, false);

	if (unlikely(!pair_is_alone(spec->pairs, entry) ||
		     !pair_write(entry, TIME_FREE, key, time)))
		pair_add_any(spec, key, time);
}

static inline bool pair_key(const struct trigger *t, const struct ltt_site *site,
			    const void *payload, size_t len, uint64_t *ret_key)
{
	const struct key_field by = t->by; /* the trigger may become another one */

	if (t->spec.key == TRIGGER_BY_THREAD) {
		*ret_key = pair_thread_key();
		return true;
	}
	if (likely(key_field_is_plain(&by, len))) {
		*ret_key = key_field_plain(&by, payload);
		return true;
	}
	if (likely(key_field_word(&by, site, payload, len, ret_key)))
		return true;
	emit_trigger_count(&t->spec.fired->slot[t->spec.slot % LTT_FIRED_SLOTS].missed);
	return false;
}

static void pair_end(const struct trigger *t, uint64_t key, const struct ltt_site *site,
		     const void *payload, size_t len)
{
	const struct trigger_spec *spec = &t->spec;
	uint64_t now = pair_clock(spec), begun;

	if (likely(pair_pass(spec, key, now)))
		return;
	begun = pair_take_any(spec->pairs, key);
	if (begun && now > begun && now - begun > spec->threshold)
		emit_trigger_fire(spec, now - begun, site, payload, len);
}

struct pairing *pairing_new(void)
{
	struct pairing_place *place = pairings;
	void *memory;

	while (place && place->used)
		place = place->next;
	if (place) {
		place->used = true;
		return place->pairs;
	}
	place = calloc(1, sizeof(*place));
	memory = place ? mmap(NULL, sizeof(struct pairing), PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) :
			 MAP_FAILED;
	if (memory == MAP_FAILED) {
		free(place);
		return NULL;
	}
	place->wiped = madvise(memory, sizeof(struct pairing), MADV_WIPEONFORK) == 0;
	place->pairs = memory;
	place->used = true;
	place->next = pairings;
	pairings = place;
	return memory;
}

void pairing_release(struct pairing *pairs)
{
	for (struct pairing_place *place = pairings; place; place = place->next)
		if (place->pairs == pairs) {
			(void)madvise(pairs, sizeof(*pairs), MADV_DONTNEED);
			place->used = false;
		}
}

void pairings_after_fork_child(void)
{
	for (struct pairing_place *place = pairings; place; place = place->next)
		if (!place->wiped)
			(void)madvise(place->pairs, sizeof(*place->pairs), MADV_DONTNEED);
}

/* --- hits ------------------------------------------------------------------------- */

void trigger_hit(const struct trigger *t, const struct ltt_site *site, const void *payload,
		 size_t len)
{
	const struct trigger_spec *spec = &t->spec;
	uint64_t key;

	switch (spec->role) {
	case TRIGGER_MATCH:
		emit_trigger_fire(spec, 0, site, payload, len);
		break;
	case TRIGGER_COUNT:
		emit_trigger_count(&spec->fired->slot[spec->slot % LTT_FIRED_SLOTS].fired);
		break;
	case TRIGGER_BEGIN:
		if (likely(pair_key(t, site, payload, len, &key)))
			pair_begin(spec, key, pair_clock(spec));
		break;
	case TRIGGER_END:
		if (likely(pair_key(t, site, payload, len, &key)))
			pair_end(t, key, site, payload, len);
		break;
	default:
		break;
	}
}

static __attribute__((noinline)) void trigger_hit_memory(const struct ltt_site *site, uint64_t word,
							 size_t len, const struct trigger *t)
{
	const uint64_t payload[1 + LTT_PAYLOAD_SLACK / 8] = { word };

	trigger_hit(t, site, payload, len);
}

static inline uint64_t trigger_key_of_word(const struct trigger *t, uint64_t word)
{
	uint32_t above = t->above_key & 63;

	word <<= above;
	return t->by.kind == LTT_COUNTS_SIGNED ? (uint64_t)((int64_t)word >> above) : word >> above;
}

static inline uint64_t trigger_cycles(void)
{
	return TIME_WRITTEN + 1 + section_read_cycles();
}

/* All calls are jumps, so that no register is saved. */
void trigger_hit_word(const struct ltt_site *site, uint64_t word, size_t len,
		      const struct trigger *t)
{
	uint8_t way = t->short_way;

	if (way == SHORT_BEGIN)
		pair_begin(&t->spec, trigger_key_of_word(t, word), trigger_cycles());
	else if (way == SHORT_BEGIN_BY_THREAD && thread_key)
		pair_begin(&t->spec, thread_key, trigger_cycles());
	else if (!(way == SHORT_END && pair_pass(&t->spec, trigger_key_of_word(t, word),
						 trigger_cycles())) &&
		 !(way == SHORT_END_BY_THREAD &&
		   pair_pass(&t->spec, thread_key, trigger_cycles())))
		trigger_hit_memory(site, word, len, t);
}

static enum short_way trigger_short_way(const struct trigger_spec *spec, const struct key_field *by)
{
	bool by_thread = spec->key == TRIGGER_BY_THREAD;
	bool in_word = by->bytes && !by->offset && !by->swapped &&
		       __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

	if (spec->clock != LTT_CLOCK_CYCLES || (!by_thread && !in_word))
		return SHORT_NONE;
	if (spec->role == TRIGGER_BEGIN)
		return by_thread ? SHORT_BEGIN_BY_THREAD : SHORT_BEGIN;
	if (spec->role == TRIGGER_END)
		return by_thread ? SHORT_END_BY_THREAD : SHORT_END;
	return SHORT_NONE;
}

void trigger_hit_oversize(const struct hook *hook, const struct ltt_site *site)
{
	const struct trigger *t = __atomic_load_n(&hook->trigger, __ATOMIC_ACQUIRE);

	if (t && !__atomic_load_n(&hook->preparation, __ATOMIC_RELAXED))
		trigger_hit(t, site, NULL, 0);
}

/* --- memory of triggers ----------------------------------------------------------- */

/* Released triggers are used again as late as possible, by the order of the list. */
static struct trigger *unused_triggers, **unused_end = &unused_triggers;
static struct trigger *released; /* by any thread; no lock */

static void emit_trigger_release(void *owned)
{
	struct trigger *t = owned;

	t->next = __atomic_load_n(&released, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&released, &t->next, t, 1, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
}

/* With the registry's lock. */
static struct trigger *emit_trigger_new(const struct trigger_spec *spec)
{
	struct trigger *t;

	*unused_end = __atomic_exchange_n(&released, NULL, __ATOMIC_ACQUIRE);
	while (*unused_end)
		unused_end = &(*unused_end)->next;
	t = unused_triggers;
	if (t) {
		unused_triggers = t->next;
		if (!unused_triggers)
			unused_end = &unused_triggers;
	} else {
		t = malloc(sizeof(*t));
	}
	if (t) {
		memset(t, 0, sizeof(*t));
		t->spec = *spec;
	}
	return t;
}

/* --- watching points -------------------------------------------------------------- */

static struct listener *emit_trigger_find(const struct point_state *point,
					  const struct ltt_fired *fired, uint32_t slot,
					  enum trigger_role role)
{
	struct listener *l = point->listeners;

	while (l) {
		const struct trigger_spec *spec = l->hook.trigger ? &l->hook.trigger->spec : NULL;

		if (spec && spec->fired == fired && spec->slot == slot && spec->role == role)
			break;
		l = l->next;
	}
	return l;
}

static int emit_trigger_watch(struct point_state *point, const struct trigger_spec *spec)
{
	struct listener *old = emit_trigger_find(point, spec->fired, spec->slot, spec->role);
	bool paired = spec->role == TRIGGER_BEGIN || spec->role == TRIGGER_END;
	struct key_field by = { 0 };
	struct listener *new;
	int res = 0;

	if (paired && spec->key != TRIGGER_BY_THREAD &&
	    !key_field_make(point->pub.fields, point->pub.nr_fields, spec->key, &by))
		return -EINVAL;
	new = listener_new(NULL, NULL);
	if (!new)
		return -ENOMEM;
	new->hook.trigger = emit_trigger_new(spec);
	if (!new->hook.trigger) {
		free(new);
		return -ENOMEM;
	}
	new->hook.trigger->by = by;
	new->hook.trigger->short_way = (uint8_t)trigger_short_way(spec, &by);
	new->hook.trigger->above_key = (uint8_t)(64 - 8 * by.bytes);
	new->hook.preparation = spec->preparation;
	new->owned = new->hook.trigger;
	new->release = emit_trigger_release;
	if (old)
		point_swap(point, old, new);
	else
		res = point_attach(point, new);
	if (res < 0) {
		emit_trigger_release(new->owned);
		free(new);
	}
	return res;
}

int site_watch(uint32_t id, const struct trigger_spec *spec)
{
	struct point_state *point;
	int res;

	registry_lock();
	point = point_find(id);
	res = point ? emit_trigger_watch(point, spec) : -ENOENT;
	registry_unlock();
	limbo_drain_if_full();
	return res;
}

int site_unwatch(uint32_t id, const struct ltt_fired *fired, uint32_t slot, enum trigger_role role)
{
	struct point_state *point;
	struct listener *l;

	registry_lock();
	point = point_find(id);
	l = point ? emit_trigger_find(point, fired, slot, role) : NULL;
	if (l)
		point_detach(point, l);
	registry_unlock();
	limbo_drain_if_full();
	return l ? 0 : -ENOENT;
}

bool site_is_known(uint32_t id)
{
	bool known;

	registry_lock();
	known = point_find(id) != NULL;
	registry_unlock();
	return known;
}
