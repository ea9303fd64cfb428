/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * context.h - contexts of a channel's events: their descriptions, and their selection in the
 * module.
 */
#ifndef DOMAIN_KERNEL_CONTEXT_H
#define DOMAIN_KERNEL_CONTEXT_H

#include "kmod.h"
#include "sessiond/domain/rec/recording.h"

struct kernel_domain;

/** The contexts of the channel's events, as declared by its stream class; allocated, or NULL. */
struct layout *kernel_contexts_of(struct kernel_domain *kernel, const struct channel *channel);
/** Send them to the module, for a new channel. Return: 0 or negative errno. */
int kernel_contexts_send(const struct kmod *kmod, int module,
			 const struct channel *channel) MUST_CHECK;
/** Call @fn for each context of the module's list, which has no counters of perf. */
void kernel_each_own_context(struct kernel_domain *kernel,
			     void (*fn)(const struct layout_field *context, void *data),
			     void *data);

#endif
