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
#include "fields.h"
#include "trace/record.h"

struct fires {
	struct ltt_fired *memory;
	struct irq_work bell;
	wait_queue_head_t sleepers;
};

/** struct fire - @values: the fields that a record has; those without a field have no value.
 *  @name: of the event; cut, and not terminated then. */
struct fire {
	struct fires *fires;
	const struct event *event;
	u32 slot, generation, role;
	u32 nr_values;
	struct stat_field values[LTT_FIRED_VALUES];
	char name[LTT_FIRED_EVENT];
};

/* --- values --------------------------------------------------------------- */

static void fire_put_text(const struct fire *fire, const struct stat_field *field,
			  const u8 *payload, u32 len, struct ltt_fired_record *to, u32 at)
{
	const u8 *from;
	u32 bytes = stat_text(fire->event, field, payload, len, &from);

	if (!from)
		return;
	to->kind[at] = bytes > LTT_FIRED_TEXT ? LTT_FIRED_CUT : LTT_FIRED_STRING;
	to->bytes[at] = min(bytes, LTT_FIRED_TEXT);
	memcpy(to->value[at].text, from, to->bytes[at]);
}

static void fire_put_value(const struct fire *fire, const u8 *payload, u32 len,
			   struct ltt_fired_record *to, u32 at)
{
	const struct stat_field *field = &fire->values[at];

	to->kind[at] = LTT_FIRED_NONE;
	if (!payload || field->kind == LTT_COUNTS_NONE)
		return;
	if (!field->bytes)
		fire_put_text(fire, field, payload, len, to, at);
	else if (stat_integer(field, payload, len, &to->value[at].bits))
		to->kind[at] =
			field->kind == LTT_COUNTS_SIGNED ? LTT_FIRED_SIGNED : LTT_FIRED_UNSIGNED;
}

static void fire_record(const struct fire *fire, const u8 *payload, u32 len,
			struct ltt_fired_record *to)
{
	u32 i;

	to->at_ns = ktime_get_real_fast_ns();
	to->duration = 0;
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
void notrace fire_hit(const struct fire *fire, const void *payload, u32 len)
{
	struct ltt_fired *memory = fire->fires->memory;
	atomic64_t *count = (atomic64_t *)&memory->slot[fire->slot].fired;
	u64 number;
	u32 at;

	if (fire->role == LTT_KMOD_FIRE_COUNT) {
		atomic64_inc(count);
		return;
	}
	at = fire_claim(memory, fire->slot, &number);
	atomic64_inc(count);
	if (at < LTT_FIRED_RECORDS) {
		fire_record(fire, payload, len, &memory->record[at]);
		fire_publish(&memory->state[at], fire->slot, number);
	}
	fires_ring(fire->fires);
}

bool fire_wants_payload(const struct fire *fire)
{
	return fire->nr_values;
}

u32 fire_slot(const struct fire *fire)
{
	return fire->slot;
}

/* --- triggers of events --------------------------------------------------- */

struct fire *fire_new(const struct fire_spec *spec, const struct event *event)
{
	const struct ltt_kmod_fire *request = &spec->request;
	const struct event *described = event->copy ? event->copy : event;
	struct fire *fire;
	u32 i;

	if (request->slot >= LTT_FIRED_SLOTS || request->role > LTT_KMOD_FIRE_COUNT ||
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
	for (i = 0; i < fire->nr_values; i++)
		if (field_locate(event, request->captures[i], &fire->values[i]))
			fire->values[i].kind = LTT_COUNTS_NONE;
	return fire;
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
	if (!fires)
		return;
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
