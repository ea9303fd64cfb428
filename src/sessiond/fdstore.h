/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fdstore.h - the service manager's store of descriptors, in which buffers and sockets
 * outlive a service of which every process has been killed, and the sockets that it
 * listens at for us (sd_pid_notify_with_fds(3), sd_listen_fds(3)). Owned by the program;
 * runs on its loop. Without a manager nothing happens.
 */
#ifndef SESSIOND_FDSTORE_H
#define SESSIOND_FDSTORE_H

#include <stdbool.h>

#include "inherit.h"
#include "io/notify.h"

/** A socket that listens: the manager's own, or what our predecessor had stored. */
struct fdstore_socket {
	int fd;
	bool lent;
};

struct fdstore {
	struct notify *notify; /* the program's */
	struct fdstore_socket *sockets;
	unsigned int nr_sockets;
	struct inherit left; /* by the daemon before us: descriptors under the keeper's names */
};

/** How many descriptors, from 3 on, a service manager gives to this process. */
unsigned int fdstore_listen_fds(void);
/** Take what the manager gives; what we start does not hear of it. */
void fdstore_init(struct fdstore *store, struct notify *notify);
void fdstore_fini(struct fdstore *store);

/** Under a name that nothing is stored under. */
void fdstore_keep(struct fdstore *store, const char *name, const int fds[INHERIT_FDS]);
void fdstore_forget(struct fdstore *store, const char *name);
/** Does the manager itself listen at @path for us? */
bool fdstore_listens(const struct fdstore *store, const char *path);
/** The one that is of our kind and bound to @path, the caller's from then on; fd -1:
 *  there is none. */
struct fdstore_socket fdstore_take_socket(struct fdstore *store, const char *path);

#endif
