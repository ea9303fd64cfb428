/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * peer.h - one connection on a loop: messages are received through a callback and
 * sent through a queue that never blocks. Unread messages are queued up
 * to PEER_QUEUE_BYTES; beyond that the peer is disconnected, so that a peer
 * that does not read cannot use unbounded memory or delay others.
 */
#ifndef IO_PEER_H
#define IO_PEER_H

#include <stdbool.h>
#include <sys/types.h>

#include "loop.h"
#include "proto/codec.h"

#define PEER_QUEUE_BYTES (16u << 20)

struct peer {
	struct loop_fd source; /* owns its descriptor */
	pid_t pid;	       /* SO_PEERCRED */
	uid_t uid;
	gid_t gid;
	struct list_node queue; /* struct peer_packet */
	size_t queued_bytes;
	bool held;	      /* see peer_hold() */
	bool closing;	      /* closed when the queue is empty, or already broken */
	struct loop_work end; /* calls `closed` at the end of the round */
	const struct peer_ops *ops;
};

struct peer_ops {
	/** Handle a message. Descriptors that the callback keeps, it sets to -1: the others are
	 *  closed afterwards. A return value other than 0 disconnects. */
	int (*message)(struct peer *peer, const struct msg_header *header, struct decoder *dec);
	/** The connection was closed: the peer may be finished and freed from now on. Called once,
	 *  never from inside peer_send(). */
	void (*closed)(struct peer *peer);
	/** Account for queued bytes: @bytes more or, if negative, fewer than before. Return: 0,
	 *  or negative: over the limit, the peer is disconnected. May be NULL. */
	int (*waits)(struct peer *peer, ssize_t bytes);
};

/** Take over @fd (made non-blocking). Return: 0 or negative errno; @fd is closed on failure. */
int peer_init(struct peer *peer, struct loop *loop, int fd, const struct peer_ops *ops) MUST_CHECK;
/** Close now; `closed` is not called any more. */
void peer_fini(struct peer *peer);

/** Queue an encoder's message (its descriptors are dup'ed). Failures lead to `closed`. */
void peer_send(struct peer *peer, const struct encoder *enc);
/** Keep messages in the queue until they are no longer held: they report changes in progress. */
void peer_hold(struct peer *peer, bool held);
/** Disconnect when the queue has been sent. */
void peer_hang_up(struct peer *peer);

/** Name of a process, which may have ended: then "?". */
void peer_process_name(pid_t pid, char *ret, size_t len);

#endif
