/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kept.h - the descriptors of ring sets, kept by the processes that record into them: a process
 * can return a ring set to a daemon after all daemons have died, with its contents.
 *
 * They are in the helper thread's separate table (private.h), so that the program can't use them.
 * The limit of open files applies to that table, too, so the helper keeps only as many as leave
 * space for its other descriptors. Used by the helper thread only, under agent_lock.
 */
#ifndef TRACER_AGENT_KEPT_H
#define TRACER_AGENT_KEPT_H

#include <stddef.h>

struct msg_app_buffer;

/** struct agent_kept - descriptors of one ring set; in a list of all, newest first. */
struct agent_kept {
	struct agent_kept *next;
	int data, ctl; /* -1: not kept */
};

#define AGENT_KEPT_NONE ((struct agent_kept){ .data = -1, .ctl = -1 })

/** Take the descriptors from @m, if there is room and @kept has none yet. */
void agent_keep(struct agent_kept *kept, struct msg_app_buffer *m);
/** Close the kept descriptors. */
void agent_kept_drop(struct agent_kept *kept);
/** Make space for the next descriptor, as the program may have lowered its limit. */
void agent_kept_make_room(void);

/** Return the descriptors to be moved to another table, at most @max; the others are closed.
 *  Return: their number. */
size_t agent_kept_fds(int *ret_fds, size_t max);
/** After the move: replace all numbers of descriptors by those of agent_alone_moved(). */
void agent_kept_moved(void);

/** In a forked child: drop the descriptors, which are not in the child's table. */
void agent_kept_after_fork_child(void);

#endif
