/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * inherit.h - descriptors that an earlier daemon stored outside the keeper: in the consumer, or
 * in the service manager. They are stored under the keeper's names (KIND-ID), with up to three
 * descriptors for each name. Owned by struct keeper (keeper.h), which uses those that ltt-keeperd
 * does not have, and closes the others.
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
/** Store @fd as descriptor number @slot of @name; it is closed if there is one already. */
void inherit_add(struct inherit *inherit, const char *name, unsigned int slot, int fd);
/** Take the descriptors of @name. Return: whether there are any; the caller owns @ret_fds. */
bool inherit_take(struct inherit *inherit, const char *name, int ret_fds[INHERIT_FDS]);
/** Return: the name of one of the remaining entries (allocated), or NULL. */
char *inherit_any(const struct inherit *inherit);
/** Fetch all descriptors from the consumer that listens at @path, if there is one; waits for a
 *  limited time. */
void inherit_from_consumer(struct inherit *inherit, const char *path);

#endif
