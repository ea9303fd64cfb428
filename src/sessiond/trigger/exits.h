/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * exits.h - processes of the machine that a signal ends, as the kernel's connector of process
 * events reports them (CONFIG_PROC_EVENTS). For kernels that do not have the status of other
 * processes by a pidfd (io/pidinfo.h). Needs CAP_NET_ADMIN, which is raised for it, and the first
 * namespaces of processes and of users. A filter at the socket rejects all other process events.
 * Embedded in its owner; runs on the daemon's loop.
 */
#ifndef SESSIOND_TRIGGER_EXITS_H
#define SESSIOND_TRIGGER_EXITS_H

#include "io/loop.h"

/** struct exits - @ended: called once a thread. @lost: times that the kernel had no room for more
 *  ends. */
struct exits {
	struct loop_fd source;
	struct loop *loop;
	void (*ended)(struct exits *exits, pid_t pid, int signo);
	uint64_t lost;
	int answer; /* the kernel's to the last request; negative errno */
};

void exits_init(struct exits *exits, struct loop *loop,
		void (*ended)(struct exits *exits, pid_t pid, int signo));
/** Receive events from now on, if they are not received yet. Return: 0 or negative errno. */
int exits_begin(struct exits *exits) MUST_CHECK;
/** The same from a socket; takes it over. */
int exits_begin_from(struct exits *exits, int fd) MUST_CHECK;
void exits_end(struct exits *exits);
bool exits_are_received(const struct exits *exits);

#endif
