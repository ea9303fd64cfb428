/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * link.h - the link of a session with an application: the points that are armed for it. Owned by
 * the session; ends with either. Runs on the daemon's loop.
 *
 * The state of a link is computed, not maintained: link_refresh() determines the points that the
 * application should record into the session and sends the difference to those that it was
 * sent. Every change - a rule, a library, a buffer that is ready - only marks links as dirty; they
 * are refreshed once when the loop's round is over.
 */
#ifndef DOMAIN_USER_LINK_H
#define DOMAIN_USER_LINK_H

#include "sessiond/domain/rec/recording.h"

struct counting;
struct user_app;
struct user_counts;
struct user_session;

/** One point and its ring set, as sent to the application. */
struct arm {
	uint32_t point;
	uint32_t event;
	struct ring *ring;
};

struct user_link {
	struct list_node in_app, in_session;
	struct list_node dirty;
	struct user_app *app;
	struct user_session *us;
	struct arm *arms; /* sorted */
	size_t nr_arms;
	bool all;	/* refresh all points; else only these: */
	uint32_t *todo; /* new ones, and those that wait for a buffer or metadata */
	size_t nr_todo, cap_todo;
	size_t nr_next;	   /* the first ones of todo: for the next turns */
	uint32_t *dropped; /* removed points whose armings and countings still exist */
	size_t nr_dropped, cap_dropped;
	struct ring **told; /* ring sets that the application has */
	uint32_t nr_sent;
	const struct channel *failed; /* why the application can't use its buffers, or NULL: */
	uint32_t failed_error;	      /* errno */
	struct counting *countings;   /* sorted */
	size_t nr_countings;
	const struct user_counts **sent_counts; /* memory that the application has */
	uint32_t nr_sent_counts;
	bool changed;	     /* changes were sent since the last sync */
	bool dumped;	     /* state dump asked for since the start */
	uint64_t generation; /* of the session, that is wanted */
	uint64_t asked;	     /* generation of the sync in flight, and */
	uint32_t serial;     /* its number */
	uint64_t confirmed;
	uint64_t late; /* last generation that was not confirmed in time; 0: none */
};

struct user_link *link_new(struct user_session *us, struct user_app *app);
void link_free(struct user_link *link);
/** Refresh all points. */
void link_touch(struct user_link *link);
void links_touch(struct user_session *us);
/** Refresh this point. */
void link_touch_point(struct user_link *link, uint32_t point);
/** Refresh those that wait: a buffer is ready, or metadata is written. */
void links_touch_pending(struct user_session *us);
/** The work of one turn; if more is left the link stays dirty. Return: number of processed
 *  points. */
size_t link_refresh(struct user_link *link);
/** The application does not have this point any more: nothing to disarm. Its armings and countings
 *  go with the next refresh, in one pass for all points that are dropped until then. */
void link_drop_point(struct user_link *link, uint32_t point);
/** Drop buffers: all, or those that the application can't write any more. */
void link_drop_buffers(struct user_link *link, bool all);

#endif
