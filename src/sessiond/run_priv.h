/* SPDX-License-Identifier: GPL-2.0-only */
/* run_priv.h - a session's run internals: run.c creates and frees it, run_ops.c has the
 * operations step by step, run_output.c its output at the consumer. */
#ifndef SESSIOND_RUN_PRIV_H
#define SESSIOND_RUN_PRIV_H

#include "run.h"

struct run {
	struct run_config config;
	struct sessions *sessions;
	struct session *session;
	int outdir, doorbell;
	struct dirid dir;
	bool output_open; /* at the consumer */
	bool clock_known;
	struct clock_facts clock;
	struct op *op;		/* the operation in progress */
	struct list_node asked; /* struct op: for figures, beside it */
	struct list_node idle; /* struct idler */
	struct loop_work wake;
};

/** One operation of several steps. */
struct op {
	struct list_node node; /* in the run's `asked`, or nowhere */
	struct run *run;
	run_done done;
	void *data;
	struct err err;
	uint32_t apps, late;
	struct stats stats;
	size_t stats_cap;
	void (*then)(struct op *op); /* after the figures are there */
	struct loop_timer timeout;   /* of a command that asks for figures alone */
};

/** The caller that requested figures does not receive them any more. The session may have been
 *  destroyed. */
void run_forget_requester(struct run *run);

/** Its state has changed: save it, and notify followers. */
void run_save(struct run *run);
void run_changed(const struct run *run);

/** Open the output at the consumer, or take it over. @later: the relay, if there is one, need
 *  not be reachable now. */
void run_open_output(struct run *run, bool later, con_done done, void *data);
/** The consumer has opened it. */
void run_output_is_open(struct run *run, const struct con_answer *answer);

#endif
