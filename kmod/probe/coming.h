/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * coming.h - events at places of other modules, which wait while their module is not loaded.
 * Process context only.
 */
#ifndef KMOD_COMING_H
#define KMOD_COMING_H

#include <linux/module.h>

#include "event.h"
#include "ltt_kmod.h"

/**
 * struct coming - part of an event at a place.
 * @module: its name; empty: the place is the kernel's own, or is known by its address alone.
 */
struct coming {
	struct event *event;
	char module[MODULE_NAME_LEN];
	struct list_head of_coming;
};

int coming_init(void);
/** No event is left. */
void coming_fini(void);

/** Modules don't come or go from here on to coming_unlock(). */
void coming_lock(void);
void coming_unlock(void);
/** Write the place's module before its symbol, and LTT_KMOD_PROBE_WAITS if that has no such symbol
 *  now. Called with the lock. */
void coming_resolve(struct ltt_kmod_probe *request);
/** The event follows the module that coming_resolve() found, until coming_remove(), which may be
 *  called for one that was not added, too, and without the lock. Called with the lock. */
void coming_add(struct coming *coming, struct event *event, const struct ltt_kmod_probe *request);
void coming_remove(struct coming *coming);

#endif
