/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * admission.h - admission of connections. Descriptors are limited by number, since the kernel
 * returns the lowest free one: applications leave some to the sessions, these leave some to
 * clients, and clients to temporary uses. Each connection must introduce itself within some
 * seconds. Part of ltt-sessiond; its loop's thread only.
 */
#ifndef SESSIOND_ADMISSION_H
#define SESSIOND_ADMISSION_H

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

/** A connection that has not introduced itself; embedded in what owns the peer. */
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
/** The connection has introduced itself, or is closed; may be called twice. */
void admission_remove(struct pending_hello *pending_hello);

#endif
