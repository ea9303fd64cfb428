// SPDX-License-Identifier: GPL-2.0-only
#include "fires.h"

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>

#include "compat.h"
#include "context.h"
#include "fields.h"
#include "filter/program.h"
#include "trace/record.h"

#define PAIRS 4096u
#define PAIR_PROBES 8u /* places of a key */
#define PAIR_FREE 0u
#define PAIR_TAKEN 1u /* its key is being written */

/** struct pair - a begin. @time: of CLOCK_MONOTONIC, or PAIR_*. */
struct pair {
	u64 time, key;
};

/** struct pairing - the begins of a trigger, which its events share. */
struct pairing {
	u32 generation;
	struct pair all[PAIRS];
};

struct fires {
	struct ltt_fired *memory;
	struct pairing *pairings[LTT_FIRED_SLOTS];
	struct irq_work bell;
	wait_queue_head_t sleepers;
};

/** struct fire_value - a captured value. @kind: enum ltt_kmod_capture_kind. @field: without a kind:
 *  there is no value. @number: of the element of the field, or of the context. */
struct fire_value {
	struct stat_field field;
	u32 kind, number;
};

/** struct fire - @values: @wants_payload: one is of the payload. @name: of the event; cut, and not
 *  terminated then. @pairs, @threshold_ns: of pairs, with @key unless they are of one task. */
struct fire {
	struct fires *fires;
	struct pair *pairs;
	u64 threshold_ns;
	struct stat_field key;
	const struct event *event;
	u32 slot, generation, role;
	u32 nr_values;
	bool wants_payload;
	struct fire_value values[LTT_FIRED_VALUES];
	char name[LTT_FIRED_EVENT];
};

/* --- values --------------------------------------------------------------- */

static void fire_put_text(const u8 *from, u32 bytes, struct ltt_fired_record *to, u32 at)
{
	to->kind[at] = bytes > LTT_FIRED_TEXT ? LTT_FIRED_CUT : LTT_FIRED_STRING;
	to->bytes[at] = min(bytes, LTT_FIRED_TEXT);
	memcpy(to->value[at].text, from, to->bytes[at]);
}

static void fire_put_context(const struct fire_value *value, struct ltt_fired_record *to, u32 at)
{
	struct ltt_filter_value now;

	context_value(value->number, &now);
	if (now.kind == LTT_FILTER_TEXT) {
		fire_put_text(now.text, now.length, to, at);
		return;
	}
	to->value[at].bits = now.integer;
	to->kind[at] = context_field(value->number)->is_signed ? LTT_FIRED_SIGNED :
								 LTT_FIRED_UNSIGNED;
}

static void fire_put_field(const struct fire *fire, const struct fire_value *value,
			   const u8 *payload, u32 len, struct ltt_fired_record *to, u32 at)
{
	const struct stat_field *field = &value->field;
	const u8 *from;
	bool has;
	u32 bytes;

	if (!field->bytes) {
		bytes = stat_text(fire->event, field, payload, len, &from);
		if (from)
			fire_put_text(from, bytes, to, at);
		return;
	}
	if (value->kind == LTT_KMOD_CAPTURE_ELEMENT)
		has = stat_element(fire->event, field, value->number, payload, len,
				   &to->value[at].bits);
	else
		has = stat_integer(field, payload, len, &to->value[at].bits);
	if (has)
		to->kind[at] =
			field->kind == LTT_COUNTS_SIGNED ? LTT_FIRED_SIGNED : LTT_FIRED_UNSIGNED;
}

static void fire_put_value(const struct fire *fire, const u8 *payload, u32 len,
			   struct ltt_fired_record *to, u32 at)
{
	const struct fire_value *value = &fire->values[at];

	to->kind[at] = LTT_FIRED_NONE;
	if (value->kind == LTT_KMOD_CAPTURE_CONTEXT)
		fire_put_context(value, to, at);
	else if (payload && value->field.kind != LTT_COUNTS_NONE)
		fire_put_field(fire, value, payload, len, to, at);
}

static void fire_record(const struct fire *fire, u64 duration_ns, const u8 *payload, u32 len,
			struct ltt_fired_record *to)
{
	u32 i;

