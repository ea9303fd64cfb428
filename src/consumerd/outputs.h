/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * outputs.h - the main thread's record of each output: its worker, the ids of
 * its traces and rings, and the rings' counters, which stay until the output
 * is closed. Owned by struct control.
 */
#ifndef CONSUMERD_OUTPUTS_H
#define CONSUMERD_OUTPUTS_H

#include "control.h"
#include "consumerd/worker/worker.h"

struct output {
	struct idmap_node node;
	struct list_node all_node;
	struct worker *worker;
	struct list_node traces;
	struct list_node rings;
	struct loop_fd notifier; /* polls for the worker, see worker/notifier.h */
	bool closing;		 /* JOB_END was queued */
	bool failing;		 /* its worker has reported that writing fails */
	bool hanging;		 /* it was reported that its worker hangs */
	uint32_t connection;	 /* number of the control connection that opened or adopted it */
	uint64_t clock_add;	 /* cycles that went back, as far as known here */
	uint64_t writer;	 /* distinguishes the consumers that write to one directory */
};

struct trace_ref {
	struct idmap_node node;
	struct list_node output_node;
	struct output *output;
	int metadata; /* a copy for the keeper, as in struct ring_ref; -1: it is in a file */
};

/** A ring set as the main thread knows it. @set: to switch recording and to read counters; NULL
 *  before the set is open, and once it is to be closed. */
struct ring_ref {
	struct idmap_node node;
	struct list_node output_node;
	struct output *output;
	struct ringset *set;
	int data, ctl_rw; /* copies for the keeper, and for a session daemon that was restarted */
	int module;	  /* the kernel module's channel, likewise; -1: none */
	bool closing;
	bool closed;	       /* its counters are final */
	uint32_t closing_life; /* number of the connection that requested the closing */
	bool adopting;	       /* being adopted: its counters are not read yet */
	bool repaired;	       /* its memory was lost: its counters are those of the files */
	bool switched, on;     /* a request switched recording to @on before the set was open */
	uint32_t connection;   /* as in struct output */
	uint32_t nr;
	struct stats_box boxes[]; /* nr */
};

/** The output owns @worker from now on. */
struct output *output_new(struct control *control, uint64_t id, struct worker *worker);
/** Join the worker's thread, which has ended, and free the output with its traces and rings. */
void output_free(struct output *output);
/** Stop using the output's ring sets, as the worker will free them. */
void output_begin_closing(struct output *output);
/** Request that the worker writes all data and ends; then the output is closed. */
void output_end(struct output *output);
/** The same, but the ring sets stay unchanged, for the next consumer. */
void output_begin_leaving(struct output *output);
/** Poll the kernel's rings for the worker, which sleeps on futex words. Return: 0 or negative
 *  errno. */
int output_watch_kernel(struct output *output, struct loop *loop) MUST_CHECK;
struct output *output_find(struct control *control, uint64_t id);

struct trace_ref *trace_ref_new(struct control *control, struct output *output, uint64_t id);
struct trace_ref *trace_ref_find(struct control *control, uint64_t id);
void trace_ref_free(struct trace_ref *trace);

struct ring_ref *ring_ref_new(struct control *control, struct output *output, uint64_t id,
			      uint32_t nr);
struct ring_ref *ring_ref_find(struct control *control, uint64_t id);
void ring_ref_begin_closing(struct ring_ref *ring);
/** Return: NULL. */
struct ring_ref *ring_ref_free(struct ring_ref *ring);

#endif
