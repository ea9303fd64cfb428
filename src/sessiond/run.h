/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run.h - operations of a session: start, stop, destroy, and its figures. Each is a chain of
 * asynchronous steps; a step that fails undoes those before. Owned by the daemon; runs on its loop.
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
	uint64_t spooled;	 /* bytes in the spool */
	int64_t clock_offset_ns; /* the relay's clock minus this host's, */
	uint64_t clock_error_ns; /* with this error; 0: unknown */
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
	/** Save the state of a session; remove that state. */
	void (*save)(struct session *session);
	void (*discard)(struct session *session);
	/** Its state, or its problem, has changed; it has been destroyed. */
	void (*changed)(struct session *session);
	void (*destroyed)(struct session *session, const struct run_result *result);
};

/** The wiring's part of a session. @outdir (taken over): -1: no output. */
struct run *run_new(const struct run_config *config, struct sessions *sessions,
		    struct session *session, int outdir);
/** Free the session completely: model, buffers, output. */
void run_free(struct run *run);
struct session *run_session(struct run *run);
/** The registry it is in. */
struct sessions *run_sessions(struct run *run);

/**
 * run_start(), run_stop(), run_destroy() - @done is called once, later; after run_destroy() the
 * session and @run are freed by then.
 * Return: SESSION_DONE: under way; the others: nothing was done.
 */
enum session_outcome run_start(struct run *run, run_done done, void *data);
enum session_outcome run_stop(struct run *run, run_done done, void *data);
enum session_outcome run_destroy(struct run *run, run_done done, void *data);
/** Ask for the session's figures: unknown if the consumer does not answer in time. */
void run_stats(struct run *run, run_done done, void *data);
/** Call @done once no operation is in progress (also because the session was destroyed). */
void run_when_idle(struct run *run, void (*done)(void *data), void *data);

/** Send the session's state to a new consumer, or to one that outlived a daemon. */
void run_adopt(struct run *run);
/** Store the descriptors for a successor in a new keeper. */
void run_keep(struct run *run);
/** As it was under an earlier daemon. @clock: NULL: never started. @doorbell: taken
 *  over. @dir: identity of the output directory, in case its descriptor is lost. */
void run_restore(struct run *run, const struct clock_facts *clock, int doorbell, bool output_open,
		 const struct dirid *dir);
/** Identity of its output directory; all 0: none. */
/** The output's doorbell; borrowed, -1: it is not open. */
int run_doorbell(const struct run *run);
const struct dirid *run_dir(const struct run *run);
const struct clock_facts *run_clock(const struct run *run);
/** The shortest flush period of its channels, in us; 0: the default. */
uint32_t run_flush_us(const struct run *run);
bool run_output_open(const struct run *run);

/** The daemon ends: stop recording at once. */
void run_halt(struct run *run);
/** Writing works again, or fails: @text is empty or the reason. */
void run_output_trouble(struct run *run, const char *text);

#endif
