/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * registry.h - all events of the module, whether they are available in the running kernel ("live"),
 * and the channels that record them. Process context only.
 */
#ifndef KMOD_REGISTRY_H
#define KMOD_REGISTRY_H

#include "event.h"
#include "ring_write.h"

/**
 * struct hook - connection of an event to a channel that records it. Owned by the channel. The
 * tracepoint passes it to the probe.
 * @own: data of the event's kind.
 */
struct hook {
	struct source source;
	bool connected;
	struct event *event;
	void *own;
	struct list_head of_event;
	struct list_head of_channel;
};

/** Add an event, which stays until registry_fini(). It is not live yet. Return: 0 or -ENOMEM. */
int registry_add(struct event *event, const struct event_kind *kind);
/** Frees all events; none may be enabled any more. */
void registry_fini(void);

u32 registry_nr_events(void);
/** Return: NULL after the last one. */
struct event *registry_event(u32 index);
/** @name: "system:name", or a name without a system. Return: NULL if there is none. */
struct event *registry_find(const char *name);
/** The event whose probe is compiled for the tracepoint @name, or NULL. */
struct event *registry_find_tracepoint(const char *name);
bool registry_is_live(const struct event *event);
/** Return: number of channels that record the event, or will when it is live. */
u32 registry_nr_hooks(const struct event *event);

/** Make an event live: channels that have it enabled record it from now on. */
void registry_comes(struct event *event);
void registry_goes(struct event *event);

/** Record the event from now on, or as soon as it is live. Return: 0 or -errno. */
int registry_connect(struct hook *hook);
/** The hook may be freed after compat_probes_synchronize(). */
void registry_disconnect(struct hook *hook);

#endif
