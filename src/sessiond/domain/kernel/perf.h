/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf.h - the counters of the processor and the kernel that contexts can record.
 */
#ifndef DOMAIN_KERNEL_PERF_H
#define DOMAIN_KERNEL_PERF_H

#include "kmod.h"
#include "base/err.h"
#include "trace/layout.h"

/** Translate the name of a counter to parameters of the kernel module. Return: false: no such
 *  counter. */
bool kernel_perf_find(const char *name, struct ltt_kmod_context *ret);
struct layout_field kernel_perf_field(const char *name);
/** Check that this machine has the counter. Return: 0, or the code set in @err. */
int kernel_perf_check(const struct kmod *kmod, const char *name, struct err *err) MUST_CHECK;
/** Call @fn with each counter of the machine. */
void kernel_perf_each(const struct kmod *kmod,
		      void (*fn)(const struct layout_field *context, void *data), void *data);

#endif
