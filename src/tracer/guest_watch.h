/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * guest_watch.h - be told when a runtime directory or something in it appears.
 * Owned by a link, run by the helper thread.
 *
 * This is dnotify and not inotify: a user has 128 inotify instances for all of
 * his programs, and an instrumented desktop would eat them up. A watch is a
 * directory's descriptor in the helper's private table; it fires once, as
 * GUEST_SIGNAL to the helper thread, and does not say which watch it was.
 */
#ifndef TRACER_GUEST_WATCH_H
#define TRACER_GUEST_WATCH_H

struct guest_watch {
	int dir_fd;    /* the nearest directory that exists, or -1 */
	int parent_fd; /* its parent, where the directory itself is watched, or -1 */
};

#define GUEST_WATCH_NONE ((struct guest_watch){ .dir_fd = -1, .parent_fd = -1 })

/**
 * guest_watch_arm() - watch @dir, and its parent for @dir being made again; or
 * the nearest ancestor while @dir does not exist. Look for what is waited for
 * after this call: what came before it is not told.
 * @thread: tid that gets the signal.
 * Return: 0, or a negative errno where the kernel can't (then poll at times).
 */
int guest_watch_arm(struct guest_watch *watch, const char *dir, int thread);
void guest_watch_disarm(struct guest_watch *watch);

#endif
