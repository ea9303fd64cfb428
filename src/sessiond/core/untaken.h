/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * untaken.h - sessions of the daemon before that this one could not take over: a command
 * that names one gets a sentence that says so, and where its trace is. Pure; the daemon's loop
 * is the only thread.
 */
#ifndef CORE_UNTAKEN_H
#define CORE_UNTAKEN_H

#include "session.h"

/** @path: of its output; empty: none. @why: half a sentence. */
void untaken_add(struct list_node *list, uid_t uid, const char *name, const char *path,
		 const char *why);
void untaken_fini(struct list_node *list);
/** If there was one of this name that the caller could have seen: say in @err, which says
 *  that there is none, what became of it. */
void untaken_say(const struct list_node *list, const struct caller *caller, const char *name,
		 struct err *err);

#endif
