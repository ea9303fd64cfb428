/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * guest_kept.h - the descriptors of ring sets, kept by those that record into them:
 * whoever has them can give a ring set back to a daemon, after every process of
 * the daemons' has died, with all that is in it.
 *
 * They are in the helper thread's own table (guest_private.h): the program never
 * sees them. Its limit of open files counts there, too, so no more are kept than
 * leave room for what the helper is there for. Used by the helper thread alone, under
 * guest_lock.
 */
#ifndef TRACER_GUEST_KEPT_H
#define TRACER_GUEST_KEPT_H

#include <stddef.h>

struct msg_app_buffer;

/** struct guest_kept - of one ring set; in a list of all, newest first. */
struct guest_kept {
	struct guest_kept *next;
	int data, ctl; /* -1: not kept */
};

#define GUEST_KEPT_NONE ((struct guest_kept){ .data = -1, .ctl = -1 })

/** Take the descriptors out of @m, where there is room and @kept has none yet. */
void guest_keep(struct guest_kept *kept, struct msg_app_buffer *m);
/** Close what is kept. */
void guest_kept_drop(struct guest_kept *kept);
/** The program may have lowered its limit: the next descriptor has to have a place. */
void guest_kept_make_room(void);

/** Move to another table: the descriptors, of as many sets as @max has room for; the others
 *  are closed. Return: how many. */
size_t guest_kept_fds(int *ret_fds, size_t max);
/** In the other table: all of them have other numbers, guest_alone_moved()'s. */
void guest_kept_moved(void);

/** They are not in the child's table. */
void guest_kept_after_fork_child(void);

#endif
