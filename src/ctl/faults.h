/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * faults.h - finds the thread in which a program crashed. The kernel's process connector reports
 * each thread whose signal ends its process with a core dump, also if none is written; this costs
 * the program nothing. It is there on Linux 6.6 and newer, outside of containers with namespaces of
 * their own; elsewhere no thread is found. Used by lttctl record, in its only thread.
 */
#ifndef CTL_FAULTS_H
#define CTL_FAULTS_H

#include <stdint.h>
#include <sys/types.h>

/**
 * struct faults - the last crash of a program.
 * @fd: readable when a process crashed; -1: the kernel reports none.
 * @pid, @tid: process and thread of the last crash; 0: none is known.
 */
struct faults {
	int fd;
	uint32_t pid;
	uint32_t tid;
};

/** Begin before the program is started; end with faults_close(). */
void faults_open(struct faults *ret);
/** Take the crashes since the last call; those of @program and of its children count. */
void faults_read(struct faults *faults, pid_t program);
void faults_close(struct faults *faults);

#endif
