/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stats.h - events that are counted instead of being recorded: all together, by the values of a
 * field (a histogram), or by keys. ring_end() calls it instead of writing a record, for any probe.
 * A counter is owned by its event's hook. Made in process context; counts in any context, with
 * preemption off.
 *
 * The keys of a counter are in one table for all CPUs, as those of applications are
 * (abi/ltt_counts.h); each CPU has counts of its own, to which it alone adds.
 */
#ifndef KMOD_STATS_H
#define KMOD_STATS_H

#include <linux/types.h>

#include "event.h"
#include "ltt_counts.h"

struct fire;
struct fire_spec;
struct ltt_kmod_counted;
struct ltt_kmod_keys;
struct stat_counter;

#define STAT_ANYWHERE U32_MAX

/**
 * struct stat_field - a field that is counted by.
 * @nth: in the order of the payload.
 * @at: its position there; STAT_ANYWHERE: it is behind fields of variable length.
 * @bytes: of an integer; 0: it is a text, or there is no field.
 * @kind: LTT_COUNTS_SIGNED, _UNSIGNED or _TEXT; LTT_COUNTS_NONE: there is no field.
 */
struct stat_field {
	const struct field *field;
	u32 nth;
	u32 at;
	u8 bytes;
	u8 kind;
};

/** struct stat_spec - how an event is counted. @value: of the histogram. @nr_by: fields of the key;
 *  0: there are no keys. @fire: each hit fires this trigger, too; NULL: none. */
struct stat_spec {
	const struct event *event;
	struct stat_field value;
	u32 nr_by;
	struct stat_field by[LTT_COUNTS_BY_MAX];
	const struct fire_spec *fire;
};

/** Return: the counter, or ERR_PTR: -ENOMEM, or that of fire_new(). */
struct stat_counter *stat_new(const struct stat_spec *spec);
/** No event may be counted any more. NULL is allowed. */
void stat_free(struct stat_counter *stat);
/** Whether stat_hit() reads the payload. */
bool stat_wants_payload(const struct stat_counter *stat);
void stat_hit(struct stat_counter *stat, const void *payload, u32 len);
/** Count a hit whose payload could not be made. */
void stat_miss(struct stat_counter *stat);
/** The trigger that it fires, or NULL. */
const struct fire *stat_fire(const struct stat_counter *stat);

/** Whether a payload has the integer, and the value. */
bool stat_integer(const struct stat_field *field, const u8 *payload, u32 len, u64 *ret);
/** A text in a payload. Return: its bytes, without a NUL, at @ret_at; NULL: it is not there. */
u32 stat_text(const struct event *event, const struct stat_field *field, const u8 *payload, u32 len,
	      const u8 **ret_at);

/** An element of an array or sequence (field_locate_elements()). Return: whether it is there. */
bool stat_element(const struct event *event, const struct stat_field *field, u32 number,
		  const u8 *payload, u32 len, u64 *ret);

void stat_read(const struct stat_counter *stat, struct ltt_kmod_counted *ret);
/** Copy the keys to user space, as LTT_KMOD_COUNTED_KEYS. Return: 0; -EINVAL: there are none;
 *  -EFAULT. */
int stat_read_keys(const struct stat_counter *stat, struct ltt_kmod_keys *ret);

#endif
