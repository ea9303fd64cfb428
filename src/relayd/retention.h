/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * retention.h - removes finished sessions, the oldest first, as the relay's options require:
 * by age, by total size, by free space of the file system. A session that is being received or
 * viewed is never removed, nor, for a day, one whose sender is disconnected and may reconnect.
 * Owned by main(); runs in a thread of its own. A sender that requests a session while its
 * directory is being removed waits for the removal, and then begins a new session.
 */
#ifndef RELAYD_RETENTION_H
#define RELAYD_RETENTION_H

#include <pthread.h>

#include "relay.h"

struct retention_rules {
	uint64_t age_s;	    /* since the last was written; 0: any */
	uint64_t size;	    /* bytes of all sessions; 0: unlimited */
	uint64_t keep_free; /* bytes of the file system; 0: none */
	uint64_t period_ms; /* of looking */
};

/** A session's directory, as it was found. */
struct kept_session {
	char *path; /* below the relay's output */
	uint64_t bytes;
	uint64_t last_s; /* when something was written, CLOCK_REALTIME */
	bool over;	 /* its sender will not reconnect */
	const char *why; /* it is to be removed, the end of a sentence; NULL: it is not */
};

struct kept_list {
	struct kept_session *sessions;
	size_t nr, cap;
	uint64_t bytes; /* of all */
};

struct retention {
	struct relay *relay;
	struct retention_rules rules;
	pthread_t thread;
	bool runs;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	bool stop, kicked;
};

/** Does nothing where there are no rules. Return: 0 or negative errno. */
void retention_init(struct retention *retention, struct relay *relay,
		    const struct retention_rules *rules);
/** Begin, if there are rules. Return: 0 or negative errno. */
int retention_start(struct retention *retention) MUST_CHECK;
/** Fine also where it was not begun. */
void retention_fini(struct retention *retention);
/** Wait until no session beside @base (as in session.h), or it, is being removed; none will be that
 *  @relay has a claim on. By the session's worker. */
void retention_await(struct relay *relay, const char *base);
/** The disk is full: look at once. */
void retention_kick(struct retention *retention);

/* Parts that retention.c and retention_scan.c share. */

/** Find all sessions below @out_fd. */
void kept_scan(int out_fd, uint64_t now_s, struct kept_list *ret);
void kept_fini(struct kept_list *list);
/** Say of each why it is to be removed. @free_bytes: of the file system. */
void kept_evaluate(struct kept_list *list, const struct retention_rules *rules, uint64_t now_s,
		   uint64_t free_bytes);
/** Remove all that is below @name. */
void kept_erase(int at_fd, const char *name);

#endif
