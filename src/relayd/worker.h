/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * worker.h - the threads of a relay that store what arrives. Each has a loop of its own and
 * connections on it. A connection begins on the relay's main loop, which never waits for a disk;
 * its request for a session moves it to that session's worker. So a disk that does not answer
 * delays only the sessions of its own workers, and data of several sessions is decrypted, checked
 * and written by several processors.
 *
 * A connection, its session and its streams belong to the thread of their worker. All connections
 * of one session (an earlier one, and the next) have the same worker.
 */
#ifndef RELAYD_WORKER_H
#define RELAYD_WORKER_H

#include <pthread.h>

#include "base/err.h"
#include "base/idmap.h"
#include "base/list.h"
#include "io/loop.h"
#include "io/zchunk.h"
#include "store/disk.h"
#include "syncer.h"

#define RELWORKER_PER_HOST 8u	 /* more sessions share them: no host has all processors */
#define RELWORKER_MAX 64u	 /* at a time; more sessions share them */
#define RELWORKER_FDS 3u	 /* of each */
#define RELWORKER_MAX_DEVICES 8u /* that are synced */
/* Of a packet's body, taken from a socket at once: in smaller ones sender and relay get into
 * each other's way, at the same CPU per byte or more. */
#define RELWORKER_BODY_BYTES (1u << 20)

struct relay;
struct relconn;

struct relworker {
	struct relay *relay;
	struct loop *loop;	/* its own; the main worker's is the relay's */
	struct list_node conns; /* struct relconn, the oldest first */
	struct idmap bases;	/* struct relsession */
	struct disk disk;
	struct syncer *syncers[RELWORKER_MAX_DEVICES];
	struct zunpacker *unpacker;
	uint8_t *body; /* RELWORKER_BODY_BYTES between socket and file, of all its connections */

	pthread_t thread;
	unsigned int nr;     /* of relay->workers */
	struct loop_fd wake; /* owns an eventfd: there is something for the worker below */
	/* with the relay's lock */
	struct list_node inbox; /* struct relconn that move here */
	unsigned int nr_claims; /* sessions */
	bool stop, recheck;
};

/** One that has no thread of its own: that of the relay's main loop. */
void relworker_init(struct relworker *worker, struct relay *relay, struct loop *loop);
/** Close all its connections. */
void relworker_fini(struct relworker *worker);

/** struct relclaim - that one worker has all connections of a session, as long as there are any. */
struct relclaim {
	struct list_node list_node; /* of the relay */
	struct idmap_node node;	    /* likewise */
	struct relworker *worker;
	char *host, *base; /* as in session.h */
	unsigned int nr;   /* connections that have it */
};

/** The claim on session @base of @host, for one connection more: the worker that has the session,
 *  otherwise the one that has the fewest; where all have one, another begins. Never waits. */
struct relclaim *relworker_claim(struct relay *relay, const char *host, const char *base);
/** @claim: may be NULL. */
void relworker_unclaim(struct relay *relay, struct relclaim *claim);

/** Give it @conn, which is on no loop. One of the same session that waits there still is closed. */
void relworker_send(struct relworker *worker, struct relconn *conn);
/** The keys are others: each worker looks at its connections. */
void relworkers_recheck(struct relay *relay);
/** End all workers and their connections; waits for writes that are being made. */
void relworkers_stop(struct relay *relay);

/** Find or start the thread that syncs the file system of @fd. Return: 0 or negative errno. */
int relworker_find_syncer(struct relworker *worker, int fd, struct syncer **ret) MUST_CHECK;

#endif