	to->at_ns = ktime_get_real_fast_ns();
	to->duration = duration_ns;
	to->program = 0;
	to->generation = fire->generation;
	to->pid = task_tgid_nr(current);
	to->tid = task_pid_nr(current);
	memcpy(to->comm, current->comm, sizeof(to->comm));
	memcpy(to->event, fire->name, sizeof(to->event));
	to->nr_values = fire->nr_values;
	for (i = 0; i < fire->nr_values; i++)
		fire_put_value(fire, payload, len, to, i);
}

/* --- firings -------------------------------------------------------------- */

/* Return: the number of a free record, which is claimed; or LTT_FIRED_RECORDS. */
static u32 fire_claim(struct ltt_fired *memory, u32 slot, u64 *ret_number)
{
	u64 number = (u64)atomic64_fetch_inc((atomic64_t *)&memory->next) << 16 >> 16;
	u32 i;

	*ret_number = number;
	for (i = 0; i < LTT_FIRED_PROBES; i++) {
		u32 at = (u32)(number + i) % LTT_FIRED_RECORDS;

		if (!READ_ONCE(memory->state[at]) &&
		    !cmpxchg(&memory->state[at], 0,
			     LTT_FIRED_STATE(LTT_FIRED_CLAIMED, slot, number)))
			return at;
	}
	return LTT_FIRED_RECORDS;
}

/* The daemon may have abandoned it meanwhile. */
static void fire_publish(u64 *state, u32 slot, u64 number)
{
	u64 abandoned = LTT_FIRED_STATE(LTT_FIRED_ABANDONED, slot, number);
	u64 claimed = LTT_FIRED_STATE(LTT_FIRED_CLAIMED, slot, number);

	if (cmpxchg(state, claimed, LTT_FIRED_STATE(LTT_FIRED_READY, slot, number)) != claimed)
		cmpxchg(state, abandoned, 0);
}

/* A reader that sleeps is woken once. */
static void fires_ring(struct fires *fires)
{
	struct ltt_fired *memory = fires->memory;

	smp_mb();
	if (READ_ONCE(memory->sleeping) && xchg(&memory->sleeping, 0))
		irq_work_queue(&fires->bell);
}

/* The order is that of abi/ltt_fired.h. */
static void fire_now(const struct fire *fire, u64 duration_ns, const void *payload, u32 len)
{
	struct ltt_fired *memory = fire->fires->memory;
	u64 number;
	u32 at = fire_claim(memory, fire->slot, &number);

	atomic64_inc((atomic64_t *)&memory->slot[fire->slot].fired);
	if (at < LTT_FIRED_RECORDS) {
		fire_record(fire, duration_ns, payload, len, &memory->record[at]);
		fire_publish(&memory->state[at], fire->slot, number);
	}
	fires_ring(fire->fires);
}

/* --- pairs ---------------------------------------------------------------- */

/* A begin has one of a few places, by its key. It is taken, filled and freed by its time; an event
 * that interrupts that passes it by. */
static struct pair *pair_place(const struct fire *fire, u64 key, u32 nth)
{
	return &fire->pairs[(ltt_counts_hash_word(0, key) + nth) % PAIRS];
}

static bool pair_write(struct pair *pair, u64 old, u64 key, u64 time)
{
	if (cmpxchg(&pair->time, old, PAIR_TAKEN) != old)
		return false;
	WRITE_ONCE(pair->key, key);
	smp_store_release(&pair->time, time);
	return true;
}

/* The newest begin of the key; NULL: there is none. */
static struct pair *pair_newest(const struct fire *fire, u64 key, u64 *ret_time)
{
	struct pair *newest = NULL;
	u32 i;

	*ret_time = PAIR_TAKEN;
	for (i = 0; i < PAIR_PROBES; i++) {
		struct pair *pair = pair_place(fire, key, i);
		u64 time = smp_load_acquire(&pair->time);

		if (time > *ret_time && READ_ONCE(pair->key) == key) {
			newest = pair;
			*ret_time = time;
		}
	}
	return newest;
}

/* The begin of a key replaces an earlier one; begins of a task nest. Without a free place the
 * oldest begin there is dropped. */
