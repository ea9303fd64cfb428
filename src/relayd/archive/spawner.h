/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spawner.h - a process that starts ltt-archive for a relay, and again whenever that ends, as the
 * relay itself may start no program any more (confine.h). It has nothing of the relay's but one
 * socket, by which the relay gets a connection to each new ltt-archive, and may have one killed.
 * Its parent, the guard, starts it again if it is killed, and takes its place in turn if the guard
 * is. Both end with the relay, and so does ltt-archive.
 */
#ifndef RELAYD_ARCHIVE_SPAWNER_H
#define RELAYD_ARCHIVE_SPAWNER_H

#include "base/macros.h"

struct spawner_command {
	const char *program; /* ltt-archive */
	const char *store;   /* its URL */
	const char *dir;     /* of the relay's sessions */
};

/** Start the processes; before the relay has threads. Return: a non-blocking SOCK_SEQPACKET socket:
 *  each message received has the descriptor of a new connection (archive.def), and each message
 *  sent kills the current ltt-archive. Its end: both were killed. Or negative errno. */
int spawner_start(const struct spawner_command *command) MUST_CHECK;

#endif
