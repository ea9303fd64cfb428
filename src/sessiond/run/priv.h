/* SPDX-License-Identifier: GPL-2.0-only */
/* priv.h - private part of struct run, which executes a session's operations: run.c creates and
 * frees it, run/steps.c has the steps of operations, run_output.c the output at the consumer. */
#ifndef SESSIOND_RUN_PRIV_H
#define SESSIOND_RUN_PRIV_H

#include "run.h"

struct step;

/** A session's output at one consumer. Each domain is written by one of them: the kernel by the
 *  second one, if there is one; else all by the first one. */
struct run_part {
	struct run *run;
	struct consumer *consumer; /* NULL: there is no second one */
	bool open;		   /* its consumer was requested to open the output, or has */
};

enum run_part_id { RUN_FIRST, RUN_KERNEL, RUN_PARTS };

struct run {
	struct run_config config;
	struct run_part parts[RUN_PARTS]; /* by enum run_part_id */
	struct sessions *sessions;
	struct session *session;
	int outdir, doorbell;
	struct dirid dir;
	bool clock_known;
	struct clock_facts clock;
	uint64_t first_pair; /* its value, if clock.pair.width */
	struct op *op;		  /* the operation in progress */
	struct list_node queries; /* struct op: counters and flushes, at the same time as @op */
	struct loop_timer rotation;	 /* the next scheduled one, see rotation.h */
	struct list_node idle_callbacks; /* struct idle_callback: run_when_idle() */
	struct loop_work wake;		 /* calls idle_callbacks */
};

/** The part of an operation that a consumer executes, with the counters that it sends. */
struct op_part {
	struct op *op;
	size_t nr, cap;
	struct msg_con_stream *streams;
};

/** One operation of several steps. */
struct op {
	struct list_node node; /* in the run's `queries`, or in no list */
	struct run *run;
	run_done done;
	void *data;
	struct err err;
	uint32_t apps; /* applications concerned */
	uint32_t late; /* applications that have not answered yet */
	struct op_part parts[RUN_PARTS];
	unsigned int left; /* consumers that have not answered yet */
	struct stats stats;
	size_t stats_cap;
	struct run_turned turned; /* of a turn, */
	bool clear;		  /* and whether it is a clear */
	const struct step *steps, *step; /* all of them; the one in progress */
	struct loop_timer timeout;	 /* for run_stats() */
};

#define run_each_open(part, run)                                                 \
	for ((part) = (run)->parts; (part) < (run)->parts + RUN_PARTS; (part)++) \
		if ((part)->open)

/** Free an operation; answers to its requests are ignored. */
void op_free(struct op *op);
/** End all pending queries without counters: run_free() calls this, as the answers would come too
 *  late. */
void run_end_queries(struct run *run);

/** Save the session's state. */
void run_save(struct run *run);
/** Notify followers that the session's state has changed. */
void run_changed(const struct run *run);

/** Open the output at a consumer, or take it over. @later: the relay, if there is one, need not be
 *  reachable now. */
void run_open_output(struct run_part *part, bool later, con_done done, void *data);
/** Handle the consumer's answer to run_open_output(): it has succeeded. */
void run_on_output_opened(struct run_part *part, const struct con_answer *answer);

#endif
