/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * watch.h - notifies when a runtime directory or a file in it appears.
 * Owned by a link, run by the helper thread.
 *
 * This is dnotify and not inotify: a user has 128 inotify instances for all of
 * the user's programs, and an instrumented desktop would use them up. A watch is a
 * directory's descriptor in the helper's private table; it fires once, as
 * AGENT_SIGNAL to the helper thread, and does not identify the watch.
 */
#ifndef TRACER_AGENT_WATCH_H
#define TRACER_AGENT_WATCH_H

struct agent_watch {
	int dir_fd;    /* the nearest directory that exists, or -1 */
	int parent_fd; /* its parent, where the directory itself is watched, or -1 */
};

#define AGENT_WATCH_NONE ((struct agent_watch){ .dir_fd = -1, .parent_fd = -1 })

/**
 * agent_watch_arm() - watch @dir, and its parent for @dir being made again; or
 * the nearest ancestor while @dir does not exist. Check for the socket after this call: earlier
 * changes are not reported.
 * @thread: tid that gets the signal.
 * Return: 0, or a negative errno where the kernel can't (then poll at times).
 */
int agent_watch_arm(struct agent_watch *watch, const char *dir, int thread);
void agent_watch_disarm(struct agent_watch *watch);

#endif
