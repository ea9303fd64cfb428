/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kept.h - the descriptors of ring sets, kept by the processes that record into them: a process
 * can return a ring set to a daemon after all daemons have died, with its contents.
 *
 * They are in the helper thread's own table (private.h): the program never
 * sees them. Its limit of open files counts there, too, so their number leaves room for the
 * helper's other descriptors. Used by the helper thread alone, under agent_lock.
 */
#ifndef TRACER_AGENT_KEPT_H
#define TRACER_AGENT_KEPT_H

#include <stddef.h>

struct msg_app_buffer;

/** struct agent_kept - of one ring set; in a list of all, newest first. */
struct agent_kept {
	struct agent_kept *next;
	int data, ctl; /* -1: not kept */
};

#define AGENT_KEPT_NONE ((struct agent_kept){ .data = -1, .ctl = -1 })

/** Take the descriptors from @m, if there is room and @kept has none yet. */
void agent_keep(struct agent_kept *kept, struct msg_app_buffer *m);
/** Close what is kept. */
void agent_kept_drop(struct agent_kept *kept);
/** The program may have lowered its limit: make room for the next descriptor. */
void agent_kept_make_room(void);

/** Move to another table: the descriptors, of as many sets as @max has room for; the others
 *  are closed. Return: how many. */
size_t agent_kept_fds(int *ret_fds, size_t max);
/** In the other table: all of them have other numbers, agent_alone_moved()'s. */
void agent_kept_moved(void);

/** In the child: forget them, as they are not in the child's table. */
void agent_kept_after_fork_child(void);

#endif
