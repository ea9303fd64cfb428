/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fires.h - events that fire triggers: the memory in which firings are counted and recorded
 * (abi/ltt_fired.h), and the triggers of single events. The memory is owned by its channel, a
 * trigger of an event by the event's counter (stats.h). Made in process context; events fire in any
 * context, NMIs included, with preemption off.
 *
 * The session daemon may write anything into the memory.
 */
#ifndef KMOD_FIRES_H
#define KMOD_FIRES_H

#include <linux/poll.h>
#include <linux/types.h>

#include "ltt_kmod.h"

struct event;
struct fire;
struct fires;
struct file;
struct vm_area_struct;

/** Return: the memory, or ERR_PTR(-ENOMEM). */
struct fires *fires_new(void);
/** No event may fire there any more. NULL is allowed. */
void fires_free(struct fires *fires);
/** The operations of the descriptor. */
int fires_mmap(struct fires *fires, struct vm_area_struct *vma);
__poll_t fires_poll(struct fires *fires, struct file *file, poll_table *wait);

/** struct fire_spec - the trigger of an event: @request, which is checked by fire_new(). */
struct fire_spec {
	struct fires *fires;
	struct ltt_kmod_fire request;
};

/** @event: outlives it. Return: or ERR_PTR: -ENOMEM, -EINVAL. */
struct fire *fire_new(const struct fire_spec *spec, const struct event *event);
/** NULL is allowed. */
void fire_free(struct fire *fire);
bool fire_wants_payload(const struct fire *fire);
/** @payload: NULL: there is none, and no field has a value. */
void fire_hit(const struct fire *fire, const void *payload, u32 len);
u32 fire_slot(const struct fire *fire);

#endif
