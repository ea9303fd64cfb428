/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * claim.h - a ring set has one consumer at a time, as two would skip each other's records: the
 * address space that has mapped its control words, or a reader inside of the kernel. Part of a ring
 * set; any task in process context.
 *
 * An address space gives way to the next one as soon as its process is being killed: the successor
 * of a consumer does not wait until the kernel has taken the memory of the dead one apart.
 */
#ifndef KMOD_CLAIM_H
#define KMOD_CLAIM_H

#include <linux/pid.h>
#include <linux/spinlock.h>

/** struct claim - @by: only compared. @nr: times that it has claimed. @process: of an address
 *  space; else NULL. */
struct claim {
	spinlock_t lock;
	const void *by;
	unsigned int nr;
	struct pid *process;
};

void claim_init(struct claim *claim);
/** @process: the thread group of an address space @by, or NULL. Return: 0, or -EBUSY: another one
 *  has it. */
int claim_take(struct claim *claim, const void *by, struct pid *process);
/** Undo one claim_take(); nothing if another one has got it since. */
void claim_drop(struct claim *claim, const void *by);

#endif
