/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * inherit.h - descriptors that an earlier daemon stored outside the keeper: in the consumer, or
 * in the service manager. They are stored under the keeper's names (KIND-ID), with up to three
 * descriptors for each name. Owned by struct keeper (keeper.h), which uses those that ltt-keeperd
 * does not have, and closes the others.
 */
#ifndef SESSIOND_SERVICE_INHERIT_H
#define SESSIOND_SERVICE_INHERIT_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/list.h"

#define INHERIT_FDS 3
#define INHERIT_TRUSTED ((uid_t)-1) /* no user: a process of the daemon's own rights */

struct inherit {
	struct list_node entries;
};

void inherit_init(struct inherit *inherit);
void inherit_fini(struct inherit *inherit);
/** Store @fd as descriptor number @slot of @name; it is closed if there is one already. @from: the
 *  user whose process has provided it. */
void inherit_add(struct inherit *inherit, const char *name, uid_t from, unsigned int slot, int fd);
/** Take the descriptors of @name, for @uid: of a trusted process, or of that user's. Return:
 *  whether there are any; the caller owns @ret_fds. */
bool inherit_take(struct inherit *inherit, const char *name, uid_t uid, int ret_fds[INHERIT_FDS]);
/** Return: the name of one of the remaining entries (allocated), or NULL. */
char *inherit_any(const struct inherit *inherit);
/** Fetch all descriptors from the consumers that listen in @rundir (consumers.h); waits for a
 *  limited time for each. */
void inherit_from_consumers(struct inherit *inherit, const char *rundir);

#endif
