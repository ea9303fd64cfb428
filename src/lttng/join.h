/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * join.h - which functions are called at which call sites: those of the same provider, event and
 * signature (the types of the arguments). Several objects may have call sites of one event, and
 * several may have a function for it.
 *
 * One table in the process, with a lock. Its holder calls nothing of libltt that takes a lock, so
 * that event_changed(), which runs with libltt's, needs none: it reads lists that are replaced as a
 * whole and freed after a grace period.
 */
#ifndef LTTNG_JOIN_H
#define LTTNG_JOIN_H

#include "abi.h"

/** struct place - a call site: its words in the program, and its names. */
struct place {
	const char *provider, *event, *signature;
	int *state; /* the only word that is read while tracing is off */
	struct tp_probe **probes;
};

/** struct target - the call sites of a function, up to NULL. */
struct target {
	struct target *next; /* to be freed */
	const struct place *sites[];
};

/**
 * struct source - a function to be called. @enabled: whether it wants to be; NULL: always.
 * @targets: set by join.c. The owner keeps it and all texts until join_remove_source() returns.
 */
struct source {
	const char *provider, *event, *signature;
	struct tp_probe probe;
	const int *enabled;
	struct target **targets;
	struct source *next;
};

void join_lock(void);
void join_unlock(void);

/** With the lock: add or remove a function, or a call site, which is copied, with its names.
 *  -ENOMEM. */
int join_add_source(struct source *source);
void join_remove_source(struct source *source);
int join_add_site(const struct place *place);
void join_remove_site(const struct place *place);

/** Without the lock: wait until no thread uses removed functions and call sites. */
void join_drain(void);

/** A source's *@enabled has changed: without the lock. */
void join_update(struct target *const *targets);

#endif
