/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fetch.h - the arguments of a probe: values that are read from registers, the stack and memory at
 * each hit, by steps that were checked when the probe was created. Made in process context; read in
 * any context, NMIs included: nothing sleeps (unless @may_sleep), and values that can't be read are
 * replaced as ltt_kmod.h states.
 */
#ifndef KMOD_FETCH_H
#define KMOD_FETCH_H

#include <linux/types.h>

#include "event.h"
#include "ltt_kmod.h"

struct pt_regs;

/** struct fetch - @bytes: maximum size that fetch_put() fills. @may_sleep: the caller may sleep,
 *  so that the program's memory is also read if it is not resident. */
struct fetch {
	bool may_sleep;
	u32 nr_args;
	u32 bytes;
	struct ltt_kmod_arg args[];
};

/** enum fetch_place - kind of place, which determines the valid steps. */
enum fetch_place { FETCH_ANYWHERE, FETCH_AT_ENTRY, FETCH_AT_RETURN };

/** @args: address in the caller's memory. Return: to be freed by kfree(); NULL: there are no
 *  arguments; ERR_PTR. */
struct fetch *fetch_new(u64 args, u32 nr_args, enum fetch_place place);
/** Whether both produce the same payload. Either may be NULL. */
bool fetch_alike(const struct fetch *a, const struct fetch *b);
/** Describe the payload of an event: @nr_own of `ip`, `parent_ip`, `ret`, then the values of
 *  @fetch, which may be NULL. event->fields is allocated, to be freed by kfree(). Return: 0 or
 *  -ENOMEM. */
int fetch_describe(const struct fetch *fetch, u32 nr_own, struct event *event);
/** Write the values to @to. Return: number of bytes. */
u32 fetch_put(const struct fetch *fetch, struct pt_regs *regs, u8 *to);

#endif
