/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * watch.h - notifies when a runtime directory or a file in it appears.
 * Owned by a link, run by the helper thread.
 *
 * It uses dnotify, as a user may have only 128 inotify instances, fewer than instrumented
 * programs. A watch is a directory's descriptor in the helper's private table; it sends
 * AGENT_SIGNAL once to the helper thread, and the signal does not identify the watch.
 */
#ifndef TRACER_AGENT_WATCH_H
#define TRACER_AGENT_WATCH_H

struct agent_watch {
	int dir_fd;    /* the nearest directory that exists, or -1 */
	int parent_fd; /* its parent, where the directory itself is watched, or -1 */
};

#define AGENT_WATCH_NONE ((struct agent_watch){ .dir_fd = -1, .parent_fd = -1 })

/**
 * agent_watch_arm() - watch @dir, and its parent, in case @dir is removed and created again; or
 * the nearest existing ancestor. Check for the socket after this call: earlier changes are not
 * reported.
 * @thread: tid that receives the signal.
 * Return: 0; negative errno: the kernel does not support it (poll instead).
 */
int agent_watch_arm(struct agent_watch *watch, const char *dir, int thread);
void agent_watch_disarm(struct agent_watch *watch);

#endif
