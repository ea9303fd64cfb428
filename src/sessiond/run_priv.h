/* SPDX-License-Identifier: GPL-2.0-only */
/* run_priv.h - private part of struct run, which executes a session's operations: run.c creates and
 * frees it, run_ops.c has the steps of each operation, run_output.c the output at the consumer. */
#ifndef SESSIOND_RUN_PRIV_H
#define SESSIOND_RUN_PRIV_H

#include "run.h"

struct run {
	struct run_config config;
	struct consumer *consumer;
	struct sessions *sessions;
	struct session *session;
	int outdir, doorbell;
	struct dirid dir;
	bool output_open; /* at the consumer */
	bool clock_known;
	struct clock_facts clock;
	struct op *op;		    /* the operation in progress */
	struct list_node stats_ops; /* struct op: requests for counters, at the same time as @op */
	struct list_node idle_callbacks; /* struct idle_callback: run_when_idle() */
	struct loop_work wake;		 /* calls idle_callbacks */
};

/** One operation of several steps. */
struct op {
	struct list_node node; /* in the run's `stats_ops`, or in no list */
	struct run *run;
	run_done done;
	void *data;
	struct err err;
	uint32_t apps; /* applications concerned */
	uint32_t late; /* applications that have not answered yet */
	struct stats stats;
	size_t stats_cap;
	void (*then)(struct op *op);  /* when the counters have arrived */
	void (*after)(struct op *op); /* when everything is written */
	struct loop_timer timeout;    /* for run_stats() */
};

/** End all pending requests for counters without counters: run_free() calls this, as the answers
 *  would come too late. */
void run_end_stats(struct run *run);

/** Save the session's state. */
void run_save(struct run *run);
/** Notify followers that the session's state has changed. */
void run_changed(const struct run *run);

/** Open the output at the consumer, or take it over. @later: the relay, if there is one, need
 *  not be reachable now. */
void run_open_output(struct run *run, bool later, con_done done, void *data);
/** Handle the consumer's answer to run_open_output(). */
void run_on_output_opened(struct run *run, const struct con_answer *answer);

#endif