static void pair_begin(const struct fire *fire, u64 key, u64 now)
{
	u64 time, oldest_time = U64_MAX;
	struct pair *oldest = NULL, *pair;
	u32 i;

	if (fire->key.kind != LTT_COUNTS_NONE) {
		pair = pair_newest(fire, key, &time);
		if (pair && cmpxchg(&pair->time, time, now) == time)
			return;
	}
	for (i = 0; i < PAIR_PROBES; i++) {
		pair = pair_place(fire, key, i);
		time = READ_ONCE(pair->time);
		if (time == PAIR_FREE && pair_write(pair, time, key, now))
			return;
		if (time > PAIR_TAKEN && time < oldest_time) {
			oldest = pair;
			oldest_time = time;
		}
	}
	atomic64_inc((atomic64_t *)&fire->fires->memory->slot[fire->slot].evicted);
	if (oldest)
		pair_write(oldest, oldest_time, key, now);
}

/* Return: when it began; 0: it did not. */
static u64 pair_end(const struct fire *fire, u64 key)
{
	u64 time;
	struct pair *pair = pair_newest(fire, key, &time);

	return pair && cmpxchg(&pair->time, time, PAIR_FREE) == time ? time : 0;
}

/* Not the number of a task alone, which another one may have after it; the idle tasks have one. */
static u64 fire_task_key(void)
{
	if (!current->pid)
		return raw_smp_processor_id();
	return (u64)current->pid << 32 ^ current->start_time;
}

static bool fire_text_key(const struct fire *fire, const u8 *payload, u32 len, u64 *ret)
{
	u64 text[LTT_FIRED_TEXT / sizeof(u64)] = {};
	const u8 *from;
	u32 bytes = stat_text(fire->event, &fire->key, payload, len, &from);

	if (from)
		memcpy(text, from, min_t(u32, bytes, sizeof(text)));
	*ret = ltt_counts_hash(text, ARRAY_SIZE(text));
	return from;
}

static bool fire_key(const struct fire *fire, const u8 *payload, u32 len, u64 *ret)
{
	bool has = true;

	if (fire->key.kind == LTT_COUNTS_NONE)
		*ret = fire_task_key();
	else if (payload && fire->key.bytes)
		has = stat_integer(&fire->key, payload, len, ret);
	else
		has = payload && fire_text_key(fire, payload, len, ret);
	if (!has)
		atomic64_inc((atomic64_t *)&fire->fires->memory->slot[fire->slot].missed);
	return has;
}

static noinline void fire_pair(const struct fire *fire, const void *payload, u32 len)
{
	u64 now = ktime_get_mono_fast_ns(), begun, key;

	if (!fire_key(fire, payload, len, &key))
		return;
	if (fire->role == LTT_KMOD_FIRE_BEGIN) {
		pair_begin(fire, key, now);
		return;
	}
	begun = pair_end(fire, key);
	if (begun && now > begun && now - begun > fire->threshold_ns)
		fire_now(fire, now - begun, payload, len);
}

/* --- hits ----------------------------------------------------------------- */

void notrace fire_hit(const struct fire *fire, const void *payload, u32 len)
{
	if (fire->role == LTT_KMOD_FIRE_EVENT)
		fire_now(fire, 0, payload, len);
	else if (fire->role == LTT_KMOD_FIRE_COUNT)
		atomic64_inc((atomic64_t *)&fire->fires->memory->slot[fire->slot].fired);
	else
		fire_pair(fire, payload, len);
}

bool fire_wants_payload(const struct fire *fire)
{
	return fire->wants_payload || fire->key.kind != LTT_COUNTS_NONE;
}

u32 fire_slot(const struct fire *fire)
{
	return fire->slot;
}

/* --- triggers of events --------------------------------------------------- */

/* Of the slot: no event of an earlier trigger uses it any more. Return: 0 or -ENOMEM. */
static int fire_get_pairs(struct fire *fire)
{
	struct pairing **at = &fire->fires->pairings[fire->slot];

	if (!*at) {
		*at = kvzalloc(sizeof(**at), GFP_KERNEL_ACCOUNT);
		if (!*at)
			return -ENOMEM;
		(*at)->generation = fire->generation;
	}
	if ((*at)->generation != fire->generation) {
		memset(*at, 0, sizeof(**at));
		(*at)->generation = fire->generation;
	}
	fire->pairs = (*at)->all;
	return 0;
}

