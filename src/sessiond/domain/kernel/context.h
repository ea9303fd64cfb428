/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * context.h - contexts of a channel's events: their descriptions, and their selection in the
 * module; among them the counters of the processor and the kernel.
 */
#ifndef DOMAIN_KERNEL_CONTEXT_H
#define DOMAIN_KERNEL_CONTEXT_H

#include "kmod.h"
#include "sessiond/domain/rec/recording.h"
#include "base/err.h"
#include "trace/layout.h"

struct kernel_domain;

/** The contexts of a comma-separated list, as a stream class declares those of its channel;
 *  allocated, or NULL. */
struct layout *kernel_contexts_of(struct kernel_domain *kernel, const char *names);
/** The declaration of those that the channel has got since: a part of each event class. To be
 *  freed; "": none. */
char *kernel_contexts_added(struct kernel_domain *kernel,
			    const struct trace_channel *trace_channel);
/** Send the channel's contexts to the module, those that it may lack: events that are enabled
 *  afterwards have them. Return: 0 or negative errno. */
int kernel_contexts_send(const struct kmod *kmod, struct ring *ring) MUST_CHECK;
/** The context's index in the module's list. Return: negative errno: there is none. */
int kernel_context_number(const struct kmod *kmod, const char *name) MUST_CHECK;
/** Check that triggers can capture it: that it is a number or a text. Return: 0, or the code set in
 *  @err. */
int kernel_check_captured(struct kernel_domain *kernel, const char *name,
			  struct err *err) MUST_CHECK;
/** Call @fn for each context of the module's list, which has no counters of perf. */
void kernel_each_own_context(struct kernel_domain *kernel,
			     void (*fn)(const struct layout_field *context, void *data),
			     void *data);

/* The counters of the processor and the kernel that contexts can record. */

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
