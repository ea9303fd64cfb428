/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * inherit.h - descriptors that an earlier daemon stored outside the keeper: in the consumer, or
 * in the service manager. Under the keeper's names (KIND-ID), up to three each. Owned by the
 * keeper's end (keeper.h), which takes those that the keeper does not have; the rest is closed.
 */
#ifndef SESSIOND_INHERIT_H
#define SESSIOND_INHERIT_H

#include <stdbool.h>

#include "base/list.h"

#define INHERIT_FDS 3

struct inherit {
	struct list_node entries;
};

void inherit_init(struct inherit *inherit);
void inherit_fini(struct inherit *inherit);
/** @fd (taken over) is number @slot under @name. The first one counts. */
void inherit_add(struct inherit *inherit, const char *name, unsigned int slot, int fd);
/** Return: whether there were descriptors of that name; then @ret_fds are the caller's. */
bool inherit_take(struct inherit *inherit, const char *name, int ret_fds[INHERIT_FDS]);
/** Return: the name of some remaining entry (allocated), or NULL. */
char *inherit_any(const struct inherit *inherit);
/** Fetch all descriptors from the consumer that listens at @path, if there is one; waits for a
 *  limited time. */
void inherit_from_consumer(struct inherit *inherit, const char *path);

#endif
