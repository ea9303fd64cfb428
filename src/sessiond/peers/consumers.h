/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * consumers.h - the consumer daemons: the session daemon's own, and in root's one for each other
 * user with sessions, which has no more rights than that user, and one for the kernel's events of
 * all sessions. Each is started with its first session, replaced when it dies, and ends with its
 * last one; the daemon's own lives as long as the daemon. Owned by the daemon; runs on its loop.
 *
 * A user's sessions that need root's keys, as their relay is reached by TLS, are the own one's. The
 * kernel's events have a consumer of their own only where two can write one output: in a directory
 * without a greatest size.
 */
#ifndef SESSIOND_PEERS_CONSUMERS_H
#define SESSIOND_PEERS_CONSUMERS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/list.h"
#include "consumer.h"
#include "sessiond/core/session.h"

struct consumers;

enum consumer_kind {
	CONSUMER_OWN,
	CONSUMER_USER,	 /* of another user than the daemon's */
	CONSUMER_KERNEL, /* of the kernel's events */
};

/** A consumer, and the sessions that it writes. */
struct consumer_slot {
	struct list_node node;
	struct consumers *consumers;
	struct consumer consumer;
	enum consumer_kind kind;
	struct caller user; /* of CONSUMER_USER */
	char *socket;
	unsigned int nr_sessions;
	uint64_t since_ns;
	pid_t met;	     /* process of the connection; 0: unknown */
	pid_t lost;	     /* process of the one before, which has ended or is about to */
	unsigned int deaths; /* deaths in quick succession */
	bool died;	     /* the consumer died, and no successor has its state yet */
	bool gone;
	bool leaving; /* it was requested to end, as it has no session */
	struct loop_timer respawn;
};

struct consumers {
	struct loop *loop;
	struct sessions *sessions;
	struct consumer_slot own;
	struct list_node slots; /* struct consumer_slot: all, the own one first */
	char *rundir;
	char *program; /* path of ltt-consumerd; NULL: none is ever started (tests) */
	bool started;  /* the sessions of an earlier daemon are restored; false again at the end */
};

void consumers_init(struct consumers *consumers, struct loop *loop, struct sessions *sessions);
/** Drops calls in flight without answering them, as each of these two. */
void consumers_drop(struct consumers *consumers);
void consumers_fini(struct consumers *consumers);
/** The place of their sockets, and the program (copied). */
void consumers_place(struct consumers *consumers, const char *rundir, const char *program);
/** Find or start those that have sessions, and the own one; end others of an earlier daemon.
 *  Return: 0 or negative errno: the own one can't be started. */
int consumers_start(struct consumers *consumers) MUST_CHECK;

/** Whether a new session should be written by a consumer of its user. */
bool consumers_has_own_user(const struct consumers *consumers, const struct session *session);
/** Whether the kernel's events of a new session should be written by the kernel's consumer. */
bool consumers_has_kernel(const struct consumers *consumers, const struct session *session);
/** The consumer for a session, by its `user_consumer`; it is started if need be. Until
 *  consumer_slot_release(). */
struct consumer *consumers_get(struct consumers *consumers, const struct session *session);
/** The same: the kernel's consumer. */
struct consumer *consumers_get_kernel(struct consumers *consumers);
void consumer_slot_release(struct consumer *consumer);
/** The consumer of a user's sessions, if there is one; else the own one. */
const struct consumer *consumers_of_user(const struct consumers *consumers, uid_t uid);
/** That one, or the consumer that has been silent for the longest time of those for which
 *  operations on sessions of the user wait; root's are all users' sessions. */
const struct consumer *consumers_waited_for(const struct consumers *consumers, uid_t uid);

/** Request all to write all data and end. Return: whether one is still there; then the loop is
 *  stopped when the last one has ended. */
bool consumers_end(struct consumers *consumers);
/** The same by a signal. */
void consumers_terminate(struct consumers *consumers);

#endif
