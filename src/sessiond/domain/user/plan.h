/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * plan.h - the points of a link that should be armed: the comparison of rules with points. Lives
 * within one refresh of the link.
 */
#ifndef DOMAIN_USER_PLAN_H
#define DOMAIN_USER_PLAN_H

#include "link.h"
#include "sessiond/core/app.h"

/** struct plan - the wanted state of a link; the link takes over its memory. */
struct plan {
	struct user_link *link;
	struct channel *channel; /* the current one, and the messages about it */
	struct trace_channel *trace_channel;
	struct ring *ring;
	char *contexts;	      /* of the channel's events in this application */
	char *context_text;   /* their declaration */
	struct arm *arms; /* sorted by arm_compare() */
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
