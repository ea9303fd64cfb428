/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run.h - what a session does: start, stop, destroy, and its figures. Each is a
 * chain of steps whose answers come later; a step that fails undoes those before.
 * Owned by the daemon; runs on its loop.
 */
#ifndef SESSIOND_RUN_H
#define SESSIOND_RUN_H

#include "io/dirid.h"
#include "proto/consumer.h"
#include "sessiond/consumer.h"
#include "sessiond/domain/domain.h"
#include "sessiond/keeper.h"

struct run;

/** Counters of a session's streams at one moment. */
struct stats {
	bool known; /* the consumer answered, in time */
	size_t nr;
	struct msg_con_stream *streams;
	uint64_t spooled;	 /* bytes that wait for a relay */
	int64_t clock_offset_ns; /* its clock less ours, */
	uint64_t clock_error_ns; /* but for so much; 0: nobody knows */
};

struct run_result {
	/* code 0: it worked. A session that is stopped or destroyed is so in any case:
	 * the error is then why not all of its data could be written. */
	const struct err *err;
	uint32_t apps, late;
	const struct stats *stats;
};
typedef void (*run_done)(void *data, const struct run_result *result);

struct run_config {
	struct loop *loop;
	struct consumer *consumer;
	struct domain_tracer *tracer;
	struct trace_clock *clock;
	struct keeper *keeper; /* may be NULL, as the two that follow */
	/** Write down how a session is; that no further parameter. */
	void (*save)(struct session *session);
	void (*discard)(struct session *session);
	/** Its state, or its problem, is another one now; it has been destroyed. */
	void (*changed)(struct session *session);
	void (*destroyed)(struct session *session, const struct run_result *result);
};

/** The wiring's part of a session. @outdir (taken over): -1: no output. */
struct run *run_new(const struct run_config *config, struct sessions *sessions,
		    struct session *session, int outdir);
/** Forget the session altogether: model, buffers, output. */
void run_free(struct run *run);
struct session *run_session(struct run *run);
/** The registry it is in. */
struct sessions *run_sessions(struct run *run);

/**
 * run_start(), run_stop(), run_destroy() - @done is called once, later; after
 * run_destroy() the session and @run are gone when it is.
 * Return: SESSION_DONE: under way; the others: nothing was done.
 */
enum session_outcome run_start(struct run *run, run_done done, void *data);
enum session_outcome run_stop(struct run *run, run_done done, void *data);
enum session_outcome run_destroy(struct run *run, run_done done, void *data);
/** Ask for the session's figures: not known where the consumer does not answer in time. */
void run_stats(struct run *run, run_done done, void *data);
/** Call @done once no operation is going on (also because the session is gone). */
void run_when_idle(struct run *run, void (*done)(void *data), void *data);

/** Send the session's state to a new consumer, or to one that outlived a daemon. */
void run_adopt(struct run *run);
/** Give what a successor needs to a new keeper. */
void run_keep(struct run *run);
/** As it was under an earlier daemon. @clock: NULL: never started. @doorbell: taken
 *  over. @dir: which the output directory is, should its descriptor be lost. */
void run_restore(struct run *run, const struct clock_facts *clock, int doorbell, bool output_open,
		 const struct dirid *dir);
/** Which directory it writes to; all 0: none. */
/** The output's doorbell; borrowed, -1: it is not open. */
int run_doorbell(const struct run *run);
const struct dirid *run_dir(const struct run *run);
const struct clock_facts *run_clock(const struct run *run);
/** The most impatient channel's period, in us; 0: the default. */
uint32_t run_flush_us(const struct run *run);
bool run_output_open(const struct run *run);

/** The daemon ends: record no more, at once. */
void run_halt(struct run *run);
/** Writing works again, or fails: @text is empty or says why. */
void run_output_trouble(struct run *run, const char *text);

#endif
