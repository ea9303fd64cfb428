/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reach.h - whether a running process can reach the session daemon, as far as /proc shows it: one
 * that can't is unable to report that it is not recorded. Nothing is changed. Any thread.
 */
#ifndef CTL_DOCTOR_REACH_H
#define CTL_DOCTOR_REACH_H

#include <stdbool.h>
#include <sys/types.h>

enum reach_obstacle {
	REACH_NONE,
	REACH_MOUNTS,  /* its mounts have another directory, or none, in place of the daemon's */
	REACH_SECCOMP, /* it has a filter of system calls, which may forbid a connection */
};

/** Whether the daemon's socket in @rundir is at @dir in the file system of the process. */
bool reach_finds(pid_t pid, const char *rundir, const char *dir);
/** For a session daemon in @rundir. */
enum reach_obstacle reach_find_obstacle(pid_t pid, const char *rundir);
/** The reason as the end of a sentence about the process: "has ...". */
char *reach_explain(enum reach_obstacle obstacle, const char *rundir);
/** A command that removes the obstacle: for the unit of systemd that the process is in, or for a
 *  container. Allocated. */
char *reach_repair(enum reach_obstacle obstacle, pid_t pid, const char *rundir);

#endif
