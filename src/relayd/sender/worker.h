/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * worker.h - the threads of a relay that store received data. Each has a loop, which serves some of
 * the connections. A connection begins on the relay's main loop, which never waits for a disk; its
 * request for a session moves it to that session's worker. So a disk that does not answer delays
 * only the sessions of some workers, and data of several sessions is decrypted, checked and written
 * by several CPUs.
 *
 * A connection, its session and its streams belong to the thread of their worker. All connections
 * of one session (an earlier one, and the next) have the same worker.
 */
#ifndef RELAYD_SENDER_WORKER_H
#define RELAYD_SENDER_WORKER_H

#include <pthread.h>

#include "base/err.h"
#include "base/idmap.h"
#include "base/list.h"
#include "io/loop.h"
#include "io/zchunk.h"
#include "relayd/store/syncer.h"
#include "store/disk.h"

#define RELWORKER_PER_HOST 8u	 /* most workers for sessions of one host */
#define RELWORKER_MAX 64u	 /* most workers; further sessions share them */
#define RELWORKER_FDS 3u	 /* descriptors of each worker */
#define RELWORKER_MAX_DEVICES 8u /* file systems that a worker syncs */
/* Bytes of a packet's body that are read from a socket at once; with smaller reads, sender and
 * relay wait for each other more often. */
#define RELWORKER_BODY_BYTES (1u << 20)

struct relay;
struct relconn;

struct relworker {
	struct relay *relay;
	struct loop *loop;	/* the main worker has the relay's main loop */
	struct list_node conns; /* struct relconn, the oldest first */
	struct idmap bases;	/* struct relsession */
	struct disk disk;
	struct syncer *syncers[RELWORKER_MAX_DEVICES];
	struct zunpacker *unpacker;
	uint8_t *body; /* buffer of RELWORKER_BODY_BYTES, shared by all its connections */
	uint8_t *spare; /* of their frames */

	pthread_t thread;
	unsigned int nr;     /* index in relay->workers */
	struct loop_fd wake; /* owns an eventfd: readable if a member below has changed */
	/* under the relay's lock */
	struct list_node inbox; /* struct relconn that move to this worker */
	unsigned int nr_claims; /* number of its sessions */
	bool stop, recheck;
};

/** Initialise the main worker, which runs in the thread of the relay's main loop. */
void relworker_init(struct relworker *worker, struct relay *relay, struct loop *loop);
/** Close all its connections. */
void relworker_fini(struct relworker *worker);

/** struct relclaim - assigns all connections of a session to one worker, as long as there are
 *  any. */
struct relclaim {
	struct list_node list_node; /* of the relay */
	struct idmap_node node;	    /* likewise */
	struct relworker *worker;
	char *host, *base; /* as in session.h */
	unsigned int nr;   /* connections that have it */
};

/** The claim on session @base of @host, for one more connection. A new claim goes to the worker
 *  with the fewest sessions; if all have sessions, a new worker is started. Never waits. */
struct relclaim *relworker_claim(struct relay *relay, const char *host, const char *base);
/** @claim: may be NULL. */
void relworker_unclaim(struct relay *relay, struct relclaim *claim);

/** Move @conn, which is on no loop, to a worker. A connection of the same session that still waits
 *  in its inbox is closed. */
void relworker_send(struct relworker *worker, struct relconn *conn);
/** Check all connections again, in each worker, as the keys have changed. */
void relworkers_recheck(struct relay *relay);
/** End all workers and their connections; waits for writes that are being made. */
void relworkers_stop(struct relay *relay);

/** Find or start the thread that syncs the file system of @fd. Return: 0 or negative errno. */
int relworker_find_syncer(struct relworker *worker, int fd, struct syncer **ret) MUST_CHECK;

#endif
