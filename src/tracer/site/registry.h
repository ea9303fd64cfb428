/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * registry.h - shared declarations of the registry's files: sites, points, listeners.
 *
 * One registry in each process, in static memory that needs no constructor, since
 * programs register sites before libltt itself has been initialised. All data is read and written
 * with the lock held, by any thread that loads a library, arms a point or registers a probe;
 * except the data that events read without the lock: ltt_site.hooks (hook.h) and the constant
 * part of ltt_site.owner (struct site_state).
 *
 * Memory that an event may still be reading is added to a list, the limbo, and freed after the next
 * grace period.
 */
#ifndef TRACER_SITE_REGISTRY_H
#define TRACER_SITE_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/ring/hook.h"
#include "site.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define __must_check __attribute__((warn_unused_result))

struct format;
struct ltt_probe;
struct typed_list;

/** The registry's lock. While it is held, allocations of this thread are not traced. */
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
/** Without the lock, in the helper thread: drain the limbo if it is large. */
void limbo_drain_if_full(void);

/** struct listener - a listener at all sites of a point. */
struct listener {
	struct limbo limbo;
	struct listener *next;
	struct hook hook;	/* its entry in the hook tables */
	struct counter counter; /* the target of hook.counter, if that is set */
	void *owned;		/* memory that is freed with the listener; or NULL */
	void (*release)(void *owned);
	/* The target of hook.binding, if that is set: one cache line, which each record reads. */
	struct binding binding __attribute__((aligned(64)));
};

/**
 * struct site_state - libltt's data of a site; ltt_site.owner.
 * @site: NULL once the object that contains the site is being unloaded.
 * @fields, @nr_fields, @format: constant; read by events.
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
	struct ltt_field *converted; /* @fields, if the program's struct has another size */
	const void *base;	     /* of the program or library that has the site */
	struct typed_list *typed;    /* read by events; NULL: no typed probe */
	uint32_t nr_hooks;	     /* LTT_SITE_LISTENED is set while there is one */
};

struct point_state {
	struct point pub;
	struct limbo limbo;
	struct point_state *prev, *next;	 /* in the order of their registration */
	struct point_state *same_name, *same_id; /* hash chains */
	uint32_t hash;
	struct site_state *sites;
	struct listener *listeners;
	struct ltt_event *event; /* the target of pub.event: owned, one block */
	struct format *format;	 /* markers: owned */
};

/* --- site.c: objects ------------------------------------------------------------ */

/** ltt_sites_register() for sites of the object that has @address. */
void sites_register_of(const void *address, struct ltt_site *const *begin,
		       struct ltt_site *const *end);
/** Register one site that is never emitted, whose event is information alone: without waiting for
 *  the daemons. Return: false: there is no memory. */
bool site_register_name(struct ltt_site *const *site);
/** Whether exit() has been called: other threads go on tracing, and nothing is unloaded. */
bool site_is_exiting(void);

/* --- joined.c: points and descriptors ---------------------------------------------- */

/** The lock of their lists, which is taken before the registry's. */
void joined_lock(void);
void joined_unlock(void);

/* --- point.c: the table of points ------------------------------------------- */

/**
 * point_join() - add a site to its point, which is created if it is new. Sets the members of
 * @site that events read, and hooks all listeners of the point.
 * Return: 0, -EINVAL (a description that is invalid), -ENOMEM.
 */
__must_check int point_join(struct site_state *site);
/** Remove the site; a point without sites is removed. */
void point_leave(struct site_state *site);

bool point_same_fields(const struct ltt_field *a, const struct ltt_field *b, uint32_t nr);

struct point_state *point_find(uint32_t id);
struct point_state *point_first(void);
/** The first point of a name; point_next_named() returns further ones. */
struct point_state *point_named(const char *name);
struct point_state *point_next_named(const struct point_state *point);

/** Make a listener: a session's buffer (@binding is copied), or a probe; with neither, the caller
 *  makes it a counter or a trigger. Return: NULL: no memory. */
struct listener *listener_new(const struct binding *binding, struct ltt_probe *probe);
/** Hook @listener to all sites. Return: 0; -ENOMEM: it is hooked to none. */
__must_check int point_attach(struct point_state *point, struct listener *listener);
/** Unhook @listener and put it into limbo. */
void point_detach(struct point_state *point, struct listener *listener);
/** Replace listener @old by @new, and put @old into limbo. */
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
void site_set_only(struct ltt_site *site, const struct binding *only);

/* --- probe.c ------------------------------------------------------------------ */

/** Attach the armed probes of the name of a new point. */
void probe_point_added(struct point_state *point);
/** Call a probe; between reader_enter() and reader_exit(). */
void probe_call(struct ltt_probe *probe, const struct ltt_site *site, const void *payload,
		size_t len, size_t extra);
/** A probe of either kind is called, unless the thread is in too many. Return: whether it is. */
__must_check bool probe_nest(void);
void probe_unnest(void);

/* --- typed.c ------------------------------------------------------------------ */

extern const char typed_returns[] __attribute__((visibility("hidden")));
const void *typed_outer_address(void);
/** Connect the typed probes of the name and arguments of a new site. */
void typed_site_added(struct site_state *site);
/** Where the program or library begins that has the address; NULL: not known. Without the lock. */
const void *site_object_base(const void *address);
/** A site has its first listener, or has lost the last: connect or disconnect its own probe. */
void typed_site_armed(struct site_state *site);
void typed_site_disarmed(struct site_state *site);
/** Before the site is closed: disconnect both. */
void typed_site_removed(struct site_state *site);
/** The address that an event returns to; if that is in ltt_typed_call(), that of the program. */
static inline const void *typed_address(const void *address)
{
	return unlikely(address == typed_returns) ? typed_outer_address() : address;
}

#endif
