/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fdstore.h - the service manager's store of descriptors (sd_pid_notify_with_fds(3)), in which
 * buffers and sockets outlive all processes of the service, and its socket activation
 * (sd_listen_fds(3)). Owned by the program; runs on its loop. Without a manager, all functions do
 * nothing.
 */
#ifndef SESSIOND_SERVICE_FDSTORE_H
#define SESSIOND_SERVICE_FDSTORE_H

#include <stdbool.h>

#include "inherit.h"
#include "io/notify.h"

/** A listening socket: the manager's own, or one that an earlier daemon stored. */
struct fdstore_socket {
	int fd;
	bool lent; /* the manager keeps listening */
};

struct fdstore {
	struct notify *notify; /* the program's */
	struct fdstore_socket *sockets;
	unsigned int nr_sockets;
	struct inherit left; /* descriptors that an earlier daemon stored, by the keeper's names */
};

/** Number of descriptors, from 3 on, that a service manager passed to this process. */
unsigned int fdstore_listen_fds(void);
/** Take over the passed descriptors, and remove the environment variables for child processes. */
void fdstore_init(struct fdstore *store, struct notify *notify);
void fdstore_fini(struct fdstore *store);

/** Store descriptors under an unused name. */
void fdstore_keep(struct fdstore *store, const char *name, const int fds[INHERIT_FDS]);
void fdstore_forget(struct fdstore *store, const char *name);
/** Whether the manager itself listens at @path for this daemon. */
bool fdstore_listens(const struct fdstore *store, const char *path);
/** Remove and return the socket of the right type that is bound to @path; fd -1: there is none. */
struct fdstore_socket fdstore_take_socket(struct fdstore *store, const char *path);

#endif
