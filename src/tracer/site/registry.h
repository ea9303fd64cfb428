/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * registry.h - shared declarations of the registry's files: sites, points, listeners.
 *
 * One registry a process, in static memory that needs no constructor, since
 * programs register sites before libltt itself has been initialised. Everything
 * here is read and written with the lock held by whatever thread loads a
 * library, arms a point or registers a probe; the one exception is what a
 * traced call follows: ltt_site.hooks (hook.h) and the constant part of
 * ltt_site.owner (struct site_state).
 *
 * Memory that a traced call may still be looking at is not freed but put into limbo, and freed
 * after the next grace period.
 */
#ifndef TRACER_SITE_REGISTRY_H
#define TRACER_SITE_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/ring/hook.h"
#include "site.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define __must_check __attribute__((warn_unused_result))

struct format;
struct ltt_probe;

/** The one lock. While it is held, what this thread allocates is not traced. */
void registry_lock(void);
void registry_unlock(void);

/** struct limbo - first member of objects that are freed after a grace period. */
struct limbo {
	struct limbo *next;
	void (*destroy)(struct limbo *self);
};

/** With the lock held: free @dead, which is unreachable for new readers, later. */
void limbo_add(struct limbo *dead, void (*destroy)(struct limbo *self));
/** Without the lock: wait for a grace period and free the contents of the limbo. */
void limbo_drain(void);
/** Without the lock, from libltt's own thread: drain it if it is large. */
void limbo_drain_if_full(void);

/** struct listener - a listener at all sites of a point. */
struct listener {
	struct limbo limbo;
	struct listener *next;
	struct hook hook;       /* as it stands in the tables */
	struct counter counter; /* what hook.counter points to, if it does */
	/* The target of hook.binding, if that is set: one cache line, which each record reads. */
	struct binding binding __attribute__((aligned(64)));
};

/**
 * struct site_state - libltt's view of a site; ltt_site.owner.
 * @site: NULL once the object that holds it is on its way out.
 * @fields, @nr_fields, @format: constant; a traced call reads them.
 */
struct site_state {
	struct ltt_site *site;
	struct point_state *point;
	struct site_state *next; /* of the point */
	struct hook_table *table;
	const struct ltt_event *event;
	const struct ltt_field *fields;
	uint32_t nr_fields;
	const struct format *format; /* markers */
	struct ltt_field *converted; /* @fields, where the program's have another size */
};

struct point_state {
	struct point pub;
	struct limbo limbo;
	struct point_state *prev, *next; /* in the order in which they came */
	struct point_state *same_name, *same_id; /* hash chains */
	uint32_t hash;
	struct site_state *sites;
	struct listener *listeners;
	struct ltt_event *event; /* the target of pub.event: owned, one block */
	struct format *format;   /* markers: owned */
};

/* --- point.c: the table of points ------------------------------------------- */

/**
 * point_join() - make a site part of its point, which appears if it is new.
 * Fills what a traced call reads, and hooks all listeners that there are.
 * Return: 0, -EINVAL (a description that is invalid), -ENOMEM.
 */
__must_check int point_join(struct site_state *site);
/** Remove the site; a point without sites is removed. */
void point_leave(struct site_state *site);

struct point_state *point_find(uint32_t id);
struct point_state *point_first(void);
/** The first point of a name; go on with point_next_named(). */
struct point_state *point_named(const char *name);
struct point_state *point_next_named(const struct point_state *point);

/** A listener that is a session's buffer (@binding is copied), a probe, or still to be
 *  made a counter; or NULL. */
struct listener *listener_new(const struct binding *binding, struct ltt_probe *probe);
/** Hook @listener to all sites. Return: 0 or -ENOMEM, and then to none. */
__must_check int point_attach(struct point_state *point, struct listener *listener);
/** Unhook @listener and put it into limbo. */
void point_detach(struct point_state *point, struct listener *listener);
/** @new takes the place of @old, which goes into limbo. */
void point_swap(struct point_state *point, struct listener *old, struct listener *new);

/* --- hooks.c: the hook table of a site --------------------------------------- */

/** Make sure that hooks_insert() has room. Return: 0 or -ENOMEM. */
__must_check int hooks_reserve(struct site_state *site);
void hooks_insert(struct site_state *site, const struct hook *hook);
void hooks_remove(struct site_state *site, const struct hook *hook);
void hooks_replace(struct site_state *site, const struct hook *old, const struct hook *hook);
/** Empty every hook that records into @set. */
void hooks_drop_set(struct site_state *site, const struct ring_set *set);
void hooks_free(struct site_state *site);
/** Set ltt_site.only, which sites of older programs do not have. */
void site_set_only(struct ltt_site *site, const struct binding *only);

/* --- probe.c ------------------------------------------------------------------ */

/** A point has appeared: attach the armed probes of its name. */
void probe_point_added(struct point_state *point);
/** One call; between reader_enter() and reader_exit(). */
void probe_call(struct ltt_probe *probe, const struct ltt_site *site, const void *payload,
		size_t len, size_t extra);

/* --- stage.c ------------------------------------------------------------------ */

void stage_after_fork_child(void);

#endif
