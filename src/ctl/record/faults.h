/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * faults.h - finds the processes that crash under lttctl record, and the threads in which they do.
 * The kernel's process connector reports each thread whose signal ends its process with a core
 * dump, also if none is written; this costs the program nothing. It is there on Linux 6.6 and
 * newer, outside of containers with namespaces of their own; elsewhere only the crashes of lttctl's
 * own children are found, without their threads. Used by lttctl's only thread, and by that of
 * faults_attend() while it runs.
 */
#ifndef CTL_RECORD_FAULTS_H
#define CTL_RECORD_FAULTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FAULTS_KEPT 64u
#define FAULTS_UNSURE 16u
#define FAULT_NAME 16u

/**
 * struct fault - a crash. @tid: 0: its thread is unknown. @signal: 0: not known yet.
 * @name: of the process, as in /proc/PID/comm; "": it was gone already.
 */
struct fault {
	uint32_t pid;
	uint32_t tid;
	int signal;
	char name[FAULT_NAME];
};

/**
 * struct faults - the crashes of this process's descendants.
 * @fd: readable when a process crashed; -1: the kernel reports none.
 * @program: the child whose crash is @own, and not among @last; 0: none.
 * @own: @pid is 0 until it crashes.
 * @last: the last ones; number N of @nr is in N modulo FAULTS_KEPT.
 * @unsure: the last ones whose parents were gone when the report was read: most are of other
 * programs. Number N of @nr_unsure is in N modulo FAULTS_UNSURE; @pid is 0 if it is in @last now.
 */
struct faults {
	int fd;
	pid_t program;
	struct fault own;
	struct fault last[FAULTS_KEPT];
	size_t nr;
	struct fault unsure[FAULTS_UNSURE];
	size_t nr_unsure;
	int stop; /* of faults_attend(): an eventfd, or -1 */
	pthread_t thread;
};

/** Whether the kernel knows processes by the ids that this process sees. */
bool faults_is_first(void);
/** Begin before the program is started; end with faults_close(). */
void faults_open(struct faults *ret);
/** Take the crashes since the last call. */
void faults_read(struct faults *faults);
/** A child, which is not reaped yet, was ended by a signal: a crash if that dumps core. */
void faults_take_child(struct faults *faults, pid_t pid, int signal);
/** The last crash of a process. Return: NULL: it has not crashed. */
const struct fault *faults_find(const struct faults *faults, pid_t pid);
/** Read in a thread of its own while the caller waits for the daemon: the entry in /proc of a
 *  process that crashed is soon gone. No other function may be called until faults_unattend(). */
void faults_attend(struct faults *faults);
void faults_unattend(struct faults *faults);
void faults_close(struct faults *faults);

#endif
