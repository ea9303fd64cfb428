/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fire.h - triggers on events of the kernel. The module counts and records firings in memory of a
 * channel of its own (LTT_KMOD_FIRES), which all triggers share; it is there while there is a
 * trigger, and outlives the daemon with the keeper. Owned by the domain; runs on the daemon's loop.
 */
#ifndef DOMAIN_KERNEL_FIRE_H
#define DOMAIN_KERNEL_FIRE_H

#include "io/loop.h"
#include "sessiond/domain/rec/filter.h"
#include "sessiond/domain/domain.h"
#include "trace/clock.h"

struct fired;
struct kernel_domain;

/** struct kernel_fire - @fired: NULL: there is no trigger. @serves: there was a request: the memory
 *  of an earlier daemon has been adopted, or there is none. @clock: for filters, which have no
 *  rates here. */
struct kernel_fire {
	struct list_node watchings; /* struct kernel_watching */
	struct fired *fired;
	bool serves;
	struct event_filters filters;
	struct clock_facts clock;
	struct loop_timer walk; /* sends events to the module, some in each turn of the loop */
	struct loop_work tidy;
};

extern const struct domain_trigger_ops kernel_fire_ops;

void kernel_fire_init(struct kernel_domain *kernel);
void kernel_fire_fini(struct kernel_domain *kernel);
/** There are more events: triggers on patterns watch them, too. */
void kernel_fire_again(struct kernel_domain *kernel);

#endif
