/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * orphaned.h - sessions of an earlier daemon that this one could not restore: a command that
 * names one receives an error with the reason and the path of its trace. Pure; the daemon's loop
 * is the only thread.
 */
#ifndef CORE_ORPHANED_H
#define CORE_ORPHANED_H

#include "session.h"

/** @path: of its output; empty: none. @why: a phrase without a subject. */
void orphaned_add(struct list_node *list, uid_t uid, const char *name, const char *path,
		  const char *why);
void orphaned_fini(struct list_node *list);
/** If there was a session of this name that the caller may access: replace the sentence in @err
 *  ("there is no session") by the reason. */
void orphaned_explain(const struct list_node *list, const struct caller *caller, const char *name,
		      struct err *err);

#endif
