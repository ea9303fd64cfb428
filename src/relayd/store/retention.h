/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * retention.h - removes finished sessions, the oldest first, as the relay's options require:
 * by age, by total size, by free space of the file system. A session that is being received or
 * viewed is never removed, nor, for a day, one whose sender is disconnected and may reconnect; but
 * each of its archives may be. Owned by main(); runs in a separate thread. A sender that opens a
 * session while its directory is being removed waits for the removal, and then begins a new
 * session.
 */
#ifndef RELAYD_STORE_RETENTION_H
#define RELAYD_STORE_RETENTION_H

#include <pthread.h>

#include "relayd/relay.h"

struct retention_rules {
	uint64_t age_s;	    /* time since data was last written; 0: unlimited */
	uint64_t size;	    /* bytes of all sessions; 0: unlimited */
	uint64_t keep_free; /* free bytes of the file system; 0: none */
	uint64_t period_ms; /* of scans */
};

/** The directory of a session, without its archives, or an archive of it, as found by a scan. */
struct kept_session {
	char *path; /* below the relay's output */
	uint64_t bytes;
	uint64_t last_s; /* time of the last write, CLOCK_REALTIME */
	bool over;	 /* its sender will not reconnect */
	bool is_archive;
	bool waits;	 /* for the store, which does not have all of it */
	const char *why; /* reason for its removal, the end of a sentence; NULL: it is kept */
};

struct kept_list {
	struct kept_session *sessions;
	size_t nr, cap;
	uint64_t bytes; /* of all sessions */
};

struct retention {
	struct relay *relay;
	struct retention_rules rules;
	pthread_t thread;
	bool runs;
	pthread_mutex_t lock; /* of the fields below */
	pthread_cond_t changed;
	bool stop, kicked;
};

/** Initialise; no thread is started. */
void retention_init(struct retention *retention, struct relay *relay,
		    const struct retention_rules *rules);
/** Start the thread, if there are rules or a store. Return: 0 or negative errno. */
int retention_start(struct retention *retention) MUST_CHECK;
/** Allowed also if the thread was not started. */
void retention_fini(struct retention *retention);
/** Wait until the session @base (as in session.h) and others in its directory are not being
 *  removed. Sessions that @relay has claimed are not removed later. Called by the session's
 *  worker. */
void retention_await(struct relay *relay, const char *base);
/** Request a scan at once, as the disk is full. */
void retention_kick(struct retention *retention);

/** Erase directory @name of @dir_fd: it is gone at once, its contents are erased by a thread. The
 *  session's worker, or the thread that repairs it. */
void retention_erase(struct relay *relay, int dir_fd, const char *name);
/** Wait for that thread. */
void retention_await_erased(struct relay *relay);

/* Shared by retention.c and retention_scan.c. */

/** Find all sessions below @out_fd. */
void kept_scan(int out_fd, uint64_t now_s, struct kept_list *ret);
void kept_fini(struct kept_list *list);
/** Set @why of each session that is to be removed. @free_bytes: of the file system. */
void kept_evaluate(struct kept_list *list, const struct retention_rules *rules, uint64_t now_s,
		   uint64_t free_bytes);

#endif
