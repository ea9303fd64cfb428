/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * orphaned.h - sessions of the daemon before that this one could not take over: a command
 * that names one gets a sentence that says so, and where its trace is. Pure; the daemon's loop
 * is the only thread.
 */
#ifndef CORE_ORPHANED_H
#define CORE_ORPHANED_H

#include "session.h"

/** @path: of its output; empty: none. @why: half a sentence. */
void orphaned_add(struct list_node *list, uid_t uid, const char *name, const char *path,
		  const char *why);
void orphaned_fini(struct list_node *list);
/** If there was one of this name that the caller could have seen: say in @err, which says
 *  that there is none, what became of it. */
void orphaned_explain(const struct list_node *list, const struct caller *caller, const char *name,
		      struct err *err);

#endif
