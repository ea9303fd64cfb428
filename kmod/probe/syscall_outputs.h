/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * syscall_outputs.h - memory of the caller that a system call fills: which arguments point to it,
 * and its fields. They are copied at the exit of the call, where the registers still have its
 * arguments, so nothing is kept for each task.
 */
#ifndef KMOD_SYSCALL_OUTPUTS_H
#define KMOD_SYSCALL_OUTPUTS_H

#include "event.h"

#define SYSCALL_OUTPUTS 4 /* of a call */

struct output;

/** struct outputs - of one call, those of fixed size first. */
struct outputs {
	const struct output *of[SYSCALL_OUTPUTS];
	u32 nr;
};

/** The outputs of a call, by its name; of a 32-bit program those that look the same there. */
void outputs_find(const char *call, bool compat, struct outputs *ret);
/** Return: the number of fields that outputs_describe() makes. */
u32 outputs_nr_fields(const struct outputs *outputs);
/** Describe the fields; their names begin with those of the arguments, and are to be freed, also
 *  if it fails. Return: 0 or -ENOMEM. */
int outputs_describe(const struct outputs *outputs, const char *const *args, struct field *fields);
/** Whether outputs_put() needs the entry of the call (outputs_keep()). */
bool outputs_need_entry(const struct outputs *outputs);
/** At the entry: keep the length of the buffer for an address, which the call overwrites with that
 *  of the address. */
void outputs_keep(const struct outputs *outputs, const unsigned long *args);
/**
 * outputs_put() - write the fields to @to, in the order of payloads. Does not sleep. Numbers are 0
 * and all else is empty where the call has failed or its memory can't be read; addresses also where
 * its entry was not seen. @args: arguments of the call. @with_data: also contents of files,
 * messages and the like.
 * Return: the address after it.
 */
u8 *outputs_put(const struct outputs *outputs, const unsigned long *args, long ret, bool with_data,
		u8 *to);

#endif
