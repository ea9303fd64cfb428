/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run.h - run a program in the foreground and wait for its end. Signals that would end lttctl are
 * blocked in lttctl and delivered to the program, so that lttctl can end the session afterwards.
 */
#ifndef CTL_RECORD_RUN_H
#define CTL_RECORD_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "faults.h"

#define RUN_NOT_FOUND 127 /* exit statuses of a shell */
#define RUN_CANNOT 126

/**
 * struct run - one program, one run.
 * @argv: NULL at the end.
 * @environment: "NAME=VALUE" to add, NULL at the end; may be NULL.
 * @to_stderr: the program's standard output is this one's standard error.
 * @watch: descriptor that hangs up when the session daemon ends, or -1; then
 *         @repair is called with @priv and returns the pidfd to watch next.
 * @faults: receives the crashes of the program and of its descendants; NULL: they are not
 *          searched for.
 * @crashed: called after they are read, with @crashed_priv; may be NULL. Return: the time until it
 *           is to be called again, in ms; -1: when there are more.
 * @tick: called each @tick_ms (0: each second) with @tick_priv, until it returns false; may be
 *        NULL.
 * @made: called with @made_priv when the process is there, before it executes the program; may be
 *        NULL. Return: 0 or the code in its @err, which ends it.
 * @finished: the recording has ended before the program or the time; set by @tick.
 * @ended: lttctl received a signal other than SIGHUP that would have ended it.
 * @exit_status: as a shell's: 128 + the signal that ended it.
 */
struct run {
	const char *const *argv;
	const char *const *environment;
	bool to_stderr;
	void (*sigpipe)(int);
	int watch;
	int (*repair)(void *priv);
	void *priv;
	struct faults *faults;
	int (*crashed)(void *priv);
	void *crashed_priv;
	bool (*tick)(void *priv);
	void *tick_priv;
	unsigned int tick_ms;
	int (*made)(void *priv, pid_t pid, struct err *err);
	void *made_priv;
	bool finished;
	sigset_t old_mask;
	int signals;  /* signalfd, or -1 */
	int children; /* the same for SIGCHLD */
	pid_t pid;    /* of the program */
	bool reaped;  /* it has ended */
	bool ended;
	int exit_status;
	int signal;
	uint64_t begin_ns;
	uint64_t duration_ns;
	uint64_t tick_ns; /* the next call of @tick */
};

/** Check in advance that a program can be run. Return: 0, RUN_NOT_FOUND or RUN_CANNOT,
 *  with the sentence in @err. */
int run_check(const char *program, struct err *err) MUST_CHECK;
/** The file that execvp() would find, or @program; allocated. */
char *run_find(const char *program);
/** Block the signals that would end this process. Return: 0 or the code in @err. */
int run_begin(struct run *run, struct err *err) MUST_CHECK;
/** Whether a signal was received that would have ended this process. */
bool run_is_interrupted(const struct run *run);
/** Consume such a signal. Return: its number, or 0. */
int run_interrupted(struct run *run);
/** Run the program until it ends; its orphans become children of this process. Return: 0, or
 *  RUN_NOT_FOUND or RUN_CANNOT with the sentence in @err. */
int run_program(struct run *run, struct err *err) MUST_CHECK;
/** After the program has ended: take crashes, reap orphans that have ended, and wait for more of
 *  these. Return: whether a signal was received that would have ended this process. */
bool run_pause(struct run *run, int limit_ms);
/** Call @tick, if it is due. Return: the time until the next call, in ms; -1: none follows. */
int run_tick(struct run *run);
/** The time of @begin_ns. */
uint64_t run_now_ns(void);
/** Extend @duration_ns until now, when the processes that the program left behind have ended. */
void run_extend(struct run *run);
void run_fini(struct run *run);

#endif
