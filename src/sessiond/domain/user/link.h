/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * link.h - the link of a session with an application: the points of the application that are armed
 * for the session. Owned by the session; freed with the session or the application. Runs on the
 * daemon's loop.
 *
 * link_refresh() computes the points that the application should record into the session, and sends
 * the differences from the last computation. A change (of a rule, a library, a buffer that is
 * ready) only marks links as dirty; they are refreshed once, after the round of the loop.
 */
#ifndef DOMAIN_USER_LINK_H
#define DOMAIN_USER_LINK_H

#include "sessiond/domain/rec/recording.h"
#include "sessiond/core/app.h"

struct counting;
struct user_app;
struct user_counts;
struct event_filter;
struct user_session;

/** One point and its ring set, as sent to the application. */
struct arm {
	uint32_t point;
	uint32_t event;
	struct ring *ring;
	const char *contexts; /* contexts of the event, comma-separated; owned by its class */
	struct event_filter *filter; /* NULL: each event is recorded */
};

struct user_link {
	struct list_node in_app, in_session;
	struct list_node dirty;
	struct user_app *app;
	struct user_session *us;
	struct arm *arms; /* sorted */
	size_t nr_arms;
	bool all;	/* refresh all points; else only @todo */
	uint32_t *todo; /* new points, and points that wait for a buffer or metadata */
	size_t nr_todo, cap_todo;
	size_t nr_next;	   /* the first @nr_next of @todo are processed in later turns */
	uint32_t *dropped; /* removed points whose armings and countings still exist */
	size_t nr_dropped, cap_dropped;
	struct ring **told; /* ring sets that were sent to the application */
	uint32_t nr_sent;
	const struct channel *failed; /* channel whose buffer the application can't use, or NULL */
	uint32_t failed_error;	      /* errno of that */
	struct counting *countings;   /* sorted */
	size_t nr_countings;
	const struct user_counts **sent_counts; /* memory that the application has */
	uint32_t nr_sent_counts;
	bool was_armed;	     /* a point was */
	bool unable;	     /* a buffer or trace for it could not be created */
	bool changed;	     /* changes were sent since the last sync */
	bool dumped;	     /* state dump requested since the start */
	uint64_t generation; /* generation of the session that is to be confirmed */
	uint64_t asked;	     /* generation of the sync message in flight */
	uint32_t serial;     /* number of that message */
	uint64_t confirmed;  /* last confirmed generation */
	uint64_t late;	     /* last generation that was not confirmed in time; 0: none */
};

struct user_link *link_new(struct user_session *us, struct user_app *app);
void link_free(struct user_link *link);
/** Whether the session records, and its trackers select the application. */
bool link_records(const struct user_link *link);
/** Refresh all points. */
void link_touch(struct user_link *link);
void links_touch(struct user_session *us);
/** Refresh all points that a rule matches. */
void links_touch_rule(struct user_session *us, const struct rule *rule);
/** Refresh this point. */
void link_touch_point(struct user_link *link, uint32_t point);
/** Refresh points that wait for a buffer or metadata. */
void links_touch_pending(struct user_session *us);
/** Do the work of one turn; if more is left, the link stays dirty. Return: number of processed
 *  points. */
size_t link_refresh(struct user_link *link);
/** Drop a point that the application has removed, so that nothing must be disarmed there. Its arms
 *  and countings are freed by the next refresh, in one pass for all such points. */
void link_drop_point(struct user_link *link, uint32_t point);
/** Drop buffers: all, or those that the application can't write any more. */
void link_drop_buffers(struct user_link *link, bool all);

/*
 * The points of a link that should be armed: the comparison of rules with points. Lives
 * within one refresh of the link.
 */

/** struct plan - the wanted state of a link; the link takes over its memory. */
struct plan {
	struct user_link *link;
	struct channel *channel; /* the current one, and the messages about it */
	struct trace_channel *trace_channel;
	struct ring *ring;
	const char *contexts;	    /* of the channel's events in this application */
	char *context_text; /* their declaration */
	struct arm *arms;   /* sorted by arm_compare() */
	size_t nr, cap;
	uint32_t *todo; /* points that have to wait */
	size_t nr_todo, cap_todo;
};

int arm_compare(const void *a, const void *b);
/** Sort numbers of points and remove duplicates. Return: their number. */
size_t points_sort(uint32_t *points, size_t nr);
void plan_make(struct plan *plan);
/** Its points, or those to be refreshed. */
void link_each_point(struct user_link *link, void (*fn)(struct app_point *point, void *data),
		     void *data);
bool link_is_armed(const struct user_link *link, uint32_t point);

#endif
