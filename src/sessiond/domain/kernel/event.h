/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * event.h - the events that the kernel module lists, and their shapes. Owned by the domain.
 */
#ifndef DOMAIN_KERNEL_EVENT_H
#define DOMAIN_KERNEL_EVENT_H

#include "kmod.h"
#include "sessiond/domain/rec/recording.h"

struct kernel_domain;

/** An event of the module's list. */
struct kernel_event {
	char *name;	  /* from the module: "system:name", or the name of a system call's event */
	const char *bare; /* without the system: the name in traces */
	uint32_t index;	  /* in the module's list */
	uint32_t nr_fields;
	uint32_t flags;
	struct shape *shape; /* created on demand */
	bool refused;	     /* its fields can't be described; logged once */
};

/** Read the list of events. Return: 0 or negative errno. */
int kernel_events_load(struct kernel_domain *kernel);
void kernel_events_free(struct kernel_domain *kernel);
/** Append a field as described by the module. Return: false where there is no room. */
bool kernel_add_field(struct layout *layout, const struct ltt_kmod_field *f);
/** Return: the event's shape, borrowed; NULL: it can't be described. */
struct shape *kernel_event_shape(struct kernel_domain *kernel, struct kernel_event *event);
/** Whether a rule matches this event. */
bool kernel_rule_matches(const struct rule *rule, const struct kernel_event *event);
/** The same, regardless of the rule's kind. */
bool kernel_rule_names(const struct rule *rule, const struct kernel_event *event);
bool kernel_wants(const struct channel *channel, const struct kernel_event *event);
/** An event of this name, with or without its system; NULL. */
struct kernel_event *kernel_event_find(const struct kernel_domain *kernel, const char *name);

#endif
