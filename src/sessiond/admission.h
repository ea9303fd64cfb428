/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * admission.h - admission of connections. Descriptors are shared out by number, since the kernel
 * hands out the lowest that is free: applications leave some to what sessions
 * keep, these to clients, and clients to whatever comes and goes. Each
 * connection introduces itself within some seconds. Part of ltt-sessiond; its
 * loop's thread only.
 */
#ifndef SESSIOND_ADMISSION_H
#define SESSIOND_ADMISSION_H

#include <stdbool.h>

#include "io/peer.h"

#define ADMISSION_TIMEOUT_US 5000000u

enum admission_use {
	ADMISSION_CLIENT = 1, /* connection of a client */
	ADMISSION_KEPT = 2,   /* something of a session's that stays open */
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

/** How many files we may open, now: it can be raised while we run. */
unsigned int admission_fd_limit(void);
/** May a descriptor that was just received or accepted be used for this? */
bool admission_has_room(int fd, enum admission_use use);

/** Hang up unless admission_remove() comes in time. */
void admission_add(struct admission *admission, struct pending_hello *pending_hello,
		   struct peer *peer);
/** It is known now, or gone; twice is fine. */
void admission_remove(struct pending_hello *pending_hello);

#endif
