/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf.h - the counters of the processor and the kernel that contexts can record.
 */
#ifndef DOMAIN_KERNEL_PERF_H
#define DOMAIN_KERNEL_PERF_H

#include "kmod.h"
#include "base/err.h"
#include "trace/layout.h"

/** The parameters for the module that a counter's name stands for. Return: false: there is no
 *  such name. */
bool kernel_perf_find(const char *name, struct ltt_kmod_context *ret);
struct layout_field kernel_perf_field(const char *name);
/** Check that this machine has the counter. Return: 0, or the code set in @err. */
int kernel_check_perf(const struct kmod *kmod, const char *name, struct err *err) MUST_CHECK;
/** All counters of the machine, by names. */
void kernel_each_perf(const struct kmod *kmod,
		      void (*fn)(const struct layout_field *context, void *data), void *data);

#endif
