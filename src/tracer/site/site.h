/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * site.h - the registry of sites, and hooking listeners to them.
 *
 * One registry in each process, with one lock (a plain mutex that the fork handlers
 * take). Points are announced to the daemon: a *point* stands for all sites with the
 * same name, kind, level and field layout (a marker name with two formats is two
 * points). Point ids are never reused within a process.
 */
#ifndef TRACER_SITE_SITE_H
#define TRACER_SITE_SITE_H

#include <stdbool.h>
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
 * and must not call the registry. The agent's listener (agent/points.c) queues them and wakes the
 * helper thread.
 */
struct point_listener {
	void (*added)(const struct point *point, void *data);
	void (*removed)(uint32_t id, void *data);
	void *data;
};

/** Keep sites that are registered by the next call of site_register_rest(). @base: where the object
 *  begins that has them. */
void site_register_late(struct ltt_site *const *begin, struct ltt_site *const *end,
			const void *base);
/** Before a daemon or the program sees the points. Not with the registry's lock held. It does not
 *  wait for the loader, whose lock a thread may hold that waits for the helper. */
void site_register_rest(void);

/** Set the listener and call it for all existing points. NULL removes it. */
void site_listen(const struct point_listener *listener);

/**
 * site_arm() - record a point into a ring set under an event id.
 * @preparation: run before each record (prepare.h); 0: none.
 * @replaces: a set that @set replaces, or NULL: each hook is changed by one store,
 *            so that no event is recorded twice or not at all (in a forked child that
 *            receives separate buffers).
 * Sites of the point that appear later are armed too.
 * Return: 0, 1 (it was armed in this way already), -ENOENT (no such point), -ENOMEM.
 */
int site_arm(uint32_t point, struct ring_set *set, uint32_t session, uint32_t event_id,
	     uint32_t preparation, struct ring_set *replaces);

/** Disarm a point; -ENOENT if it was not armed. The caller calls reader_synchronize(). */
int site_disarm(uint32_t point, struct ring_set *set);

/** Remove a set from all sites. The caller calls reader_synchronize() before unmapping. */
void site_disarm_all(struct ring_set *set);
/** Disable all sequences that begin from now on and write to a set: see ring_set_disown(). */
void site_stop_set(const struct ring_set *set);
/** Disable all sequences that begin from now on, see ring_stop_sequences(). Any thread, no signal
 *  handler. */
void site_stop_sequences(void);

/** Restrict the events of the calling thread to one session; 0 lifts the restriction. State dumps
 * use it. Async-signal safe. */
void site_only_session(uint32_t session);

/** @run is called, several times, when the program calls exit(): while other threads may trace. Set
 *  once, by a constructor. */
void site_on_exit(void (*run)(void));

/** Suppress the events of the calling thread (nests): libltt's own malloc calls must not be traced
 * by the malloc wrapper. */
void site_mute(void);
void site_unmute(void);
/** Whether the events of the calling thread are suppressed or restricted: probes are not called. */
bool site_is_limited(void);
/** Count an event as lost, for all listeners. Async-signal safe. */
void site_lose(const struct ltt_site *site);

/* fork handlers, in the order in which fork.c calls them */
void site_before_fork(void);
void site_after_fork_parent(void);
void site_after_fork_child(void);

#endif
