/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * namespaces.h - unshare() and setns(), which libltt defines in place of libc's.
 *
 * They change per-thread state, so that the helper is suspended for them (alone.h); and the kernel
 * refuses user namespaces, and some others, to a process of several threads.
 */
#ifndef TRACER_AGENT_HOST_NAMESPACES_H
#define TRACER_AGENT_HOST_NAMESPACES_H

/** The functions of these names, whichever ones the names refer to. */
int agent_unshare(int flags);
int agent_setns(int fd, int flags);

#endif