static int fire_prepare_pair(struct fire *fire, const struct ltt_kmod_fire *request)
{
	int ret = request->has_key ? field_locate(fire->event, request->key, &fire->key) : 0;

	fire->threshold_ns = request->threshold_ns;
	return ret ? ret : fire_get_pairs(fire);
}

/* A value that no event has is none. Return: 0 or -EINVAL. */
static int fire_prepare_value(struct fire *fire, const struct ltt_kmod_fire *request, u32 at)
{
	struct fire_value *value = &fire->values[at];
	u32 number = request->captures[at];
	int missing = 0;

	value->kind = request->kinds[at];
	value->number = request->elements[at];
	switch (value->kind) {
	case LTT_KMOD_CAPTURE_FIELD:
		missing = field_locate(fire->event, number, &value->field);
		break;
	case LTT_KMOD_CAPTURE_ELEMENT:
		missing = field_locate_elements(fire->event, number, &value->field);
		break;
	case LTT_KMOD_CAPTURE_CONTEXT:
		value->number = number;
		return context_has_value(number) ? 0 : -EINVAL;
	default:
		return -EINVAL;
	}
	fire->wants_payload = true;
	if (missing)
		value->field.kind = LTT_COUNTS_NONE;
	return 0;
}

struct fire *fire_new(const struct fire_spec *spec, const struct event *event)
{
	const struct ltt_kmod_fire *request = &spec->request;
	const struct event *described = event->copy ? event->copy : event;
	struct fire *fire;
	int ret = 0;
	u32 i;

	if (request->slot >= LTT_FIRED_SLOTS || request->role > LTT_KMOD_FIRE_END ||
	    request->nr_captures > LTT_FIRED_VALUES)
		return ERR_PTR(-EINVAL);
	fire = kzalloc(sizeof(*fire), GFP_KERNEL_ACCOUNT);
	if (!fire)
		return ERR_PTR(-ENOMEM);
	fire->fires = spec->fires;
	fire->event = event;
	fire->slot = request->slot;
	fire->generation = request->generation;
	fire->role = request->role;
	fire->nr_values = request->nr_captures;
	memcpy(fire->name, described->name, strnlen(described->name, sizeof(fire->name)));
	for (i = 0; i < fire->nr_values && !ret; i++)
		ret = fire_prepare_value(fire, request, i);
	if (!ret && fire->role >= LTT_KMOD_FIRE_BEGIN)
		ret = fire_prepare_pair(fire, request);
	if (!ret)
		return fire;
	kfree(fire);
	return ERR_PTR(ret);
}

void fire_free(struct fire *fire)
{
	kfree(fire);
}

/* --- the memory ----------------------------------------------------------- */

static void fires_wake(struct irq_work *work)
{
	wake_up_interruptible_all(&container_of(work, struct fires, bell)->sleepers);
}

struct fires *fires_new(void)
{
	struct fires *fires = kzalloc(sizeof(*fires), GFP_KERNEL_ACCOUNT);

	if (!fires)
		return ERR_PTR(-ENOMEM);
	fires->memory = vmalloc_user(sizeof(*fires->memory));
	if (!fires->memory) {
		kfree(fires);
		return ERR_PTR(-ENOMEM);
	}
	init_irq_work(&fires->bell, fires_wake);
	init_waitqueue_head(&fires->sleepers);
	return fires;
}

void fires_free(struct fires *fires)
{
	u32 i;

	if (!fires)
		return;
	for (i = 0; i < LTT_FIRED_SLOTS; i++)
		kvfree(fires->pairings[i]);
	irq_work_sync(&fires->bell);
	vfree(fires->memory);
	kfree(fires);
}

int fires_mmap(struct fires *fires, struct vm_area_struct *vma)
{
	if (!(vma->vm_flags & VM_MAYSHARE) || vma->vm_flags & VM_EXEC)
		return -EPERM;
	compat_vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYEXEC);
	return remap_vmalloc_range(vma, fires->memory, vma->vm_pgoff);
}

__poll_t fires_poll(struct fires *fires, struct file *file, poll_table *wait)
{
	poll_wait(file, &fires->sleepers, wait);
	return READ_ONCE(fires->memory->sleeping) ? 0 : EPOLLIN | EPOLLRDNORM;
}
