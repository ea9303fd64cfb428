/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * run.h - operations of a session: start, stop, turn to the next chunk, destroy, and the query of
 * its counters. Each is a sequence of asynchronous steps; a step that fails undoes the preceding
 * ones. Owned by the daemon; runs on its loop.
 */
#ifndef SESSIOND_RUN_RUN_H
#define SESSIOND_RUN_RUN_H

#include "io/dirid.h"
#include "proto/consumer.h"
#include "sessiond/domain/domains.h"
#include "sessiond/peers/consumer.h"
#include "sessiond/peers/keeper.h"
#include "trace/clock_watch.h"

struct run;

/** Counters of a session's streams at one moment. */
struct stats {
	bool known; /* the consumer answered, in time */
	size_t nr;
	struct msg_con_stream *streams;
	uint64_t spooled;	 /* bytes in the spool */
	uint64_t undurable;	 /* the same until the relay's store has them */
	int64_t clock_offset_ns; /* the relay's clock minus this host's */
	uint64_t clock_error_ns; /* uncertainty of that; 0: the offset is unknown */
	char live_url[900];	 /* at which viewers see the session; "": not known */
	uint64_t unrecorded;	 /* programs of the session that recorded nothing */
};

/** A turn to the next chunk of the output. */
struct run_turned {
	char name[TURN_NAME_BYTES]; /* of the archive, relative to the output */
	uint32_t number;
	uint64_t bytes;	  /* of its files */
	uint64_t cleared; /* events that a clear removed */
	bool waits;	  /* for the relay */
};

struct run_result {
	/* Code 0: success. Stop and destroy never fail: their error is the reason why some data
	 * could not be written. */
	const struct err *err;
	uint32_t apps, late;
	const struct stats *stats;
	const struct run_turned *turned; /* of run_turn() */
};
typedef void (*run_done)(void *data, const struct run_result *result);

struct run_config {
	struct loop *loop;
	const struct domains *domains;
	struct trace_clock *clock;
	struct keeper *keeper; /* may be NULL, as the two that follow */
	/** Save the state of a session; remove that state. */
	void (*save)(struct session *session);
	void (*discard)(struct session *session);
	/** Called when its state or problem has changed; when it was destroyed. */
	void (*changed)(struct session *session);
	void (*destroyed)(struct session *session, const struct run_result *result);
	/** A rotation has begun, or ended. May be NULL. */
	void (*rotated)(struct session *session, bool begun);
	/** The kernel's consumer, which writes one session more. May be NULL, as the next one. */
	struct consumer *(*kernel_consumer)(struct session *session);
	/** The consumer writes one session less. */
	void (*released)(struct consumer *consumer);
};

/** Make the operations' part of a session. @consumer: writes it, and outlives it. @outdir: owned
 *  from now on; -1: no output. */
struct run *run_new(const struct run_config *config, struct consumer *consumer,
		    struct sessions *sessions, struct session *session, int outdir);
#define RUN_STAMP_BYTES 32
/** When a session was created, as its directory at a relay is called. */
void run_stamp(const struct session *session, char ret[RUN_STAMP_BYTES]);
/** @name of a session's directory at the relay @url, below the directory of this host. Return:
 *  allocated. */
char *run_place_at_relay(const struct session *session, const char *url, const char *name);
/** The consumer that writes a domain's events. */
struct consumer *run_consumer(const struct run *run, enum domain_id domain);
/** Whether the consumer writes the session, or a domain of it. */
bool run_uses(const struct run *run, const struct consumer *consumer);
/** Whether an operation is in progress for which others wait. */
bool run_is_busy(const struct run *run);
/** Whether an operation on the session waits for consumers or applications. */
bool run_waits(const struct run *run);
/** A domain is about to open its first trace: its consumer is started and opens the output, unless
 *  it has already. A failure is reported as a problem of the session. */
void run_prepare(struct run *run, enum domain_id domain);
/** Free the session completely: model, buffers, output. */
void run_free(struct run *run);
struct session *run_session(struct run *run);
/** The list that contains the session. */
struct sessions *run_sessions(struct run *run);

/**
 * run_start(), run_stop(), run_destroy() - @done is called once, later; after run_destroy() the
 * session and @run are freed by then.
 * Return: SESSION_DONE: the operation is in progress; else: nothing was done.
 */
enum session_outcome run_start(struct run *run, run_done done, void *data);
enum session_outcome run_stop(struct run *run, run_done done, void *data);
enum session_outcome run_destroy(struct run *run, run_done done, void *data);
/** Turn to the next chunk: an archive is made of the open one, or (@clear) it is removed. An
 *  unfinished turn of the other kind is finished before. @done, return: as above; the output is
 *  open. */
enum session_outcome run_turn(struct run *run, bool clear, run_done done, void *data);
/** Finish the turn that an earlier daemon or consumer has begun, if any. */
void run_finish_turn(struct run *run);
/** Request the session's counters: they are unknown if the consumer does not answer in time. */
void run_stats(struct run *run, run_done done, void *data);
/** Have the events written that are in the buffers now, then request the counters. */
void run_flush(struct run *run, run_done done, void *data);
/** Call @done once no operation is in progress (also because the session was destroyed). */
void run_when_idle(struct run *run, void (*done)(void *data), void *data);

/** Send the state of its part of the session to a new consumer, or one that outlived a daemon. */
void run_adopt(struct run *run, struct consumer *consumer);
/** Store the descriptors for a successor in a new keeper. */
void run_keep(struct run *run);
/** Restore the state of an earlier daemon. @clock: NULL: never started. @doorbell: owned from now
 *  on. @kernel_open: the kernel's consumer has the output open, too. @dir: identity of the output
 *  directory, in case its descriptor is lost. */
void run_restore(struct run *run, const struct clock_facts *clock, int doorbell, bool output_open,
		 bool kernel_open, const struct dirid *dir);
/** The output's doorbell; borrowed, -1: it is not open. */
int run_doorbell(const struct run *run);
/** The output directory; borrowed, -1: it is not known, or there is none. */
int run_outdir(const struct run *run);
/** Identity of the output directory; all 0: none. */
const struct dirid *run_dir(const struct run *run);
/** NULL: the session was never started. */
const struct clock_facts *run_clock(const struct run *run);
/** The counter that is its clock has changed: note it in the session's traces. Return: false: they
 *  have as many changes as are noted. */
bool run_clock_changed(struct run *run, const struct clock_change *change);
/** The time of day may have been set: if so, note it in the session's traces. Return: whether it
 *  was. */
bool run_clock_set(struct run *run);
/** Compare the clock with the counter and note it in the session's traces, if the clock is another:
 *  at a start and a stop. */
void run_clock_pair(struct run *run);
/** The same meanwhile, at times that become rarer, so that a trace of any length has few pairs.
 *  Return: ns until it is due. */
uint64_t run_clock_pair_if_due(struct run *run);
#define CLOCK_PAIR_LEAST_NS 100000000ull
#define CLOCK_PAIR_MOST_NS 60000000000ull
/** The shortest flush period of its channels, in us; 0: the default. */
uint32_t run_flush_us(const struct run *run);
bool run_output_open(const struct run *run);
bool run_kernel_open(const struct run *run);

/** Stop recording at once, as the daemon ends. */
void run_halt(struct run *run);
/** Set a problem that keeps data from the output. @text: the reason; empty: it is solved. */
void run_trouble(struct run *run, enum trouble trouble, const char *text);

#endif
