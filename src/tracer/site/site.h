/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * site.h - the registry of sites, and hooking listeners to them.
 *
 * One registry a process, one lock (a plain mutex that the fork handlers
 * take). Points are what the daemon sees: one *point* stands for all sites that
 * share name, kind, level and field layout (a marker name with two formats is
 * two points). Point ids are never reused within a process.
 */
#ifndef TRACER_SITE_SITE_H
#define TRACER_SITE_SITE_H

#include <stdint.h>
#include <stddef.h>

#include <ltt/site.h>

struct ring_set;

struct point {
	uint32_t id;
	const struct ltt_event *event; /* fields filled in for markers too */
	const struct ltt_field *fields;
	uint32_t nr_fields;
	uint32_t nr_sites;
};

/**
 * Called when points are added or removed, with the registry's lock held: must not block
 * and must not call back into the registry. The application side (app.c)
 * queues and wakes the helper thread.
 */
struct point_listener {
	void (*added)(const struct point *point, void *data);
	void (*removed)(uint32_t id, void *data);
	void *data;
};

/** Set the listener and call it for all existing points. NULL removes it. */
void site_listen(const struct point_listener *listener);

/**
 * site_arm() - record a point into a ring set under an event id.
 * @replaces: a set that the new one takes over from, or NULL: hooks of the point
 *            to @replaces are swapped in one store, so that no event is recorded
 *            twice or not at all (a forked child that gets buffers of its own).
 * Sites of the point that appear later are armed too.
 * Return: 0, 1 (was armed so already), -ENOENT (no such point), -ENOMEM.
 */
int site_arm(uint32_t point, struct ring_set *set, uint32_t session, uint32_t event_id,
	     struct ring_set *replaces);

/** Stop; -ENOENT if it was not armed. Caller synchronises. */
int site_disarm(uint32_t point, struct ring_set *set);

/** Remove a set from every site. Caller synchronises before unmapping. */
void site_disarm_all(struct ring_set *set);
/** No sequence that begins from now on records or counts: ring_stop_sequences(). Any
 *  thread, no signal handler. */
void site_stop_sequences(void);

/** Restrict what the calling thread emits to one session; 0 lifts it. State
 *  dumps use it. Async-signal safe. */
void site_only_session(uint32_t session);

/** Suppress what the calling thread emits (nests): libltt's own malloc calls
 *  must not be traced by the malloc wrapper. */
void site_mute(void);
void site_unmute(void);

/* fork handlers, in the order in which fork.c calls them */
void site_before_fork(void);
void site_after_fork_parent(void);
void site_after_fork_child(void);

#endif
