/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * listener.h - a listening socket in a loop. While connections can't be accepted, for want of
 * descriptors or memory, the socket is not polled for a moment: pending connections keep it
 * readable, and the loop would never sleep. Belongs to the loop's thread.
 */
#ifndef IO_LISTENER_H
#define IO_LISTENER_H

#include "loop.h"

struct listener {
	struct loop_fd source; /* does not own its descriptor */
	struct loop_timer pause;
	void (*take)(struct listener *listener, int fd);
};

/** @take: is called with each connection and owns it; it may end the listener. Return: 0 or a
 *  negative errno. */
int listener_init(struct listener *listener, struct loop *loop, int fd,
		  void (*take)(struct listener *listener, int fd)) MUST_CHECK;
/** Stop listening; does not close. A zeroed or finished listener is allowed. */
void listener_fini(struct listener *listener);

#endif
