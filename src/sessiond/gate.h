/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gate.h - admission of connections. Descriptors are shared out by number, since the kernel
 * hands out the lowest that is free: applications leave some to what sessions
 * keep, these to clients, and clients to whatever comes and goes. Each
 * connection introduces itself within some seconds. Part of ltt-sessiond; its
 * loop's thread only.
 */
#ifndef SESSIOND_GATE_H
#define SESSIOND_GATE_H

#include <stdbool.h>

#include "io/peer.h"

#define GATE_PATIENCE_US 5000000u

enum gate_use {
	GATE_CLIENT = 1, /* connection of a client */
	GATE_KEPT = 2,	 /* something of a session's that stays open */
	GATE_APP = 3,	 /* connection of an application */
};

struct gate {
	struct list_node strangers; /* struct stranger, the oldest first */
	struct loop_timer patience;
};

/** A connection that has not introduced itself; embedded in what owns the peer. */
struct stranger {
	struct list_node node;
	uint64_t since_ns;
	struct peer *peer;
};

void gate_init(struct gate *gate, struct loop *loop);
void gate_fini(struct gate *gate);

/** How many files we may open, now: it can be raised while we run. */
unsigned int gate_fd_limit(void);
/** May a descriptor that was just received or accepted be used for this? */
bool gate_has_room(int fd, enum gate_use use);

/** Hang up unless gate_leave() comes in time. */
void gate_enter(struct gate *gate, struct stranger *stranger, struct peer *peer);
/** It is known now, or gone; twice is fine. */
void gate_leave(struct stranger *stranger);

#endif
