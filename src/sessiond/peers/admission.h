/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * admission.h - admission of connections. When descriptors become scarce, less important uses are
 * refused first: applications leave some descriptors to sessions, sessions to clients, and clients
 * to temporary uses. The value of a new descriptor shows how many are open, since the kernel
 * returns the lowest free one. Each connection must send its first message (hello) within
 * ADMISSION_TIMEOUT_US. Part of ltt-sessiond; its loop's thread only.
 */
#ifndef SESSIOND_PEERS_ADMISSION_H
#define SESSIOND_PEERS_ADMISSION_H

#include <stdbool.h>

#include "io/peer.h"

#define ADMISSION_TIMEOUT_US 5000000u

enum admission_use {
	ADMISSION_CLIENT = 1, /* connection of a client */
	ADMISSION_KEPT = 2,   /* descriptor that a session keeps open */
	ADMISSION_APP = 3,    /* connection of an application */
};

struct admission {
	struct list_node pending_hellos; /* struct pending_hello, the oldest first */
	struct loop_timer timeout;
};

/** A connection that has not sent its hello; embedded in the peer's owner. */
struct pending_hello {
	struct list_node node;
	uint64_t since_ns;
	struct peer *peer;
};

void admission_init(struct admission *admission, struct loop *loop);
void admission_fini(struct admission *admission);

/** The limit of open files now: it can be raised at run time. */
unsigned int admission_fd_limit(void);
/** Whether a descriptor that was just received or accepted may be used for this. */
bool admission_has_room(int fd, enum admission_use use);

/** Close the connection unless admission_remove() is called in time. */
void admission_add(struct admission *admission, struct pending_hello *pending_hello,
		   struct peer *peer);
/** Remove a connection that has sent its hello or is closed; may be called twice. */
void admission_remove(struct pending_hello *pending_hello);

#endif
